package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.HistoryEvent.Cancellation;
import io.ordertimeout.it.oracle.HistoryEvent.Creation;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class VerdictTest {

  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant DEADLINE = CREATED.plusSeconds(10);

  @Test
  void countsLatenessAndRepetitionsWithoutReportingThem() {
    Verdict verdict =
        Verdict.of(
            List.of(
                cancelled("a", "e1", 10),
                cancelled("b", "e2", 20, 9_000),
                cancelled("c", "e3", 1_500)),
            DEADLINE.plusSeconds(60));
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.orders()).isEqualTo(3);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(3);
    assertThat(verdict.toString())
        .contains("lateness p50 20 ms, p99 1500 ms, max 1500 ms; 1 later than 1 s")
        .contains("1 repeated publications")
        .contains("violations: none");
  }

  @Test
  void reportsAnEventIdThatTwoOrdersShare() {
    Verdict verdict =
        Verdict.of(
            List.of(cancelled("a", "e1", 10), cancelled("b", "e1", 10)), DEADLINE.plusSeconds(60));
    assertThat(verdict.violations()).extracting(Violation::kind).containsExactly(Kind.WRONG_FIELDS);
    assertThat(verdict.toString()).contains("violations: {WRONG_FIELDS=1}", "event id e1");
  }

  private static OrderHistory cancelled(String orderId, String eventId, long... publishedAfter) {
    List<Cancellation> publications =
        LongStream.of(publishedAfter)
            .mapToObj(
                millis ->
                    new Cancellation(
                        new RecordPosition("cancelled", 0, millis),
                        DEADLINE.plusMillis(millis),
                        eventId,
                        "PAYMENT_TIMEOUT",
                        CREATED,
                        DEADLINE,
                        DEADLINE,
                        null))
            .toList();
    return new OrderHistory(
        orderId,
        List.of(new Creation(new RecordPosition("created", 0, 0), CREATED, CREATED, DEADLINE)),
        List.of(),
        List.of(),
        publications,
        List.of(),
        new OrderRow("CANCELLED", CREATED, DEADLINE, DEADLINE, null));
  }
}
