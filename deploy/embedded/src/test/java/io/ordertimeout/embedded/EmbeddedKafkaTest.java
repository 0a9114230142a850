package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedKafkaTest {
  @TempDir private static Path directory;

  private static EmbeddedKafka kafka;

  @BeforeAll
  static void start() throws IOException {
    kafka = new EmbeddedKafka(directory, 0);
    kafka.start();
  }

  @AfterAll
  static void stop() {
    kafka.close();
  }

  @Test
  void keepsClusterIdTopicRecordsAndOffsetsAcrossARestart() throws Exception {
    create("kept");
    send("kept", "1");
    send("kept", "2");
    assertThat(readAndCommit("kept", 2)).containsExactly("1", "2");
    String cluster = clusterId();

    kafka.stop();
    kafka.start();

    assertThat(clusterId()).isEqualTo(cluster);
    send("kept", "3");
    assertThat(readAndCommit("kept", 1)).containsExactly("3");
  }

  @Test
  void timestampsAreAppendTimes() throws Exception {
    create("stamped");
    Instant before = Instant.now();
    try (KafkaProducer<String, String> producer = producer()) {
      producer.send(new ProducerRecord<>("stamped", null, 1L, "key", "old")).get();
    }
    try (KafkaConsumer<String, String> consumer = consumer("stamped-group")) {
      consumer.subscribe(List.of("stamped"));
      ConsumerRecord<String, String> record = poll(consumer, 1).get(0);
      assertThat(Instant.ofEpochMilli(record.timestamp()))
          .isBetween(before.minusMillis(1), Instant.now());
    }
  }

  @Test
  void doesNotCreateUnknownTopics() {
    try (KafkaProducer<String, String> producer = producer()) {
      assertThatThrownBy(() -> producer.send(new ProducerRecord<>("unheard-of", "x")).get())
          .isInstanceOf(ExecutionException.class);
    }
  }

  private static void create(String topic) throws Exception {
    try (Admin admin = admin()) {
      admin
          .createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())))
          .all()
          .get();
    }
  }

  private static String clusterId() throws Exception {
    try (Admin admin = admin()) {
      return admin.describeCluster().clusterId().get();
    }
  }

  private static void send(String topic, String value) throws Exception {
    try (KafkaProducer<String, String> producer = producer()) {
      producer.send(new ProducerRecord<>(topic, "key", value)).get();
    }
  }

  private static List<String> readAndCommit(String topic, int count) {
    try (KafkaConsumer<String, String> consumer = consumer(topic + "-group")) {
      consumer.subscribe(List.of(topic));
      List<String> values = poll(consumer, count).stream().map(ConsumerRecord::value).toList();
      consumer.commitSync();
      return values;
    }
  }

  private static List<ConsumerRecord<String, String>> poll(
      KafkaConsumer<String, String> consumer, int count) {
    List<ConsumerRecord<String, String>> records = new ArrayList<>();
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (records.size() < count && System.nanoTime() < end) {
      consumer.poll(Duration.ofMillis(200)).forEach(records::add);
    }
    assertThat(records).hasSize(count);
    return records;
  }

  private static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
  }

  private static KafkaProducer<String, String> producer() {
    return new KafkaProducer<>(
        Map.of("bootstrap.servers", kafka.bootstrapServers(), "max.block.ms", 5_000),
        new StringSerializer(),
        new StringSerializer());
  }

  private static KafkaConsumer<String, String> consumer(String group) {
    return new KafkaConsumer<>(
        Map.of(
            "bootstrap.servers",
            kafka.bootstrapServers(),
            "group.id",
            group,
            "group.protocol",
            "consumer",
            "auto.offset.reset",
            "earliest",
            "enable.auto.commit",
            false),
        new StringDeserializer(),
        new StringDeserializer());
  }
}
