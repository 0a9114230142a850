package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SlotSetTest {

  private static final int SLOTS = 20_000;

  private final SlotSet slots = new SlotSet(SLOTS);
  private final TreeSet<Integer> model = new TreeSet<>();
  private final SplittableRandom random = new SplittableRandom(3);

  private void toggle(int slot) {
    if (model.remove(slot)) {
      slots.remove(slot);
    } else {
      model.add(slot);
      slots.add(slot);
    }
  }

  private void check(int from, int to) {
    Integer next = model.ceiling(from);
    int expected = next == null || next >= to ? -1 : next;
    int found = slots.first(from, to);
    // A plain comparison first, because there are tens of thousands.
    if (found != expected) {
      assertThat(found).as("from %s to %s", from, to).isEqualTo(expected);
    }
  }

  @Test
  void findsTheNextMemberLikeATreeSet() {
    for (int round = 0; round < 20_000; round++) {
      toggle(random.nextInt(SLOTS));
      if (round % 100 == 0) {
        // Removes almost all members at times, so that whole groups of words are empty.
        while (model.size() > round % 7) {
          toggle(model.first());
        }
      }
      int from = random.nextInt(SLOTS);
      check(from, SLOTS);
      check(from, from + random.nextInt(SLOTS - from + 1));
      check(from, from);
      check(from, from + 1);
    }
  }

  @Test
  void findsMembersAtTheEdgesOfWordsAndGroups() {
    for (int member : new int[] {0, 63, 64, 65, 4095, 4096, 4097, 8191, 8192, SLOTS - 1}) {
      toggle(member);
      for (int from : new int[] {0, 1, 62, 63, 64, 65, 4095, 4096, 4097, 8191, 8192, SLOTS - 1}) {
        check(from, SLOTS);
        check(Math.min(from, member), member);
        check(Math.min(from, member), member + 1);
      }
      toggle(member);
    }
  }
}
