package io.ordertimeout.orders.intake;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnusableShareTest {

  private static final String TOPIC = "order-created";

  private final UnusableShare share = new UnusableShare(0.5);

  @Test
  void aFewUnusableRecordsOfAQuietTopicDoNotExceedIt() {
    assertThat(share.isExceeded(TOPIC, 50, 50)).isFalse();
    assertThat(share.isExceeded(TOPIC, 51, 51)).isTrue();
  }

  @Test
  void singleUnusableRecordsAddUp() {
    for (int i = 0; i < 50; i++) {
      assertThat(share.isExceeded(TOPIC, 1, 1)).isFalse();
      share.add(TOPIC, 1, 1);
    }

    assertThat(share.isExceeded(TOPIC, 1, 1)).isTrue();
    assertThat(share.isExceeded("order-paid", 1, 1)).as("another topic").isFalse();
  }

  @Test
  void onlyTheLastHundredRecordsCount() {
    share.add(TOPIC, 40, 40);
    share.add(TOPIC, 0, 60);

    assertThat(share.isExceeded(TOPIC, 20, 20)).as("all 40 and 20 of 100, less 20").isFalse();
    share.add(TOPIC, 0, 40);
    assertThat(share.isExceeded(TOPIC, 50, 50)).isFalse();
  }

  @Test
  void aLargeBatchIsJudgedByItself() {
    share.add(TOPIC, 50, 100);

    assertThat(share.isExceeded(TOPIC, 1_000, 2_000)).isFalse();
    assertThat(share.isExceeded(TOPIC, 1_001, 2_000)).isTrue();
    share.add(TOPIC, 1_000, 2_000);
    assertThat(share.isExceeded(TOPIC, 1, 1)).as("half of the last hundred, or one more").isFalse();
    share.add(TOPIC, 2_000, 2_000);
    assertThat(share.isExceeded(TOPIC, 1, 1)).isTrue();
    share.forget(TOPIC);
    assertThat(share.isExceeded(TOPIC, 1, 1)).isFalse();
  }

  @Test
  void aLimitOfOneIsNeverExceededAndOneOfZeroByAnyUnusableRecord() {
    assertThat(new UnusableShare(1).isExceeded(TOPIC, 5_000, 5_000)).isFalse();
    assertThat(new UnusableShare(0).isExceeded(TOPIC, 1, 5_000)).isTrue();
  }
}
