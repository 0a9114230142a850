package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compares the storage of a wheel with a map through growth, churn and shrinking. */
class TimerIndexAndListsTest {

  private static final int SLOTS = 700;

  private final TimerIndex index = new TimerIndex();
  private final TimerLists timers = new TimerLists(SLOTS, index);
  private final Map<Long, Integer> slotOfId = new HashMap<>();
  private final List<Long> ids = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(7);

  private void add(long id) {
    int slot = random.nextInt(SLOTS);
    require(index.find(id, timers) == TimerLists.NONE, "a new id is not found", id);
    index.addNotFound(timers.add(slot, id, ~id));
    slotOfId.put(id, slot);
    ids.add(id);
  }

  private void removeAny() {
    int i = random.nextInt(ids.size());
    long id = ids.get(i);
    ids.set(i, ids.get(ids.size() - 1));
    ids.remove(ids.size() - 1);
    slotOfId.remove(id);
    int location = index.find(id, timers);
    if (random.nextBoolean()) {
      index.removeFound();
    } else {
      index.remove(id, location);
    }
    timers.remove(location);
  }

  private void check() {
    assertThat(timers.size()).isEqualTo(slotOfId.size());
    slotOfId.forEach(
        (id, slot) -> {
          int location = index.find(id, timers);
          require(timers.id(location) == id, "the index finds the timer", id);
          require(timers.deadlineMillis(location) == ~id, "the timer has its deadline", id);
          require(timers.slot(location) == slot, "the timer has its slot", id);
          require(
              index.firstCandidate(Hashing.spread(id)) != TimerLists.NONE, "has a candidate", id);
        });
    int seen = 0;
    for (int slot = timers.firstOccupied(0, SLOTS);
        slot >= 0;
        slot = timers.firstOccupied(slot + 1, SLOTS)) {
      int inSlot = 0;
      for (int location = timers.last(slot);
          location != TimerLists.NONE;
          location = timers.before(location)) {
        long id = timers.id(location);
        require(Objects.equals(slotOfId.get(id), slot), "the list contains only its timers", id);
        inSlot++;
      }
      assertThat(timers.count(slot)).isEqualTo(inSlot).isPositive();
      assertThat(timers.isEmpty(slot)).isFalse();
      seen += inSlot;
    }
    assertThat(seen).isEqualTo(slotOfId.size());
    assertThat(index.find(-1, timers)).isEqualTo(TimerLists.NONE);
  }

  /** Cheaper than an assertion library, because it runs for every timer. */
  private static void require(boolean holds, String requirement, long id) {
    if (!holds) {
      throw new AssertionError("violated: " + requirement + ": " + id);
    }
  }

  @Test
  void keepsEveryTimerThroughGrowthChurnAndShrinking() {
    long empty = bytes();
    for (int size : new int[] {0, 7, 8, 300, 360, 3_071, 3_080, 30_000, 60_000, 200_000}) {
      while (ids.size() < size) {
        add(random.nextLong() >>> 1);
      }
      check();
    }
    assertThat(index.segmentCount).as("segments of 3,072 on average").isEqualTo(66);
    long full = bytes();
    assertThat(full / 200_000.0).as("bytes per timer").isBetween(20.0, 40.0);
    for (int i = 0; i < 200_000; i++) {
      removeAny();
      add(random.nextLong() >>> 1);
    }
    check();
    assertThat(bytes()).as("after churn").isLessThan(full * 11 / 10);
    for (int size : new int[] {190_000, 100_000, 20_000, 3_000, 100, 1, 0}) {
      while (ids.size() > size) {
        removeAny();
      }
      check();
      // A spare page of either kind may be kept.
      assertThat(bytes()).as("at %s", size).isLessThan(empty + 4 * (1 << 20) + 48L * 2 * size);
    }
    assertThat(index.segmentCount).isOne();
    assertThat(bytes()).isLessThan(empty + 200_000);
  }

  @Test
  void growsAgainAfterShrinking() {
    for (int round = 0; round < 3; round++) {
      while (ids.size() < 20_000) {
        add(random.nextLong() >>> 1);
      }
      check();
      while (ids.size() > 10) {
        removeAny();
      }
      check();
    }
  }

  @Test
  void findsEvenlySpacedIds() {
    for (long id = 0; id < 10_000; id++) {
      add(id << 40);
    }
    check();
  }

  @Test
  void freesMemoryWhicheverTimersRemain() {
    for (long id = 0; id < 100_000; id++) {
      index.find(id, timers);
      index.addNotFound(timers.add((int) (id % SLOTS), id, 0));
    }
    long full = bytes();
    for (long id = 0; id < 100_000; id++) {
      if (id % 100 != 0) {
        timers.remove(find(id));
      }
    }

    assertThat(timers.size()).isEqualTo(1_000);
    for (long id = 0; id < 100_000; id += 100) {
      int location = index.find(id, timers);
      assertThat(timers.id(location)).isEqualTo(id);
    }
    assertThat(bytes()).isLessThan(full / 3);
  }

  @Test
  void distinguishesCollidingIdsAcrossTheEndOfASegment() {
    for (int n = 0; n < 40; n++) {
      add(idOfHash(Integer.MAX_VALUE, n));
      add(idOfHash(1, n));
      add(idOfHash(1 << 30, n));
    }
    check();
    for (int n = 40; n < 300; n++) {
      removeAny();
      add(idOfHash(n % 2 == 0 ? Integer.MAX_VALUE : 1, n));
      removeAny();
      add(idOfHash(Integer.MAX_VALUE - (n << 20), n));
      check();
    }
    for (int n = 300; n < 700; n++) {
      add(idOfHash(Integer.MAX_VALUE - (n & 7), n));
    }
    check();
    while (!ids.isEmpty()) {
      removeAny();
      if (ids.size() % 8 == 0) {
        check();
      }
    }
  }

  /** Inverts {@link Hashing#spread}: returns a different id for each n. */
  static long idOfHash(int hash, int n) {
    long h = ((long) hash << 33) | n;
    h = (h ^ (h >>> 33)) * inverse(0xc4ceb9fe1a85ec53L);
    h = (h ^ (h >>> 33)) * inverse(0xff51afd7ed558ccdL);
    h ^= h >>> 33;
    assertThat(Hashing.spread(h)).isEqualTo(hash);
    return h;
  }

  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  @Test
  void reportsItsMemory() {
    assertThat(index.bytes()).isBetween(12_300L, 12_400L);
    TimerLists lists = new TimerLists(8_192, index);
    long empty = lists.bytes();
    lists.add(4_095, 1, 0);
    assertThat(lists.bytes()).isEqualTo(empty + 4 * 4_096);
    lists.add(0, 2, 0);
    assertThat(lists.bytes()).isEqualTo(empty + 4 * 4_096);
    lists.add(4_096, 3, 0);
    assertThat(lists.bytes()).isEqualTo(empty + 2 * 4 * 4_096);
  }

  private int find(long id) {
    int location = index.find(id, timers);
    index.removeFound();
    return location;
  }

  private long bytes() {
    return index.bytes() + timers.bytes();
  }
}
