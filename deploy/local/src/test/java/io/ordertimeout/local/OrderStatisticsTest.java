package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OrderStatisticsTest {
  private static final long START = 1_000_000;

  private final OrderStatistics statistics =
      new OrderStatistics(START, START, Duration.ofMinutes(6));

  @Test
  void countsEachOrderOnce() {
    for (int i = 0; i < 3; i++) {
      statistics.created("a", START + i);
      statistics.paid("a", START + i);
      statistics.closed("b", START + i);
      statistics.cancelled("c", START + i, START);
    }
    OrderStatistics.Summary sum = statistics.summary(START + 10);

    assertThat(sum.created()).isEqualTo(1);
    assertThat(sum.paid()).isEqualTo(1);
    assertThat(sum.closed()).isEqualTo(1);
    assertThat(sum.cancelled()).isEqualTo(1);
    assertThat(sum.latenesses()).isEqualTo(1);
  }

  @Test
  void countsACancellationDespiteAPaymentInTimeInEitherReadingOrder() {
    statistics.paid("a", START + 99);
    statistics.cancelled("a", START + 120, START + 100);
    statistics.cancelled("b", START + 120, START + 100);
    statistics.paid("b", START + 99);
    statistics.paid("b", START + 98);

    assertThat(statistics.summary(START + 200).paidYetCancelled()).isEqualTo(2);
  }

  @Test
  void doesNotCountAPaymentAtTheDeadline() {
    statistics.paid("a", START + 100);
    statistics.cancelled("a", START + 120, START + 100);

    assertThat(statistics.summary(START + 200).paidYetCancelled()).isZero();
  }

  @Test
  void remembersPaymentsOfThePreviousRunWithoutCountingThem() {
    statistics.paid("a", START - 5_000);
    statistics.cancelled("a", START + 120, START + 100);
    OrderStatistics.Summary sum = statistics.summary(START + 200);

    assertThat(sum.paid()).isZero();
    assertThat(sum.paidYetCancelled()).isEqualTo(1);
  }

  @Test
  void latenessCoversTheLastMinute() {
    statistics.cancelled("old", START + 9_999, START);
    long now = START + 120_000;
    for (int i = 1; i <= 100; i++) {
      statistics.cancelled("o" + i, now, now - i);
    }
    OrderStatistics.Summary sum = statistics.summary(now);

    assertThat(sum.latenesses()).isEqualTo(100);
    assertThat(sum.latenessP50Millis()).isEqualTo(50);
    assertThat(sum.latenessP99Millis()).isEqualTo(99);
  }

  @Test
  void latenessIgnoresOrdersDueBeforeTheServiceWasReady() {
    statistics.cancelled("a", START + 5_000, START - 1);
    OrderStatistics.Summary sum = statistics.summary(START + 5_000);

    assertThat(sum.cancelled()).isEqualTo(1);
    assertThat(sum.latenesses()).isZero();
  }

  @Test
  void forgetsOldOrders() {
    for (int i = 0; i < 10_000; i++) {
      statistics.created("o" + i, START + i * 1_000L);
    }
    OrderStatistics.Summary sum = statistics.summary(START + 9_999_000L);

    assertThat(sum.created()).isEqualTo(10_000);
    assertThat(sum.remembered()).isEqualTo(361);
  }

  @Test
  void printsTheReport() {
    List<String> pauses = new ArrayList<>();
    ReportPrinter printer =
        new ReportPrinter(
            statistics,
            OptionalLong::empty,
            () -> pauses,
            Clock.fixed(Instant.ofEpochMilli(START + 200), ZoneOffset.UTC),
            System.out);
    assertThat(printer.lines())
        .containsExactly(
            "created 0 | paid 0 | closed 0 | warned 0 | cancelled 0 | pending ? | lateness p50 -, p99 -"
                + " | conflicts 0 | paid yet cancelled 0");
    statistics.paid("a", START + 99);
    statistics.cancelled("a", START + 120, START + 100);
    statistics.conflict();
    pauses.add("Expiry was paused");
    assertThat(printer.lines())
        .containsExactly(
            "created 0 | paid 1 | closed 0 | warned 0 | cancelled 1 | pending ? | lateness p50 20 ms, p99 20 ms"
                + " | conflicts 1 | paid yet cancelled 1 (must be 0)",
            "Expiry was paused");
    printer.close();
  }
}
