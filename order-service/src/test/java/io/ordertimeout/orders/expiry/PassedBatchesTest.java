package io.ordertimeout.orders.expiry;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.engine.DueBatch;
import io.ordertimeout.engine.ShardedTimers;
import io.ordertimeout.engine.TimersConfig;
import io.ordertimeout.orders.order.DueOrders;
import io.ordertimeout.orders.order.Watermark;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.LongStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PassedBatchesTest {

  private static final Instant TIME = Instant.parse("2026-11-28T12:00:00Z");
  private static final Map<String, Uuid> TOPICS = Map.of("paid", Uuid.ONE_UUID);

  private final BlockingQueue<DueBatch> due = new LinkedBlockingQueue<>();
  private final ShardedTimers timers =
      new ShardedTimers(TimersConfig.defaults("wheel"), TIME::toEpochMilli, due::add);
  private final PassedBatches passed = new PassedBatches(5);

  @AfterEach
  void close() {
    timers.close();
  }

  private Attempt attempt(int shard, int orders, Instant time, boolean isFirst)
      throws InterruptedException {
    long[] ids = LongStream.range(0, orders).map(i -> shard * 100L + i).toArray();
    long[] deadlines = LongStream.of(ids).map(id -> TIME.toEpochMilli()).toArray();
    timers.open(shard);
    timers.schedule(shard, ids, deadlines, orders);
    return new Attempt(
        due.take(),
        new Watermark(time, Map.of(new TopicPartition("paid", shard), 7L), TOPICS, false),
        time,
        time,
        (s, armed, timesMillis, count) -> {},
        isFirst);
  }

  @Test
  void batchesThatEachWatermarkHasPassedAreTakenTogether() throws InterruptedException {
    passed.add(attempt(0, 2, TIME.plusMillis(1), true));
    passed.add(attempt(1, 3, TIME, true));
    List<Attempt> together = passed.next();

    assertThat(together).extracting(Attempt::shard).containsExactly(0, 1);
    DueOrders orders = Attempt.orders(together);
    assertThat(orders.shards()).containsExactly(0, 1);
    assertThat(orders.ids()).containsExactlyInAnyOrder(0, 1, 100, 101, 102);
    assertThat(orders.watermark().time()).as("the earlier one").isEqualTo(TIME);
    assertThat(orders.watermark().ends())
        .containsOnlyKeys(new TopicPartition("paid", 0), new TopicPartition("paid", 1));
    assertThat(passed.isEmpty()).isTrue();
    assertThat(passed.next()).isEmpty();
  }

  @Test
  void noMoreThanOneStatementMayDecideAreTaken() throws InterruptedException {
    passed.add(attempt(0, 3, TIME, true));
    passed.add(attempt(1, 3, TIME, true));
    passed.add(attempt(2, 9, TIME, true));

    assertThat(passed.next()).extracting(Attempt::shard).containsExactly(0);
    assertThat(passed.next()).extracting(Attempt::shard).containsExactly(1);
    assertThat(passed.next()).as("one batch, however large").hasSize(1);
  }

  @Test
  void whatTheOthersWatermarkHasNotPassedAndWhatHasFailedBeforeAreTakenAlone()
      throws InterruptedException {
    passed.add(attempt(0, 1, TIME, true));
    passed.add(attempt(1, 1, TIME.minusMillis(1), true));
    passed.add(attempt(2, 1, TIME, false));
    passed.add(attempt(3, 1, TIME, false));

    for (int shard = 0; shard < 4; shard++) {
      assertThat(passed.next()).extracting(Attempt::shard).containsExactly(shard);
    }
  }

  @Test
  void twoBatchesOfAShardThatWasAcquiredAgainAreTakenOneByOne() throws InterruptedException {
    passed.add(attempt(0, 1, TIME, true));
    passed.add(attempt(0, 1, TIME, true));

    assertThat(passed.next()).hasSize(1);
    assertThat(passed.next()).hasSize(1);
  }
}
