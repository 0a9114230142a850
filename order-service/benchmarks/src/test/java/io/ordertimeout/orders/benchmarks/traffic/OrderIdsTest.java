package io.ordertimeout.orders.benchmarks.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class OrderIdsTest {

  @Test
  void anIdLeadsBackToItsNumber() {
    for (long number : new long[] {0, 1, 2, 999, 100_000_000, 12_345_678_901L, Long.MAX_VALUE}) {
      assertThat(OrderIds.number(OrderIds.of(number))).isEqualTo(number);
    }
  }

  @Test
  void idsOfConsecutiveNumbersAreInNoOrder() {
    List<String> ids = LongStream.range(0, 1_000).mapToObj(OrderIds::of).toList();

    long ascending = 0;
    for (int i = 1; i < ids.size(); i++) {
      ascending += ids.get(i - 1).compareTo(ids.get(i)) < 0 ? 1 : 0;
    }
    assertThat(ids).doesNotHaveDuplicates().allSatisfy(id -> assertThat(id).hasSize(22));
    assertThat(ascending).isBetween(300L, 700L);
  }
}
