package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.OrderChange;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.suspension.PaymentAttempt;
import java.time.Instant;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Shows how records would be decoded with the current configuration. Thread-safe. */
@Component
public class EventCheck {

  /** What a record becomes. */
  public enum Result {
    /** A created order. */
    CREATED,
    /** A payment. */
    PAID,
    /** A closure. */
    CLOSED,
    /** An event of a payment attempt. */
    ATTEMPT,
    /** A change of an order. */
    CHANGED,
    /** Nothing, because it does not matter. */
    IGNORED,
    /** A dead letter. */
    DEAD_LETTER
  }

  /**
   * What becomes of a record.
   *
   * @param result what it becomes
   * @param orderId the order, as far as it is known
   * @param deadline the payment deadline of a created or changed order; null if a policy exempts
   *     it, and if it is not changed
   * @param policy what set the deadline, or exempts the order
   * @param paymentId the id of a payment
   * @param at when the order was created, changed, paid or closed
   * @param replacedFields number of unusable fields that are replaced or left out
   * @param fault why it is, or is also, a dead letter
   */
  public record Outcome(
      Result result,
      @Nullable String orderId,
      @Nullable Instant deadline,
      @Nullable String policy,
      @Nullable String paymentId,
      @Nullable Instant at,
      int replacedFields,
      @Nullable String fault) {}

  /**
   * What becomes of one of many records.
   *
   * @param line its line, from 1
   * @param outcome what becomes of it
   */
  public record CheckedRecord(int line, Outcome outcome) {}

  private final EventDecoder decoder;
  private final OrderTimeoutProperties.Topics topics;

  EventCheck(EventDecoder decoder, OrderTimeoutProperties properties) {
    this.decoder = decoder;
    this.topics = properties.topics();
  }

  /**
   * Decodes records, one in each line, as {@code kcat -J} prints them; skips empty lines. Lazy.
   *
   * @param now the time of their intake
   * @throws IllegalArgumentException if a line has no record, or its topic is not an input topic
   * @throws org.apache.kafka.common.errors.RetriableException if the schema registry, or what a
   *     Deserializer needs, does not answer
   */
  public Stream<CheckedRecord> check(Stream<String> lines, Instant now) {
    AtomicInteger number = new AtomicInteger();
    return lines.flatMap(
        line -> {
          int current = number.incrementAndGet();
          return line.isBlank() ? Stream.empty() : Stream.of(check(current, line, now));
        });
  }

  private CheckedRecord check(int number, String line, Instant now) {
    try {
      return new CheckedRecord(number, check(SampleLine.parse(line, now), now));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
    }
  }

  /**
   * Decodes a record.
   *
   * @param now the time of its intake
   * @throws IllegalArgumentException if its topic is not an input topic
   */
  Outcome check(ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Instant now) {
    if (!topics.inputs().contains(record.topic())) {
      throw new IllegalArgumentException(
          "'%s' is not an input topic; the input topics are %s"
              .formatted(record.topic(), new TreeSet<>(topics.inputs())));
    }
    DecodedRecord decoded = decoder.decodePatiently(record, now);
    if (decoded instanceof DecodedRecord.Created created) {
      OrderCreated order = created.order();
      return new Outcome(
          Result.CREATED,
          order.orderId(),
          order.terms().deadline(),
          order.terms().policy(),
          null,
          order.createdAt(),
          created.replacedFields().size(),
          null);
    }
    if (decoded instanceof DecodedRecord.Settled settled) {
      return settled(settled);
    }
    if (decoded instanceof DecodedRecord.Attempted attempted) {
      return attempted(attempted);
    }
    if (decoded instanceof DecodedRecord.Changed changed) {
      OrderChange change = changed.change();
      return new Outcome(
          Result.CHANGED,
          change.orderId(),
          change.deadline(),
          change.setBy(),
          null,
          change.changedAt(),
          changed.replacedFields().size(),
          changed.fault());
    }
    if (decoded instanceof DecodedRecord.Undecodable undecodable) {
      return new Outcome(
          Result.DEAD_LETTER,
          undecodable.ordersInDoubt().stream().findFirst().orElse(null),
          null,
          null,
          null,
          null,
          0,
          undecodable.fault());
    }
    return new Outcome(Result.IGNORED, null, null, null, null, null, 0, null);
  }

  private static Outcome attempted(DecodedRecord.Attempted attempted) {
    PaymentAttempt event = attempted.event();
    return new Outcome(
        Result.ATTEMPT,
        event.orderId(),
        null,
        null,
        null,
        event.recordedAt(),
        0,
        attempted.fault());
  }

  private static Outcome settled(DecodedRecord.Settled settled) {
    OrderSettled event = settled.event();
    Result result = Result.CLOSED;
    String paymentId = null;
    Instant at = event.recordedAt();
    if (event instanceof OrderSettled.Paid paid) {
      result = Result.PAID;
      paymentId = paid.paymentId();
      at = paid.paidAt();
    } else if (event instanceof OrderSettled.Closed closed) {
      at = closed.closedAt();
    }
    return new Outcome(
        result,
        event.orderId(),
        null,
        null,
        paymentId,
        at,
        settled.replacedFields().size(),
        settled.fault());
  }
}
