package io.ordertimeout.orders.platform.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class StepHealthTest {

  private long nanos;
  private final StepHealth step = new StepHealth("relay", () -> nanos);

  @Test
  void isFailingFromTheFirstFailureToTheNextSuccess() {
    assertThat(step.failingFor()).isZero();

    step.failed("nothing is lost", new IllegalStateException("unavailable"));
    advance(Duration.ofSeconds(7));
    step.failed("nothing is lost", new IllegalStateException("unavailable"));
    advance(Duration.ofSeconds(3));

    assertThat(step.failingFor()).isEqualTo(Duration.ofSeconds(10));
    step.succeeded();
    assertThat(step.failingFor()).isZero();
  }

  @Test
  void outageIsLoggedWithOneStackTraceAndAReminderEvery30Seconds(CapturedOutput output) {
    for (int second = 0; second < 61; second++) {
      step.failed("nothing is lost", new IllegalStateException("unavailable"));
      advance(Duration.ofSeconds(1));
    }
    step.succeeded();
    step.succeeded();

    assertThat(output.getOut().lines().filter(line -> line.contains("\tat "))).isNotEmpty();
    assertThat(output.getOut().lines().filter(line -> line.contains("relay")))
        .satisfiesExactly(
            first -> assertThat(first).contains("relay failed: nothing is lost"),
            reminder -> assertThat(reminder).contains("failing for 30 s, 31 times"),
            another -> assertThat(another).contains("failing for 60 s, 61 times"),
            end -> assertThat(end).contains("recovered after 61 s and 61 failures"));
  }

  @Test
  void isFailingUntilAllWorkThatFailedIsAbandoned(CapturedOutput output) {
    step.failed("nothing is lost", new IllegalStateException("unavailable"), "first");
    step.failed("nothing is lost", new IllegalStateException("unavailable"), "second");
    advance(Duration.ofSeconds(7));

    step.abandoned("first");
    step.abandoned("never failed");
    assertThat(step.failingFor()).isEqualTo(Duration.ofSeconds(7));
    step.abandoned("second");
    assertThat(step.failingFor()).isZero();
    assertThat(output).contains("relay has nothing left to retry, after 7 s and 2 failures");
  }

  @Test
  void abandonedWorkDoesNotHideAFailureOfOtherWork() {
    step.failed("nothing is lost", new IllegalStateException("unavailable"), "order");
    step.succeeded();
    step.failed("nothing is lost", new IllegalStateException("unavailable"));
    advance(Duration.ofSeconds(7));

    step.abandoned("order");

    assertThat(step.failingFor()).isEqualTo(Duration.ofSeconds(7));
  }

  private void advance(Duration time) {
    nanos += time.toNanos();
  }
}
