package io.ordertimeout.orders.intake.deadletter;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders;
import io.ordertimeout.orders.platform.kafka.PartitionLeaders.TopicLeaders;
import io.ordertimeout.orders.platform.kafka.TopicSenders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
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

  /** How long a batch waits for its dead letters: far less than {@code max.poll.interval.ms}. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** The same for a topic that is known not to accept dead letters at the moment. */
  private static final Duration SHORT_PATIENCE = Duration.ofMillis(500);

  private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

  /** An unusable record, and why it cannot be used. */
  public record Letter(ConsumerRecord<byte[], byte[]> record, String fault) {}

  /** A dead letter that was sent; its acknowledgement may fail. */
  public record Sent(Letter letter, CompletableFuture<?> acknowledgement) {

    /** Whether Kafka has acknowledged it by now. */
    public boolean isAcknowledged() {
      return acknowledgement.isDone() && !acknowledgement.isCompletedExceptionally();
    }
  }

  private final TopicSenders senders;
  private final PartitionLeaders leaders;
  private final OrderTimeoutProperties.Topics topics;

  /** The number of dead letters that are being retried, by dead-letter topic. */
  private final Map<String, Integer> retried = new ConcurrentHashMap<>();

  DeadLetterPublisher(
      TopicSenders senders, PartitionLeaders leaders, OrderTimeoutProperties properties) {
    this.senders = senders;
    this.leaders = leaders;
    this.topics = properties.topics();
  }

  /**
   * Sends all dead letters at once, and waits up to 5 s for all of them together.
   *
   * @return the letters, each of which may be acknowledged or not
   * @throws InterruptException if the thread is interrupted
   */
  public List<Sent> publish(List<Letter> letters) {
    boolean known = letters.stream().allMatch(letter -> retried.containsKey(topic(letter)));
    Duration patience = known ? SHORT_PATIENCE : PATIENCE;
    List<Sent> sent = letters.stream().map(letter -> new Sent(letter, send(letter))).toList();
    try {
      CompletableFuture.allOf(
              sent.stream().map(Sent::acknowledgement).toArray(CompletableFuture[]::new))
          .get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Kafka has not acknowledged all of {} dead letters", sent.size(), e);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
    return sent;
  }

  /**
   * Continues to publish a dead letter that is not acknowledged, in the background.
   *
   * @return completes once it is acknowledged; its cancellation ends the attempts
   */
  public CompletableFuture<Void> publishEventually(Sent sent) {
    String topic = topic(sent.letter);
    CompletableFuture<Void> published = new CompletableFuture<>();
    retried.merge(topic, 1, Integer::sum);
    CompletableFuture<?> unused =
        published.whenComplete(
            (done, cancelled) ->
                retried.computeIfPresent(topic, (t, count) -> count == 1 ? null : count - 1));
    follow(sent.acknowledgement, sent.letter, published);
    return published;
  }

  private void follow(
      CompletableFuture<?> attempt, Letter letter, CompletableFuture<Void> published) {
    CompletableFuture<?> unused =
        attempt.whenComplete(
            (done, failure) -> {
              if (failure == null) {
                published.complete(null);
              } else if (!published.isDone()) {
                CompletableFuture.delayedExecutor(
                        RETRY_DELAY.toMillis(), TimeUnit.MILLISECONDS, Runnable::run)
                    .execute(() -> follow(attempt(letter), letter, published));
              }
            });
  }

  private CompletableFuture<?> attempt(Letter letter) {
    try {
      return leaders
          .of(topic(letter))
          .thenCompose(
              topic ->
                  isWritable(topic, letter)
                      ? send(letter)
                      : CompletableFuture.failedFuture(new KafkaException("there is no leader")));
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static boolean isWritable(TopicLeaders topic, Letter letter) {
    byte[] key = letter.record.key();
    return topic.exists()
        && (key == null
            ? !topic.withLeader().isEmpty()
            : topic.withLeader().contains(topic.partition(key)));
  }

  /** Sends the record; if its topic rejects it as too large, sends it again without its value. */
  private CompletableFuture<?> send(Letter letter) {
    return senders
        .send(record(letter, letter.fault, letter.record.value()))
        .exceptionallyCompose(
            failure ->
                cause(failure) instanceof RecordTooLargeException
                    ? sendWithoutValue(letter)
                    : CompletableFuture.failedFuture(failure));
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  // The dead-letter topic's size limit is below that of the input topic. The headers still refer to
  // the original record, and the partition is not blocked.
  private CompletableFuture<RecordMetadata> sendWithoutValue(Letter letter) {
    byte[] value = letter.record.value();
    log.warn(
        "The dead letter of {} is too large for its topic ({} bytes); sending it without its value",
        position(letter.record),
        value == null ? 0 : value.length);
    return senders.send(record(letter, letter.fault + "; value omitted, too large", null));
  }

  private String topic(Letter letter) {
    return topics.deadLetters(letter.record.topic());
  }

  private ProducerRecord<byte[], byte[]> record(
      Letter letter, String fault, byte @Nullable [] value) {
    ConsumerRecord<byte[], byte[]> record = letter.record;
    ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>(topic(letter), record.key(), value);
    Headers headers = sent.headers();
    record.headers().forEach(headers::add);
    headers
        .add("x-error", utf8(fault))
        .add("x-topic", utf8(record.topic()))
        .add("x-partition", utf8(Integer.toString(record.partition())))
        .add("x-offset", utf8(Long.toString(record.offset())))
        .add("x-timestamp", utf8(Long.toString(record.timestamp())));
    return sent;
  }

  private static String position(ConsumerRecord<?, ?> record) {
    return record.topic() + "-" + record.partition() + "@" + record.offset();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
