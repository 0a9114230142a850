package io.ordertimeout.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReportTest {

  @Test
  void formatsAMarkdownTable() {
    MarkdownTable table = new MarkdownTable("timers", "ns");
    table.row(List.of("a | b", "1"));
    assertThat(table)
        .hasToString(
            """
            | timers | ns |
            |---|---:|
            | a \\| b | 1 |
            """);
  }

  @Test
  void rejectsARowOfAnotherWidth() {
    MarkdownTable table = new MarkdownTable("timers", "ns");
    assertThatIllegalArgumentException().isThrownBy(() -> table.row(List.of("a")));
  }

  @Test
  void formatsValuesErrorsAndRatios() {
    Figure figure = new Figure("x", 250, 1.25);
    assertThat(CellFormat.of(Optional.of(figure))).isEqualTo("250 ± 1.25");
    assertThat(CellFormat.of(Optional.of(Figure.of("x", 12.34)))).isEqualTo("12.3");
    assertThat(CellFormat.of(Optional.empty())).isEqualTo("n/a");
    assertThat(CellFormat.ratio(Optional.of(figure), Optional.of(Figure.of("x", 100))))
        .isEqualTo("2.50 x");
  }

  @Test
  void parsesTheFiguresItPrints() {
    Figure figure = new Figure("x", 1.5, 0.25);
    assertThat(Figure.parse(figure.line())).contains(figure);
    assertThat(Figure.parse("something else")).isEmpty();
  }

  @Test
  void subtractsTheBaseline() {
    Outcome outcome = new Outcome(List.of(new Figure("x", 10, 3)), "");
    Outcome own = new Outcome(List.of(new Figure("x", 4, 4)), "");
    assertThat(outcome.figure("x", own)).contains(new Figure("x", 6, 5));
  }

  @Test
  void computesTheErrorOfAMean() {
    Sample sample = new Sample();
    sample.add(1);
    sample.add(2);
    sample.add(3);
    assertThat(sample.mean()).isEqualTo(2);
    assertThat(sample.error()).isCloseTo(31.60 / Math.sqrt(3), within(1e-9));
  }

  @Test
  void computesPercentiles() {
    LatencyHistogram latencies = new LatencyHistogram();
    for (int micros = 1; micros <= 1000; micros++) {
      latencies.record(micros * 1000L);
    }
    assertThat(latencies.micros(0.5)).isCloseTo(500, within(500 / 32.0));
    assertThat(latencies.micros(0.99)).isCloseTo(990, within(990 / 32.0));
    assertThat(latencies.micros(1)).isEqualTo(1000);
    assertThat(latencies.maxMicros()).isEqualTo(1000);
  }

  @Test
  void parsesTheCommandLine() {
    Options options = Options.of("--quick", "--sizes=1000,20000", "--out=x.md");
    assertThat(options.sizes()).containsExactly(1000, 20_000);
    assertThat(options.quick()).isTrue();
    assertThat(options.out()).isEqualTo(Path.of("x.md"));
    assertThat(options.upTo(10_000)).isEqualTo(1000);
    assertThatIllegalArgumentException().isThrownBy(() -> Options.of("--slow"));
    assertThatIllegalArgumentException().isThrownBy(() -> Options.of("--sizes=many"));
    assertThatIllegalArgumentException().isThrownBy(() -> Options.of("--sizes=1"));
  }
}
