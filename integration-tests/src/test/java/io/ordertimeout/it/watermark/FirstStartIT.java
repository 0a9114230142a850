package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A service that starts for the first time has read nothing, whatever the times of the records. */
class FirstStartIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  void aPaymentCountsWhoseProducerStatesItsTimeInAnotherUnit() {
    useProducersTime(scenario.topics().paid());
    Instant deadline = Scenario.in(Duration.ofSeconds(5));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);
    payAt("paid", Instant.ofEpochMilli(Instant.now().getEpochSecond()));

    assertOnlyUnpaidIsCancelled();
  }

  @Test
  void aPaymentCountsThatIsOlderThanThePublicationOfItsOrder() {
    useProducersTime(scenario.topics().paid());
    payAt("paid", Instant.now().minus(Duration.ofHours(2)));
    Instant deadline = Scenario.in(Duration.ofSeconds(5));
    scenario.create("paid", 0, deadline);
    scenario.create("unpaid", 0, deadline);

    assertOnlyUnpaidIsCancelled();
  }

  /** As after the loss of the whole database, without a backup. */
  @Test
  @Tag("faults")
  void aCancellationStaysAsItWasPublishedForADatabaseThatIsNew() {
    useProducersTime(scenario.topics().cancelled());
    PublishedEvent published;
    try (Service service = scenario.startService()) {
      scenario.passDeadline("order", 0);
      published = scenario.outcomes().awaitCancelled("order");
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
    database.execute("drop schema public cascade; create schema public");

    try (Service service = scenario.startService()) {
      scenario.awaitState("order", "CANCELLED");
      scenario.passDeadline("another", 0);
      scenario.awaitQuiet();
      service.awaitReady(true);
    }
    assertThat(scenario.outcomes().cancelled("order"))
        .allSatisfy(
            event ->
                assertThat(event.text("cancelledAt")).isEqualTo(published.text("cancelledAt")));
  }

  private void assertOnlyUnpaidIsCancelled() {
    try (Service service = scenario.startService()) {
      scenario.outcomes().awaitCancelled("unpaid");
      scenario.awaitAllDecided();
      assertThat(database.state("paid")).isEqualTo("PAID");
      assertThat(service.counter("order.timeout.cancelled")).isEqualTo(1);
    }
    assertThat(scenario.outcomes().cancelled("paid")).isEmpty();
    assertThat(scenario.outcomes().conflicts()).isEmpty();
  }

  private void payAt(String orderId, Instant time) {
    assertThat(timeOf(scenario.payment(orderId, 0), time)).isEqualTo(time.toEpochMilli());
  }

  /** Sends a record with its producer's time; returns the time that it has in the log. */
  private long timeOf(ProducerRecord<byte[], byte[]> record, Instant time) {
    return Shop.await(
            scenario
                .shop()
                .send(
                    new ProducerRecord<>(
                        record.topic(), 0, time.toEpochMilli(), record.key(), record.value())))
        .timestamp();
  }

  /** A record of an order that nobody asks about. */
  private ProducerRecord<byte[], byte[]> anyRecord(String topic) {
    ProducerRecord<byte[], byte[]> payment = scenario.payment("another-shop", 0);
    return new ProducerRecord<>(topic, payment.key(), payment.value());
  }

  private void useProducersTime(String topic) {
    KafkaAdmin.get(
        scenario
            .kafka()
            .client()
            .incrementalAlterConfigs(
                Map.of(
                    new ConfigResource(ConfigResource.Type.TOPIC, topic),
                    List.of(
                        new AlterConfigOp(
                            new ConfigEntry(
                                TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime"),
                            AlterConfigOp.OpType.SET))))
            .all());
    Instant past = Scenario.in(Duration.ofMinutes(-1));
    await("the topic's kind of timestamps")
        .until(() -> timeOf(anyRecord(topic), past) == past.toEpochMilli());
    // A start at the first record of the last hour would find these, and so the payment.
    scenario.kafka().deleteRecords(List.of(new TopicPartition(topic, 0)));
  }
}
