package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.TopicConfig;

/**
 * What is in the topics before the service starts for the first time: orders whose deadlines are
 * long past, just past or near, some of them paid or closed. The records carry the time of their
 * producers, and some of these producers are wrong about it.
 */
public final class OldTraffic {

  /** So many of each fate. */
  private static final int ORDERS = 60;

  /** By how much deadlines may be past for the order to be cancelled rather than stale. */
  public static final Duration STALE_AFTER = Duration.ofHours(24);

  private static final Duration PAYMENT_TIME = Duration.ofMinutes(15);

  /** From the sending of the first event; long enough for all of them to be sent in time. */
  private static final Duration FIRST_DEADLINE = Duration.ofSeconds(15);

  private static final Duration LAST_DEADLINE = Duration.ofSeconds(75);

  /** The times that the records of a topic carry. */
  private enum Timestamps {
    RIGHT,
    /** As after a copy of the topic, or of a table. */
    HOURS_OLD,
    /** Of January 1970. */
    SECONDS_AS_MILLISECONDS
  }

  private enum Fate {
    STALE(false, false, false),
    STALE_PAID(true, false, false),
    STALE_CLOSED(false, true, false),
    OVERDUE(false, false, false),
    OVERDUE_PAID(true, false, false),
    DUE(false, false, false),
    DUE_PAID(true, false, false),
    DUE_CLOSED(false, true, false),
    /** Created again after its payment, at a right time, as by a snapshot of a table. */
    DUE_PAID_CREATED_AGAIN(true, false, true),
    PAID_ONLY(true, false, false);

    private final boolean paid;
    private final boolean closed;
    private final boolean createdAgain;

    Fate(boolean paid, boolean closed, boolean createdAgain) {
      this.paid = paid;
      this.closed = closed;
      this.createdAgain = createdAgain;
    }
  }

  private record Sent(
      ProducerRecord<byte[], byte[]> record, CompletableFuture<RecordMetadata> result) {}

  private final Scenario scenario;
  private final Acknowledgements acknowledgements;
  private final SplittableRandom random;
  private final Map<String, Timestamps> timestamps = new LinkedHashMap<>();
  private final List<Sent> unacknowledged = new ArrayList<>();
  private final Instant start = Instant.now().truncatedTo(ChronoUnit.MILLIS);

  private OldTraffic(Scenario scenario, Acknowledgements acknowledgements, long seed) {
    this.scenario = scenario;
    this.acknowledgements = acknowledgements;
    this.random = new SplittableRandom(seed);
    boolean which = random.nextBoolean();
    timestamps.put(
        scenario.topics().created(),
        random.nextBoolean() ? Timestamps.RIGHT : Timestamps.HOURS_OLD);
    timestamps.put(
        scenario.topics().paid(),
        which ? Timestamps.SECONDS_AS_MILLISECONDS : Timestamps.HOURS_OLD);
    timestamps.put(
        scenario.topics().closed(),
        which ? Timestamps.HOURS_OLD : Timestamps.SECONDS_AS_MILLISECONDS);
  }

  /**
   * Sends all events to topics that nobody has used. Afterwards, the brokers determine the times of
   * records again.
   *
   * @return a description
   */
  public static String send(Scenario scenario, Acknowledgements acknowledgements, long seed) {
    OldTraffic traffic = new OldTraffic(scenario, acknowledgements, seed);
    List<String> topics = scenario.topics().inputs();
    scenario.kafka().configure(topics, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime");
    // Kafka would delete records that look so old.
    scenario.kafka().configure(topics, TopicConfig.RETENTION_MS_CONFIG, "-1");
    try (Shop shop = scenario.patientShop()) {
      traffic.send(shop);
    }
    scenario.kafka().configure(topics, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
    return "%d old orders with times of records %s"
        .formatted(ORDERS * Fate.values().length, traffic.timestamps);
  }

  private void send(Shop shop) {
    for (int i = 0; i < ORDERS; i++) {
      for (Fate fate : Fate.values()) {
        send(shop, "old-" + fate + "-" + i, fate);
      }
    }
    for (Sent sent : unacknowledged) {
      RecordMetadata metadata = acknowledge(sent.result);
      // A broker that does not know the topic's setting yet has replaced the time.
      while (metadata.timestamp() != sent.record.timestamp()) {
        metadata = acknowledge(shop.send(sent.record));
      }
    }
  }

  private RecordMetadata acknowledge(CompletableFuture<RecordMetadata> result) {
    RecordMetadata metadata = Shop.await(result);
    acknowledgements.add(metadata);
    acknowledgements.commit(metadata);
    return metadata;
  }

  private void send(Shop shop, String orderId, Fate fate) {
    Instant deadline =
        switch (fate) {
          case STALE, STALE_PAID, STALE_CLOSED ->
              start.minus(between(STALE_AFTER.plusHours(1), Duration.ofDays(30)));
          case OVERDUE, OVERDUE_PAID ->
              start.minus(between(Duration.ofSeconds(1), STALE_AFTER.minusHours(1)));
          default -> start.plus(between(FIRST_DEADLINE, LAST_DEADLINE));
        };
    Map<String, String> created =
        Map.of("createdAt", deadline.minus(PAYMENT_TIME).toString(), "payBy", deadline.toString());
    if (fate != Fate.PAID_ONLY) {
      send(shop, scenario.topics().created(), orderId, created);
    }
    if (fate.paid) {
      Instant paidAt = deadline.minus(PAYMENT_TIME.dividedBy(2));
      send(
          shop,
          scenario.topics().paid(),
          orderId,
          Map.of("paymentId", "p1", "paidAt", paidAt.toString()));
    }
    if (fate.closed) {
      send(shop, scenario.topics().closed(), orderId, Map.of("reason", "CUSTOMER"));
    }
    if (fate.createdAgain) {
      send(shop, scenario.topics().created(), orderId, created, Timestamps.RIGHT);
    }
  }

  private void send(Shop shop, String topic, String orderId, Map<String, String> fields) {
    send(shop, topic, orderId, fields, timestamps.getOrDefault(topic, Timestamps.RIGHT));
  }

  private void send(
      Shop shop, String topic, String orderId, Map<String, String> fields, Timestamps timestamp) {
    Map<String, String> event = new LinkedHashMap<>(fields);
    event.put("orderId", orderId);
    Instant now = Instant.now();
    long time =
        switch (timestamp) {
          case RIGHT -> now.toEpochMilli();
          case HOURS_OLD ->
              now.minus(between(Duration.ofHours(2), Duration.ofHours(30))).toEpochMilli();
          case SECONDS_AS_MILLISECONDS -> now.getEpochSecond();
        };
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, null, time, Shop.utf8(orderId), Shop.json(event));
    unacknowledged.add(new Sent(record, shop.send(record)));
  }

  private Duration between(Duration from, Duration to) {
    return Duration.ofMillis(random.nextLong(from.toMillis(), to.toMillis()));
  }
}
