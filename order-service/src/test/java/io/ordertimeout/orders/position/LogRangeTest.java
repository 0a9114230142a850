package io.ordertimeout.orders.position;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogRangeTest {

  private final LogRange range = new LogRange("topic", 10, 20);

  @Test
  void nothingIsLostBetweenItsEnds() {
    assertThat(range.loss(new Position("topic", 10))).isNull();
    assertThat(range.loss(new Position("topic", 20))).isNull();
  }

  @Test
  void recordsBeforeItsBeginningWereDeleted() {
    assertThat(range.loss(new Position("topic", 9))).contains("offsets 9 to 9 were deleted");
    assertThat(range.isBefore(new Position("topic", 9))).isFalse();
  }

  @Test
  void recordsBehindItsEndWereLost() {
    assertThat(range.loss(new Position("topic", 21))).contains("ends at offset 20", "21");
    assertThat(range.isBefore(new Position("topic", 21))).isTrue();
  }

  @Test
  void allRecordsOfAnotherTopicOfTheSameNameAreGone() {
    assertThat(range.loss(new Position("other", 15))).contains("recreated", "from offset 15 on");
    assertThat(range.isBefore(new Position("other", 21))).isFalse();
  }
}
