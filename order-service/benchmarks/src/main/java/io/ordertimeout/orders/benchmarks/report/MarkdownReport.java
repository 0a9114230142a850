package io.ordertimeout.orders.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The report for documents and terminals. */
public final class MarkdownReport {

  private MarkdownReport() {}

  /**
   * Writes all sections.
   *
   * @param about lines about the machine and the settings
   */
  public static String of(List<String> about, Results results) {
    StringBuilder text = new StringBuilder("# Benchmarks of the order service\n\n");
    about.forEach(line -> text.append("- ").append(line).append('\n'));
    results
        .sections()
        .forEach(
            (title, section) -> {
              text.append("\n## ").append(title).append("\n\n");
              text.append(section.explanation()).append("\n\n");
              text.append(table(section));
              section.notes().forEach(note -> text.append("\n- ").append(note));
              text.append(section.notes().isEmpty() ? "" : "\n");
            });
    return text.toString();
  }

  private static String table(Results.Section section) {
    List<String> columns = section.columns();
    StringBuilder table = new StringBuilder(row(prepend("", columns)));
    table.append("|---|").append("---:|".repeat(columns.size())).append('\n');
    for (String row : section.rows()) {
      List<String> cells =
          columns.stream().map(column -> Numbers.ofRuns(section.values(row, column))).toList();
      table.append(row(prepend(row, cells)));
    }
    return table.toString();
  }

  private static List<String> prepend(String first, List<String> others) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(others);
    return all;
  }

  private static String row(List<String> cells) {
    return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
  }
}
