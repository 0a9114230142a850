package io.ordertimeout.orders.benchmarks.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class JudgeTest {

  private static final long FIRST = 1_000;
  private static final long DEADLINE = 50_000;

  private final Judge judge = new Judge(FIRST, 2);
  private final long order = judge.created(DEADLINE);

  @Test
  void anUnpaidOrderThatIsCancelledOnTimeIsRight() {
    judge.cancelled(order, DEADLINE + 12);

    assertThat(judge.verdict().violations()).isEmpty();
    assertThat(judge.verdict().cancelled()).isEqualTo(1);
    assertThat(judge.latenessSinceLastCall().getMaxValue()).isEqualTo(12);
    assertThat(judge.lastCancelledAt()).isEqualTo(DEADLINE + 12);
  }

  @Test
  void anUnpaidOrderThatIsNotCancelledIsLost() {
    assertThat(judge.verdict().violations())
        .containsExactly("1 orders were not cancelled although unpaid");
  }

  @Test
  void aPaidOrderThatIsNotCancelledIsRight() {
    judge.paying(order);
    judge.paid(order, DEADLINE - 1);

    assertThat(judge.unpaid()).isZero();
    assertThat(judge.verdict().violations()).isEmpty();
  }

  @Test
  void aPaidOrderThatIsCancelledIsWrong() {
    judge.paying(order);
    judge.cancelled(order, DEADLINE + 1);
    judge.paid(order, DEADLINE - 1);

    assertThat(judge.cancelled()).isZero();
    assertThat(judge.verdict().violations())
        .containsExactly("1 orders were cancelled although paid in time");
  }

  @Test
  void anOrderWhoseTimelyPaymentIsDoubtfulMayBeCancelledOrNot() {
    judge.paying(order);
    assertThat(judge.verdict().violations()).isEmpty();

    judge.cancelled(order, DEADLINE + 1);
    assertThat(judge.verdict().violations()).isEmpty();

    judge.paid(order, DEADLINE);
    assertThat(judge.verdict().violations()).isEmpty();
  }

  @Test
  void aCancellationBeforeTheDeadlineIsWrong() {
    judge.cancelled(order, DEADLINE - 3);

    assertThat(judge.verdict().violations()).containsExactly("1 orders were cancelled early");
  }

  @Test
  void aSecondCancellationIsWrongUnlessSomethingCrashed() {
    judge.cancelled(order, DEADLINE + 1);
    judge.cancelled(order, DEADLINE + 2);

    assertThat(judge.cancelled()).isEqualTo(1);
    assertThat(judge.verdict().publishedAgain()).isEqualTo(1);
    assertThat(judge.verdict().violations()).isEmpty();
    assertThat(judge.verdict().violationsWithoutCrash())
        .containsExactly("1 cancellations were published again");
  }

  @Test
  void cancellationsOfOtherRunsAreIgnored() {
    judge.cancelled(order, DEADLINE);
    judge.cancelled(FIRST - 1, DEADLINE);
    judge.cancelled(FIRST + 1, DEADLINE);

    assertThat(judge.verdict()).isEqualTo(new Judge.Verdict(1, 0, List.of()));
  }
}
