package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OrderLedgerTest {
  private static final long START = 1_000_000;

  private final OrderLedger ledger = new OrderLedger(START, START, Duration.ofMinutes(6));

  @Test
  void countsAnOrderOnce() {
    for (int i = 0; i < 3; i++) {
      ledger.created("a", START + i);
      ledger.paid("a", START + i);
      ledger.closed("b", START + i);
      ledger.cancelled("c", START + i, START);
    }
    OrderLedger.Summary sum = ledger.summary(START + 10);

    assertThat(sum.created()).isEqualTo(1);
    assertThat(sum.paid()).isEqualTo(1);
    assertThat(sum.closed()).isEqualTo(1);
    assertThat(sum.cancelled()).isEqualTo(1);
    assertThat(sum.latenesses()).isEqualTo(1);
  }

  @Test
  void paymentBeforeTheDeadlineMakesACancellationWrongInWhateverOrderTheyAreRead() {
    ledger.paid("a", START + 99);
    ledger.cancelled("a", START + 120, START + 100);
    ledger.cancelled("b", START + 120, START + 100);
    ledger.paid("b", START + 99);
    ledger.paid("b", START + 98);

    assertThat(ledger.summary(START + 200).paidYetCancelled()).isEqualTo(2);
  }

  @Test
  void paymentAtTheDeadlineIsTooLate() {
    ledger.paid("a", START + 100);
    ledger.cancelled("a", START + 120, START + 100);

    assertThat(ledger.summary(START + 200).paidYetCancelled()).isZero();
  }

  @Test
  void paymentOfTheLastRunIsKnownButNotCounted() {
    ledger.paid("a", START - 5_000);
    ledger.cancelled("a", START + 120, START + 100);
    OrderLedger.Summary sum = ledger.summary(START + 200);

    assertThat(sum.paid()).isZero();
    assertThat(sum.paidYetCancelled()).isEqualTo(1);
  }

  @Test
  void latenessIsThatOfTheLastMinute() {
    ledger.cancelled("old", START + 9_999, START);
    long now = START + 120_000;
    for (int i = 1; i <= 100; i++) {
      ledger.cancelled("o" + i, now, now - i);
    }
    OrderLedger.Summary sum = ledger.summary(now);

    assertThat(sum.latenesses()).isEqualTo(100);
    assertThat(sum.latenessP50Millis()).isEqualTo(50);
    assertThat(sum.latenessP99Millis()).isEqualTo(99);
  }

  @Test
  void whatWasDueBeforeTheServiceWasUpIsNotLate() {
    ledger.cancelled("a", START + 5_000, START - 1);
    OrderLedger.Summary sum = ledger.summary(START + 5_000);

    assertThat(sum.cancelled()).isEqualTo(1);
    assertThat(sum.latenesses()).isZero();
  }

  @Test
  void forgets() {
    for (int i = 0; i < 10_000; i++) {
      ledger.created("o" + i, START + i * 1_000L);
    }
    OrderLedger.Summary sum = ledger.summary(START + 9_999_000L);

    assertThat(sum.created()).isEqualTo(10_000);
    assertThat(sum.remembered()).isEqualTo(361);
  }

  @Test
  void reportSaysSo() {
    Report report =
        new Report(
            ledger,
            OptionalLong::empty,
            Clock.fixed(Instant.ofEpochMilli(START + 200), ZoneOffset.UTC),
            System.out);
    assertThat(report.line())
        .isEqualTo(
            "created 0 | paid 0 | closed 0 | cancelled 0 | pending ? | late p50 - p99 -"
                + " | conflicts 0 | paid yet cancelled 0");
    ledger.paid("a", START + 99);
    ledger.cancelled("a", START + 120, START + 100);
    ledger.conflict();
    assertThat(report.line())
        .isEqualTo(
            "created 0 | paid 1 | closed 0 | cancelled 1 | pending ? | late p50 20 ms p99 20 ms"
                + " | conflicts 1 | paid yet cancelled 1 <- must be 0");
    report.close();
  }
}
