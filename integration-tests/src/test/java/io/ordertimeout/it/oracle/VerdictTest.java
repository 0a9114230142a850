package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.Entry.Cancellation;
import io.ordertimeout.it.oracle.Entry.Creation;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The sum of many histories. */
class VerdictTest {

  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant DEADLINE = CREATED.plusSeconds(10);

  @Test
  void latenessAndRepetitionsAreCountedAndNotHeldAgainstAnybody() {
    Verdict verdict =
        Verdict.of(
            List.of(
                cancelled("a", "e1", 10),
                cancelled("b", "e2", 20, 9_000),
                cancelled("c", "e3", 1_500)),
            DEADLINE.plusSeconds(60));
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.orders()).isEqualTo(3);
    assertThat(verdict.inState("CANCELLED")).isEqualTo(3);
    assertThat(verdict.toString())
        .contains("late p50 20 ms, p99 1500 ms, max 1500 ms, 1 by more than 1 s")
        .contains("1 publications repeated")
        .contains("violations: none");
  }

  @Test
  void anEventIdOfTwoOrdersIsAViolation() {
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
                        new Place("cancelled", 0, millis),
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
        List.of(new Creation(new Place("created", 0, 0), CREATED, CREATED, DEADLINE)),
        List.of(),
        List.of(),
        publications,
        List.of(),
        new TableRow("CANCELLED", CREATED, DEADLINE, DEADLINE, null));
  }
}
