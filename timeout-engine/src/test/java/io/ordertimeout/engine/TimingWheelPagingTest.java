package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compares pages of armed timers with a map while the timers change. */
class TimingWheelPagingTest {

  private static final int SHARD = 5;
  private static final int ALL = Integer.MAX_VALUE;

  private final TimingWheel wheel = new TimingWheel(1, 0);
  private final Map<Long, Long> deadlines = new HashMap<>();
  private final List<Long> ids = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(3);
  private long now;

  private void schedule(long id) {
    long deadlineMillis = now + 1 + random.nextLong(1L << random.nextInt(1, 40));
    wheel.schedule(id, deadlineMillis);
    if (deadlines.put(id, deadlineMillis) == null) {
      ids.add(id);
    }
  }

  private void cancel(int i) {
    long id = ids.get(i);
    ids.set(i, ids.get(ids.size() - 1));
    ids.remove(ids.size() - 1);
    deadlines.remove(id);
    wheel.cancel(id);
  }

  private void advance(long nowMillis) {
    now = nowMillis;
    wheel.advance(now, (id, deadlineMillis) -> deadlines.remove(id) != null, ALL);
    ids.removeIf(id -> !deadlines.containsKey(id));
  }

  private void resize(int size) {
    while (ids.size() < size) {
      schedule(random.nextLong());
    }
    while (ids.size() > size) {
      cancel(random.nextInt(ids.size()));
    }
  }

  /** Reads all pages, runs an action after each, and returns the pages. */
  private List<ArmedTimers> pages(int limit, Runnable meanwhile) {
    List<ArmedTimers> pages = new ArrayList<>();
    long cursor = 0;
    do {
      ArmedTimers page = wheel.armedPage(SHARD, (int) cursor, limit);
      assertThat(page.shard()).isEqualTo(SHARD);
      assertThat(page.size()).isLessThanOrEqualTo(limit);
      boolean armed = true;
      for (int i = 0; i < page.size(); i++) {
        armed &= Objects.equals(deadlines.get(page.id(i)), page.deadlineMillis(i));
      }
      assertThat(armed).as("each timer is armed with its deadline").isTrue();
      pages.add(page);
      cursor = page.nextCursor();
      if (cursor != 0) {
        meanwhile.run();
      }
    } while (cursor != 0);
    return pages;
  }

  /** Returns the ids in the pages and checks that none occurs twice. */
  private static Set<Long> idsOf(List<ArmedTimers> pages) {
    Set<Long> seen = new HashSet<>();
    boolean once = true;
    for (ArmedTimers page : pages) {
      for (int i = 0; i < page.size(); i++) {
        once &= seen.add(page.id(i));
      }
    }
    assertThat(once).as("each id is returned once").isTrue();
    return seen;
  }

  @Test
  void returnsOnePageIfEverythingFits() {
    assertThat(pages(1, () -> {})).singleElement().extracting(ArmedTimers::size).isEqualTo(0);
    resize(100);

    assertThat(pages(100, () -> {})).singleElement().extracting(ArmedTimers::size).isEqualTo(100);
    assertThat(pages(99, () -> {})).extracting(ArmedTimers::size).containsExactly(99, 1);
    assertThat(pages(1, () -> {})).hasSizeBetween(100, 101);
  }

  @Test
  void returnsEveryTimerOnceAtAnySize() {
    // Above 3,072 timers the index splits segments, in rounds that end at 6,144, 12,288, and so on.
    for (int size : new int[] {1, 3_000, 3_100, 6_100, 6_200, 8_000, 20_000, 9_000, 2_000, 10, 0}) {
      resize(size);
      for (int limit : new int[] {500, 3_000, ALL}) {
        assertThat(idsOf(pages(limit, () -> {}))).isEqualTo(deadlines.keySet());
      }
    }
  }

  @Test
  void returnsTimersThatStayArmedOnceWhileTheWheelGrowsAndShrinks() {
    for (int[] sizes :
        new int[][] {{100, 20_000}, {20_000, 2_100}, {10_000, 10_000}, {7_000, 50_000}}) {
      resize(sizes[0]);
      int stayingCount = Math.min(sizes[0], sizes[1]) / 2;
      Set<Long> staying = new HashSet<>(ids.subList(0, stayingCount));
      int step = (sizes[1] - sizes[0]) / 10;

      List<ArmedTimers> pages =
          pages(
              400,
              () -> {
                int target = ids.size() + step;
                for (int i = 0; i < 200; i++) {
                  // Timers at the front stay but are rescheduled; cancelled ones may be armed
                  // again.
                  schedule(ids.get(random.nextInt(stayingCount)));
                  int other = random.nextInt(stayingCount, ids.size());
                  long left = ids.get(other);
                  cancel(other);
                  if (i % 2 == 0) {
                    schedule(left);
                  }
                }
                while (ids.size() < Math.min(target, 50_000)) {
                  schedule(random.nextLong());
                }
                while (ids.size() > Math.max(target, 2 * stayingCount)) {
                  cancel(random.nextInt(stayingCount, ids.size()));
                }
              });

      assertThat(idsOf(pages).containsAll(staying)).isTrue();
      assertThat(pages).hasSizeGreaterThan(stayingCount / 400);
    }
  }

  @Test
  void returnsTimersThatStayArmedOnceWhileOthersExpire() {
    resize(30_000);
    Set<Long> staying = new HashSet<>(ids);

    List<ArmedTimers> pages =
        pages(
            1_000,
            () -> {
              advance(now + now / 2 + 1);
              staying.retainAll(deadlines.keySet());
              resize(30_000);
            });

    assertThat(staying).hasSizeBetween(1_000, 29_000);
    assertThat(idsOf(pages).containsAll(staying)).isTrue();
  }

  @Test
  void pagesAreBoundedForAnyLimitAndAnEmptiedWheel() {
    resize(50_000);
    List<ArmedTimers> pages = pages(ALL, () -> {});
    assertThat(pages).hasSize(wheel.index.segmentCount);
    assertThat(pages).allMatch(page -> page.size() < 6_500);

    resize(3_000);
    assertThat(pages(ALL, () -> {}).size()).isEqualTo(wheel.index.segmentCount).isLessThan(4);
  }

  @Test
  void returnsIdsOfEqualHashTogetherIncludingTheFirstAndLastHash() {
    // In iteration order: reversed, they are 1, 2, 1 << 30 and the largest value.
    int[] hashes = {1 << 30, 1 << 29, 1, Integer.MAX_VALUE};
    for (int hash : hashes) {
      for (int n = 0; n < 20; n++) {
        long id = TimerIndexAndListsTest.idOfHash(hash, n);
        wheel.schedule(id, hash);
      }
    }

    long cursor = 0;
    for (int hash : hashes) {
      ArmedTimers page = wheel.armedPage(SHARD, (int) cursor, 7);
      assertThat(page.size()).isEqualTo(20);
      for (int i = 0; i < page.size(); i++) {
        assertThat(page.deadlineMillis(i)).isEqualTo(hash);
      }
      cursor = page.nextCursor();
    }
    assertThat(cursor).isZero();
  }

  @Test
  void returnsTheDeadlineOfArmedTimers() {
    wheel.schedule(1, 10);

    assertThat(wheel.deadlineMillisOr(1, -1)).isEqualTo(10);
    assertThat(wheel.deadlineMillisOr(2, -1)).isEqualTo(-1);
  }
}
