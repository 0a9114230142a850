package io.ordertimeout.it.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The sum of a metric. */
class ExpositionTest {

  private static final String TEXT =
      """
      # HELP events_total events read
      # TYPE events_total counter
      events_total{application="a",event="created"} 3.0
      events_total{application="a",event="paid"} 4.0
      events_total_of_others{event="paid"} 100.0
      pending 1.5E3
      """;

  @Test
  void itIsTakenOverTheSeriesThatHaveTheLabels() {
    assertThat(Exposition.sum(TEXT, "events_total")).hasValue(7);
    assertThat(Exposition.sum(TEXT, "events_total", "event=\"paid\"")).hasValue(4);
    assertThat(Exposition.sum(TEXT, "pending")).hasValue(1_500);
  }

  @Test
  void aMetricThatIsNotExportedHasNone() {
    assertThat(Exposition.sum(TEXT, "events")).isEmpty();
    assertThat(Exposition.sum(TEXT, "events_total", "event=\"closed\"")).isEmpty();
  }
}
