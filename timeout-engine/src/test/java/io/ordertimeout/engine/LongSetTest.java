package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class LongSetTest {

  @Property(tries = 200)
  void behavesLikeASet(@ForAll List<@LongRange(min = -50, max = 50) Long> members) {
    LongSet set = new LongSet();
    Set<Long> model = new HashSet<>();

    for (long member : members) {
      assertThat(set.contains(member)).isEqualTo(model.contains(member));
      assertThat(set.add(member)).isEqualTo(model.add(member));
      assertThat(set.contains(member)).isTrue();
    }
  }

  @Property(tries = 20)
  void holdsManyMembers(@ForAll long first) {
    LongSet set = new LongSet();

    for (int i = 0; i < 5000; i++) {
      set.add(first + i * 1024L);
    }

    for (int i = 0; i < 5000; i++) {
      long member = first + i * 1024L;
      // A plain comparison, because an assertion for each member takes most of the time.
      if (!set.contains(member) || set.contains(member + 1)) {
        throw new AssertionError("wrong answer for " + member + " or the number after it");
      }
    }
  }
}
