package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class DisturbancesTest {

  private final Disturbances disturbances = new Disturbances();

  @Test
  void thereIsNoneUnlessOneBegins() {
    assertThat(disturbances.overlap(at(0), at(1_000))).isFalse();
  }

  @Test
  void oneLastsFromItsBeginningUntilBeforeItsEnd() {
    disturbances.begin(at(10));
    disturbances.end(at(20));
    assertThat(disturbances.overlap(at(0), at(9))).isFalse();
    assertThat(disturbances.overlap(at(0), at(10))).isTrue();
    assertThat(disturbances.overlap(at(0), at(100))).isTrue();
    assertThat(disturbances.overlap(at(12), at(13))).isTrue();
    assertThat(disturbances.overlap(at(19), at(100))).isTrue();
    assertThat(disturbances.overlap(at(20), at(100))).isFalse();
  }

  @Test
  void oneThatDoesNotEndLasts() {
    disturbances.begin(at(10));
    assertThat(disturbances.overlap(at(1_000), at(1_001))).isTrue();
  }

  @Test
  void anEndEndsAllThatHaveBegunAndNoOther() {
    disturbances.begin(at(10));
    disturbances.end(at(20));
    disturbances.begin(at(30));
    disturbances.begin(at(40));
    disturbances.end(at(50));
    assertThat(disturbances.overlap(at(20), at(29))).isFalse();
    assertThat(disturbances.overlap(at(49), at(60))).isTrue();
    assertThat(disturbances.overlap(at(50), at(60))).isFalse();
  }

  @Test
  void oneOfAShardDisturbsNoOther() {
    disturbances.begin(at(10), 1);
    assertThat(disturbances.overlap(1, at(12), at(13))).isTrue();
    assertThat(disturbances.overlap(2, at(12), at(13))).isFalse();
    assertThat(disturbances.overlap(at(12), at(13))).isTrue();
    disturbances.end(at(20));
    assertThat(disturbances.overlap(1, at(20), at(21))).isFalse();
  }

  @Test
  void oneOfAllShardsDisturbsEach() {
    disturbances.begin(at(10));
    assertThat(disturbances.overlap(2, at(12), at(13))).isTrue();
    assertThat(disturbances.overlap(2, at(8), at(9))).isFalse();
  }

  private static Instant at(long second) {
    return Instant.ofEpochSecond(second);
  }
}
