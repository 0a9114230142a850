package io.ordertimeout.orders.platform.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

class DatabaseClockTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private long nanos = 5_000;
  private Instant database = START;
  private Instant wallClock = START;
  private Duration roundTrip = Duration.ZERO;

  private final DatabaseClock clock =
      new DatabaseClock(
          () -> {
            nanos += roundTrip.toNanos() / 2;
            Instant time = database;
            nanos += roundTrip.toNanos() / 2;
            return time;
          },
          () -> nanos,
          () -> wallClock);

  @BeforeEach
  void set() {
    clock.set();
  }

  @Test
  void cannotBeReadBeforeItIsSet() {
    DatabaseClock fresh = new DatabaseClock(() -> database, () -> nanos, () -> wallClock);

    assertThatIllegalStateException().isThrownBy(fresh::now);
    assertThat(fresh.offset()).isZero();
  }

  @Test
  void reportsItsOffsetFromTheWallClock() {
    wallClock = START.plusSeconds(3600);

    clock.measure();

    assertThat(clock.offset()).isEqualTo(Duration.ofHours(-1));
  }

  @Test
  @ExtendWith(OutputCaptureExtension.class)
  void warnsOnceOfClocksThatAreFarApart(CapturedOutput output) {
    assertThat(output).doesNotContain("Postgres's clock is");
    wallClock = START.plusSeconds(3600);

    clock.measure();
    clock.measure();

    assertThat(output.getOut().lines().filter(line -> line.contains("Postgres's clock is")))
        .singleElement()
        .asString()
        .contains("PT1H behind this machine's");
  }

  @Test
  void ignoresAJumpOfTheWallClock() {
    wallClock = START.plusSeconds(3600);

    clock.measure();

    assertThat(clock.now()).isEqualTo(START);
  }

  @Test
  void isMeasuredAgainWhenPostgresReportsAnotherTime() {
    int[] notifications = {0};
    clock.onChange(() -> notifications[0]++);
    database = START.plusMillis(150);

    assertThat(clock.readExact()).isEqualTo(database);

    assertThat(clock.now()).isEqualTo(database);
    assertThat(notifications[0]).isEqualTo(1);
  }

  @Test
  void advancesWithMonotonicTime() {
    nanos += Duration.ofMinutes(3).toNanos();

    assertThat(clock.now()).isEqualTo(START.plus(Duration.ofMinutes(3)));
  }

  @Test
  void followsAJumpOfTheDatabaseClock() {
    database = START.minus(Duration.ofHours(1));

    clock.measure();

    assertThat(clock.now()).isEqualTo(START.minus(Duration.ofHours(1)));
  }

  @Test
  void assumesThatPostgresReadItsClockInTheMiddleOfTheRoundTrip() {
    roundTrip = Duration.ofMillis(10);

    clock.measure();

    assertThat(clock.now()).isEqualTo(START.plus(Duration.ofMillis(45)));
  }

  @Test
  void notifiesListenersWhenItIsSet() {
    int[] notifications = {0};
    DatabaseClock fresh = new DatabaseClock(() -> database, () -> nanos, () -> wallClock);
    fresh.onChange(() -> notifications[0]++);

    fresh.set();
    fresh.set();

    assertThat(notifications[0]).isEqualTo(1);
  }

  @Test
  void notifiesListenersOfEveryMeasurement() {
    int[] notifications = {0};
    clock.onChange(() -> notifications[0]++);

    clock.measure();
    clock.measure();

    assertThat(notifications[0]).isEqualTo(2);
  }
}
