package io.ordertimeout.it.oracle;

import static io.ordertimeout.it.oracle.DeadLetters.GARBAGE;
import static io.ordertimeout.it.oracle.DeadLetters.header;

import io.ordertimeout.it.oracle.Entry.Cancellation;
import io.ordertimeout.it.oracle.Entry.Closing;
import io.ordertimeout.it.oracle.Entry.Conflict;
import io.ordertimeout.it.oracle.Entry.Creation;
import io.ordertimeout.it.oracle.Entry.Payment;
import io.ordertimeout.it.support.TopicNames;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The committed records of all topics, sorted by order. What is in the log of Kafka was said,
 * whatever its producer knows of it. Thread-safe.
 */
final class Books {

  /** What is known of one order, in the making. */
  private static final class Page {
    final List<Creation> creations = new ArrayList<>(1);
    final List<Payment> payments = new ArrayList<>(1);
    final List<Closing> closings = new ArrayList<>(1);
    final List<Cancellation> cancellations = new ArrayList<>(1);
    final List<Conflict> conflicts = new ArrayList<>(1);
  }

  private final TopicNames topics;
  private final Map<String, Page> pages = new HashMap<>();
  private final DeadLetters deadLetters = new DeadLetters();
  private final Set<Place> inputs = new HashSet<>();
  private long cancellations;

  Books(TopicNames topics) {
    this.topics = topics;
  }

  synchronized void add(ConsumerRecord<byte[], byte @Nullable []> record) {
    String topic = record.topic();
    if (topics.inputs().contains(topic)) {
      inputs.add(Place.of(record));
    }
    if (topics.deadLetters().contains(topic)) {
      deadLetters.addLetter(record);
    } else if (header(record, GARBAGE) != null) {
      deadLetters.addGarbage(record);
    } else {
      JsonNode body = JsonMapper.shared().readTree(Objects.requireNonNull(record.value()));
      Page page = pages.computeIfAbsent(body.path("orderId").asString(), id -> new Page());
      if (topic.equals(topics.created())) {
        page.creations.add(creation(record, body));
      } else if (topic.equals(topics.paid())) {
        page.payments.add(payment(record, body));
      } else if (topic.equals(topics.closed())) {
        page.closings.add(new Closing(Place.of(record), appendedAt(record), null));
      } else if (topic.equals(topics.cancelled())) {
        page.cancellations.add(cancellation(record, body));
        cancellations++;
      } else {
        page.conflicts.add(conflict(record, body));
      }
    }
  }

  private static Creation creation(ConsumerRecord<?, ?> record, JsonNode body) {
    Instant createdAt = Objects.requireNonNullElse(instant(body, "createdAt"), appendedAt(record));
    Instant payBy = instant(body, "payBy");
    return new Creation(
        Place.of(record),
        appendedAt(record),
        createdAt,
        payBy == null ? createdAt.plus(Duration.parse(text(body, "timeout"))) : payBy);
  }

  private static Payment payment(ConsumerRecord<?, ?> record, JsonNode body) {
    return new Payment(
        Place.of(record),
        appendedAt(record),
        null,
        text(body, "paymentId"),
        Objects.requireNonNullElse(instant(body, "paidAt"), appendedAt(record)));
  }

  private static Cancellation cancellation(ConsumerRecord<byte[], ?> record, JsonNode body) {
    return new Cancellation(
        Place.of(record),
        appendedAt(record),
        text(body, "eventId"),
        text(body, "reason"),
        instant(body, "createdAt"),
        instant(body, "deadline"),
        instant(body, "cancelledAt"),
        fault(record, body, "io.ordertimeout.order-cancelled"));
  }

  private static Conflict conflict(ConsumerRecord<byte[], ?> record, JsonNode body) {
    return new Conflict(
        Place.of(record),
        appendedAt(record),
        text(body, "eventId"),
        text(body, "paymentId"),
        text(body, "kind"),
        instant(body, "paidAt"),
        instant(body, "deadline"),
        instant(body, "cancelledAt"),
        fault(record, body, "io.ordertimeout.order-payment-conflict"));
  }

  private static @Nullable String fault(
      ConsumerRecord<byte[], ?> record, JsonNode body, String type) {
    if (!new String(record.key(), StandardCharsets.UTF_8).equals(text(body, "orderId"))) {
      return "the key is not the order id";
    }
    if (text(body, "eventId").isEmpty() || !text(body, "eventId").equals(header(record, "ce_id"))) {
      return "ce_id is not the event id: " + header(record, "ce_id");
    }
    return type.equals(header(record, "ce_type")) ? null : "ce_type: " + header(record, "ce_type");
  }

  private static Instant appendedAt(ConsumerRecord<?, ?> record) {
    return Instant.ofEpochMilli(record.timestamp());
  }

  private static String text(JsonNode body, String field) {
    return body.path(field).asString("");
  }

  private static @Nullable Instant instant(JsonNode body, String field) {
    return body.has(field) ? Instant.parse(body.path(field).asString()) : null;
  }

  /** Publications of cancellations so far, repetitions too. */
  synchronized long cancellations() {
    return cancellations;
  }

  synchronized DeadLetters deadLetters() {
    return deadLetters;
  }

  synchronized boolean contains(Place place) {
    return inputs.contains(place);
  }

  /** Everything known of every order that Kafka or the table knows. */
  synchronized List<OrderHistory> histories(
      Acknowledgements acknowledgements, Map<String, TableRow> rows) {
    return Stream.concat(pages.keySet().stream(), rows.keySet().stream())
        .distinct()
        .map(
            orderId -> {
              Page page = pages.getOrDefault(orderId, new Page());
              return new OrderHistory(
                  orderId,
                  List.copyOf(page.creations),
                  page.payments.stream()
                      .map(
                          p ->
                              new Payment(
                                  p.place(),
                                  p.appendedAt(),
                                  acknowledgements.at(p.place()),
                                  p.paymentId(),
                                  p.paidAt()))
                      .toList(),
                  page.closings.stream()
                      .map(
                          c ->
                              new Closing(
                                  c.place(), c.appendedAt(), acknowledgements.at(c.place())))
                      .toList(),
                  List.copyOf(page.cancellations),
                  List.copyOf(page.conflicts),
                  rows.get(orderId));
            })
        .toList();
  }
}
