package io.ordertimeout.orders.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OffsetCommitsTest {

  private static final TopicPartition PAID_0 = new TopicPartition("order-paid", 0);
  private static final TopicPartition PAID_1 = new TopicPartition("order-paid", 1);

  private final AtomicLong nanos = new AtomicLong();
  private final List<@Nullable Exception> results = new ArrayList<>();
  private final List<Map<TopicPartition, OffsetAndMetadata>> sent = new ArrayList<>();
  private final Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();
  private final AtomicBoolean nothingToCommit = new AtomicBoolean();
  private final OffsetCommits commits = new OffsetCommits(listener(), nanos::get);
  private @Nullable Exception failure;

  @Test
  void aBusyConsumerCommitsEveryFewSeconds() {
    for (int poll = 0; poll < 1_000; poll++) {
      store(PAID_0, poll);
      commits.commitIfDue(consumer(), stored, false);
      pass(Duration.ofMillis(20));
    }

    assertThat(sent).hasSize(3);
  }

  @Test
  void aConsumerThatHasCaughtUpCommitsOnceWhatHasChanged() {
    store(PAID_0, 10);
    store(PAID_1, 0);
    commits.commitIfDue(consumer(), stored, true);
    commits.commitIfDue(consumer(), stored, true);
    store(PAID_0, 11);
    commits.commitIfDue(consumer(), stored, true);

    assertThat(sent)
        .containsExactly(
            Map.of(PAID_0, new OffsetAndMetadata(10), PAID_1, new OffsetAndMetadata(0)),
            Map.of(PAID_0, new OffsetAndMetadata(11)));
  }

  @Test
  void aFailedCommitIsRepeatedWithAllOffsets() {
    store(PAID_0, 10);
    store(PAID_1, 5);
    commits.commitIfDue(consumer(), stored, true);
    failure = new RetriableCommitFailedException("not now");
    store(PAID_0, 11);
    commits.commitIfDue(consumer(), stored, true);
    failure = null;
    commits.commitIfDue(consumer(), stored, true);
    assertThat(sent).hasSize(2);

    pass(OffsetCommits.RETRY);
    commits.commitIfDue(consumer(), stored, true);

    assertThat(sent).hasSize(3);
    assertThat(sent.get(2))
        .isEqualTo(Map.of(PAID_0, new OffsetAndMetadata(11), PAID_1, new OffsetAndMetadata(5)));
    assertThat(results).hasSize(3);
  }

  @Test
  void aPartitionThatComesBackIsCommittedAgain() {
    store(PAID_0, 10);
    commits.commitIfDue(consumer(), stored, true);
    stored.clear();
    commits.commitIfDue(consumer(), stored, true);
    store(PAID_0, 10);
    commits.commitIfDue(consumer(), stored, true);

    assertThat(sent).hasSize(2);
  }

  /** Otherwise its commits would count as failing until it has partitions again, if ever. */
  @Test
  void aConsumerWithoutPartitionsHasNothingToCommit() {
    store(PAID_0, 10);
    failure = new RetriableCommitFailedException("not now");
    commits.commitIfDue(consumer(), stored, true);
    commits.commitIfDue(consumer(), stored, true);
    assertThat(nothingToCommit).isFalse();

    stored.clear();
    commits.commitIfDue(consumer(), stored, true);

    assertThat(nothingToCommit).isTrue();
    assertThat(sent).hasSize(1);
  }

  private OffsetCommits.Listener listener() {
    return new OffsetCommits.Listener() {
      @Override
      public void committed(@Nullable Exception result) {
        results.add(result);
      }

      @Override
      public void nothingToCommit() {
        nothingToCommit.set(true);
      }
    };
  }

  private void store(TopicPartition partition, long offset) {
    stored.put(partition, new OffsetAndMetadata(offset));
  }

  private void pass(Duration duration) {
    nanos.addAndGet(duration.toNanos());
  }

  @SuppressWarnings("unchecked")
  private Consumer<?, ?> consumer() {
    return (Consumer<?, ?>)
        Proxy.newProxyInstance(
            Consumer.class.getClassLoader(),
            new Class<?>[] {Consumer.class},
            (proxy, method, arguments) -> {
              Map<TopicPartition, OffsetAndMetadata> offsets =
                  (Map<TopicPartition, OffsetAndMetadata>) arguments[0];
              sent.add(Map.copyOf(offsets));
              ((OffsetCommitCallback) arguments[1]).onComplete(offsets, failure);
              return null;
            });
  }
}
