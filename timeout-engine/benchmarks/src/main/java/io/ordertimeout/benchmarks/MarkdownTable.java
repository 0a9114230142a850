package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A table in Markdown. The first column is text, the others are numbers. */
final class MarkdownTable {

  private final int columns;
  private final List<List<String>> rows = new ArrayList<>();

  MarkdownTable(String... headers) {
    columns = headers.length;
    rows.add(List.of(headers));
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException if it has not as many cells as there are headers
   */
  void row(List<String> cells) {
    if (cells.size() != columns) {
      throw new IllegalArgumentException(columns + " cells expected, not " + cells.size());
    }
    rows.add(List.copyOf(cells));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(line(rows.get(0)));
    text.append("|---|").append("---:|".repeat(columns - 1)).append('\n');
    rows.stream().skip(1).map(MarkdownTable::line).forEach(text::append);
    return text.toString();
  }

  private static String line(List<String> cells) {
    return cells.stream()
        .map(cell -> cell.replace("|", "\\|"))
        .collect(Collectors.joining(" | ", "| ", " |\n"));
  }
}
