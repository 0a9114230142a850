package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ArrivalProcessTest {

  @Test
  void meanIsTheConfiguredRateAndPeaksExceedIt() {
    ArrivalProcess arrivals = new ArrivalProcess(new SplittableRandom(1), 20);
    int[] perSecond = new int[2_400]; // a whole number of both periods
    long last = 0;
    for (Duration at = arrivals.next(); at.toSeconds() < perSecond.length; at = arrivals.next()) {
      assertThat(at.toNanos()).isGreaterThanOrEqualTo(last);
      last = at.toNanos();
      perSecond[(int) at.toSeconds()]++;
    }
    double all = 0;
    double peaks = 0;
    for (int second = 0; second < perSecond.length; second++) {
      all += perSecond[second];
      peaks += second % 30 >= 27 ? perSecond[second] : 0;
    }

    assertThat(all / perSecond.length).isCloseTo(20, within(0.5));
    assertThat(peaks / (perSecond.length / 10.0)).isCloseTo(20 * 0.8 * 3.5, within(3.0));
  }
}
