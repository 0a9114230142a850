package io.ordertimeout.orders.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.benchmarks.report.Plot.Line;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {

  private final Results results = new Results();

  @Test
  void aFigureOfSeveralRunsIsTheMedianWithItsRange() {
    Results.Section section = results.section("Idle", "Nothing is due.");
    section.add("ours", "p99, ms", 12.34);
    section.add("ours", "p99, ms", 9);
    section.add("ours", "p99, ms", 1234.4);
    section.add("theirs", "orders/s", 0.5);
    section.note("theirs gave up");

    assertThat(MarkdownReport.of(List.of("2 cores"), results))
        .isEqualTo(
            """
            # Benchmarks of the order service

            - 2 cores

            ## Idle

            Nothing is due.

            |  | p99, ms | orders/s |
            |---|---:|---:|
            | ours | 12.3 (9–1,234) | – |
            | theirs | – | 0.50 |

            - theirs gave up
            """);
  }

  @Test
  void aPageContainsTablesAndPlotsAndNothingFromOutside() {
    Results.Section section = results.section("Lateness <x>", "From the deadline.");
    section.add("ours", "p99", 1);
    section.plot(new Plot("lateness, ms", List.of(new Line("p99", List.of(0.0, 10.0)))));

    assertThat(HtmlReport.of(List.of(), results))
        .contains("<h2>Lateness &lt;x&gt;</h2>", "<td>ours</td><td>1</td>")
        .contains("d=\"M50.0 160.0L560.0 24.0\"")
        .doesNotContain("http", "src=", "href=");
  }
}
