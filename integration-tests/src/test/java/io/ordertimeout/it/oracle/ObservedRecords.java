package io.ordertimeout.it.oracle;

import static io.ordertimeout.it.oracle.DeadLetterJudge.GARBAGE_HEADER;
import static io.ordertimeout.it.oracle.DeadLetterJudge.header;

import io.ordertimeout.it.oracle.HistoryEvent.Attempt;
import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Change;
import io.ordertimeout.it.oracle.HistoryEvent.Closing;
import io.ordertimeout.it.oracle.HistoryEvent.Conflict;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.HistoryEvent.Doubt;
import io.ordertimeout.it.oracle.HistoryEvent.Payment;
import io.ordertimeout.it.oracle.HistoryEvent.Warning;
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
 * The committed records of all topics, grouped by order. A record in Kafka counts, even if its
 * producer never received the acknowledgement. Thread-safe.
 */
final class ObservedRecords {

  /** The records of one order. */
  private static final class OrderRecords {
    final List<Creation> creations = new ArrayList<>(1);
    final List<Payment> payments = new ArrayList<>(1);
    final List<Closing> closures = new ArrayList<>(1);
    final List<Doubt> doubts = new ArrayList<>(0);
    final List<Cancellation> cancellations = new ArrayList<>(1);
    final List<Conflict> conflicts = new ArrayList<>(1);
    final List<Attempt> attempts = new ArrayList<>(0);
    final List<Change> changes = new ArrayList<>(0);
    final List<Warning> warnings = new ArrayList<>(0);
  }

  private final TopicNames topics;
  private final Map<String, OrderRecords> orders = new HashMap<>();
  private final DeadLetterJudge deadLetters = new DeadLetterJudge();
  private final Set<RecordPosition> inputs = new HashSet<>();
  private long cancellations;

  ObservedRecords(TopicNames topics) {
    this.topics = topics;
  }

  synchronized void add(
      ConsumerRecord<byte @Nullable [], byte @Nullable []> record, Instant readAt) {
    String topic = record.topic();
    if (topics.inputs().contains(topic)) {
      inputs.add(RecordPosition.of(record));
    }
    if (topics.deadLetters().contains(topic)) {
      deadLetters.addDeadLetter(record);
    } else if (header(record, GARBAGE_HEADER) != null) {
      deadLetters.addGarbage(record);
      byte[] key = record.key();
      if (key != null && topic.equals(topics.attempts())) {
        // One that nobody can end.
        order(new String(key, StandardCharsets.UTF_8))
            .attempts
            .add(
                new Attempt(
                    RecordPosition.of(record),
                    appendedAt(record),
                    readAt,
                    RecordPosition.of(record).toString(),
                    appendedAt(record).plus(Oracle.HOLD)));
      } else if (key != null && !topic.equals(topics.created())) {
        order(new String(key, StandardCharsets.UTF_8))
            .doubts
            .add(new Doubt(RecordPosition.of(record), appendedAt(record), readAt));
      }
    } else {
      JsonNode body = JsonMapper.shared().readTree(Objects.requireNonNull(record.value()));
      OrderRecords order = order(body.path("orderId").asString());
      if (topics.inputs().contains(topic)) {
        deadLetters.addUsable(record);
      }
      if (topic.equals(topics.created())) {
        order.creations.add(creation(record, body));
      } else if (topic.equals(topics.paid())) {
        order.payments.add(payment(record, body, readAt));
      } else if (topic.equals(topics.closed())) {
        order.closures.add(new Closing(RecordPosition.of(record), appendedAt(record), readAt));
      } else if (topic.equals(topics.cancelled())) {
        order.cancellations.add(cancellation(record, body));
        cancellations++;
      } else if (topic.equals(topics.attempts())) {
        order.attempts.add(attempt(record, body, readAt));
      } else if (topic.equals(topics.changed())) {
        order.changes.add(
            new Change(
                RecordPosition.of(record),
                appendedAt(record),
                readAt,
                Objects.requireNonNull(instant(body, "payBy"), "the traffic states it")));
      } else if (topic.equals(topics.expiring())) {
        order.warnings.add(warning(record, body));
      } else {
        order.conflicts.add(conflict(record, body));
      }
    }
  }

  private OrderRecords order(String orderId) {
    return orders.computeIfAbsent(orderId, id -> new OrderRecords());
  }

  private static Creation creation(ConsumerRecord<?, ?> record, JsonNode body) {
    Instant createdAt = Objects.requireNonNullElse(instant(body, "createdAt"), appendedAt(record));
    Instant payBy = instant(body, "payBy");
    return new Creation(
        RecordPosition.of(record),
        appendedAt(record),
        createdAt,
        payBy == null ? createdAt.plus(Duration.parse(text(body, "timeout"))) : payBy);
  }

  private static Payment payment(ConsumerRecord<?, ?> record, JsonNode body, Instant readAt) {
    return new Payment(
        RecordPosition.of(record),
        appendedAt(record),
        readAt,
        text(body, "paymentId"),
        Objects.requireNonNullElse(instant(body, "paidAt"), appendedAt(record)));
  }

  private static Attempt attempt(ConsumerRecord<?, ?> record, JsonNode body, Instant readAt) {
    return new Attempt(
        RecordPosition.of(record),
        appendedAt(record),
        readAt,
        text(body, "attemptId"),
        text(body, "status").equals("ENDED")
            ? null
            : Objects.requireNonNull(instant(body, "until"), "the traffic states it"));
  }

  private static Warning warning(ConsumerRecord<byte @Nullable [], ?> record, JsonNode body) {
    return new Warning(
        RecordPosition.of(record),
        appendedAt(record),
        text(body, "eventId"),
        body.path("warning").asInt(0),
        Duration.parse(text(body, "leadTime")),
        Objects.requireNonNull(instant(body, "deadline")),
        Instant.parse(Objects.requireNonNull(header(record, "ce_time"))),
        fault(record, body, "io.ordertimeout.order-expiring"));
  }

  private static Cancellation cancellation(
      ConsumerRecord<byte @Nullable [], ?> record, JsonNode body) {
    return new Cancellation(
        RecordPosition.of(record),
        appendedAt(record),
        text(body, "eventId"),
        text(body, "reason"),
        instant(body, "createdAt"),
        instant(body, "deadline"),
        instant(body, "cancelledAt"),
        fault(record, body, "io.ordertimeout.order-cancelled"));
  }

  private static Conflict conflict(ConsumerRecord<byte @Nullable [], ?> record, JsonNode body) {
    return new Conflict(
        RecordPosition.of(record),
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
      ConsumerRecord<byte @Nullable [], ?> record, JsonNode body, String type) {
    byte[] key = record.key();
    if (key == null || !new String(key, StandardCharsets.UTF_8).equals(text(body, "orderId"))) {
      return "the record key differs from the order id";
    }
    if (text(body, "eventId").isEmpty() || !text(body, "eventId").equals(header(record, "ce_id"))) {
      return "ce_id differs from the event id: " + header(record, "ce_id");
    }
    return type.equals(header(record, "ce_type"))
        ? null
        : "wrong ce_type: " + header(record, "ce_type");
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

  /** Returns the number of published cancellations so far, including repetitions. */
  synchronized long cancellations() {
    return cancellations;
  }

  /** Returns the deadlines of all orders whose cancellation was published. */
  synchronized List<Instant> cancelledDeadlines() {
    return orders.values().stream()
        .flatMap(order -> order.cancellations.stream().limit(1))
        .map(Cancellation::deadline)
        .filter(Objects::nonNull)
        .toList();
  }

  /** Whether a cancellation of the order at that time was published. */
  synchronized boolean isPublished(String orderId, Instant cancelledAt) {
    return orders.containsKey(orderId)
        && order(orderId).cancellations.stream().anyMatch(c -> cancelledAt.equals(c.cancelledAt()));
  }

  /** Whether a conflict of a payment with the closed order was appended at that time. */
  synchronized boolean isPublishedAsClosed(String orderId, Instant appendedAt) {
    return orders.containsKey(orderId)
        && order(orderId).conflicts.stream()
            .anyMatch(c -> c.cancelledAt() == null && appendedAt.equals(c.appendedAt()));
  }

  synchronized DeadLetterJudge deadLetters() {
    return deadLetters;
  }

  synchronized boolean contains(RecordPosition position) {
    return inputs.contains(position);
  }

  /**
   * Returns the histories of all orders that occur in Kafka or in the tables.
   *
   * @param parked the ids of parked orders
   */
  synchronized List<OrderHistory> histories(
      Acknowledgements acknowledgements, Map<String, OrderRow> rows, Set<String> parked) {
    return Stream.of(orders.keySet(), rows.keySet(), parked)
        .flatMap(Set::stream)
        .distinct()
        .map(
            orderId -> {
              OrderRecords order = orders.getOrDefault(orderId, new OrderRecords());
              return new OrderHistory(
                  orderId,
                  List.copyOf(order.creations),
                  order.payments.stream()
                      .map(
                          p ->
                              new Payment(
                                  p.position(),
                                  p.appendedAt(),
                                  acknowledgements.visibleBy(p.position(), p.visibleBy()),
                                  p.paymentId(),
                                  p.paidAt()))
                      .toList(),
                  order.closures.stream()
                      .map(
                          c ->
                              new Closing(
                                  c.position(),
                                  c.appendedAt(),
                                  acknowledgements.visibleBy(c.position(), c.visibleBy())))
                      .toList(),
                  order.doubts.stream()
                      .map(
                          d ->
                              new Doubt(
                                  d.position(),
                                  d.appendedAt(),
                                  acknowledgements.visibleBy(d.position(), d.visibleBy())))
                      .toList(),
                  List.copyOf(order.cancellations),
                  List.copyOf(order.conflicts),
                  order.attempts.stream()
                      .map(
                          a ->
                              new Attempt(
                                  a.position(),
                                  a.appendedAt(),
                                  acknowledgements.visibleBy(a.position(), a.visibleBy()),
                                  a.attemptId(),
                                  a.until()))
                      .toList(),
                  order.changes.stream()
                      .map(
                          c ->
                              new Change(
                                  c.position(),
                                  c.appendedAt(),
                                  acknowledgements.visibleBy(c.position(), c.visibleBy()),
                                  c.deadline()))
                      .toList(),
                  List.copyOf(order.warnings),
                  rows.get(orderId),
                  parked.contains(orderId));
            })
        .toList();
  }
}
