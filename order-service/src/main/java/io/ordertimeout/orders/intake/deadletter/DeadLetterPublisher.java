package io.ordertimeout.orders.intake.deadletter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.RecoveringProducer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Publishes unusable records unchanged to the dead-letter topic of their topic, with the error in
 * the headers. Thread-safe.
 */
@Component
public class DeadLetterPublisher {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterPublisher.class);

  /** A dead letter that was sent but may not be acknowledged yet. */
  public record Sent(
      ConsumerRecord<byte[], byte[]> record, String fault, Future<RecordMetadata> future) {}

  private final RecoveringProducer producer;
  private final OrderTimeoutProperties.Topics topics;

  DeadLetterPublisher(RecoveringProducer producer, OrderTimeoutProperties properties) {
    this.producer = producer;
    this.topics = properties.topics();
  }

  /** Sends the record; {@link #await} waits for the acknowledgement. */
  public Sent send(ConsumerRecord<byte[], byte[]> record, String fault) {
    return new Sent(record, fault, producer.send(letter(record, fault, record.value())));
  }

  /**
   * Waits until Kafka has acknowledged the dead letter. If its topic rejects it as too large, sends
   * it again without its value.
   *
   * @throws KafkaException if Kafka did not acknowledge it
   */
  public void await(Sent sent) throws InterruptedException {
    try {
      sent.future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RecordTooLargeException) {
        sendWithoutValue(sent);
        return;
      }
      throw new KafkaException(
          "the dead letter was not acknowledged: " + position(sent.record), e.getCause());
    }
  }

  // The dead-letter topic's size limit is below that of the input topic. The headers still refer to
  // the original record, and the partition is not blocked.
  private void sendWithoutValue(Sent sent) throws InterruptedException {
    byte[] value = sent.record.value();
    log.warn(
        "The dead letter of {} is too large for its topic ({} bytes); sending it without its value",
        position(sent.record),
        value == null ? 0 : value.length);
    try {
      producer.send(letter(sent.record, sent.fault + "; value omitted, too large", null)).get();
    } catch (ExecutionException e) {
      throw new KafkaException(
          "the dead letter was not acknowledged: " + position(sent.record), e.getCause());
    }
  }

  private ProducerRecord<byte[], byte[]> letter(
      ConsumerRecord<byte[], byte[]> record, String fault, byte @Nullable [] value) {
    ProducerRecord<byte[], byte[]> letter =
        new ProducerRecord<>(topics.deadLetters(record.topic()), record.key(), value);
    Headers headers = letter.headers();
    record.headers().forEach(headers::add);
    headers
        .add("x-error", utf8(fault))
        .add("x-topic", utf8(record.topic()))
        .add("x-partition", utf8(Integer.toString(record.partition())))
        .add("x-offset", utf8(Long.toString(record.offset())));
    return letter;
  }

  private static String position(ConsumerRecord<?, ?> record) {
    return record.topic() + "-" + record.partition() + "@" + record.offset();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
