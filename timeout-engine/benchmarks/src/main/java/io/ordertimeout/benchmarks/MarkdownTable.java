package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A Markdown table whose first column is text and whose other columns are numbers. */
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
   * @throws IllegalArgumentException if the number of cells differs from the number of headers
   */
  void row(List<String> cells) {
    if (cells.size() != columns) {
      throw new IllegalArgumentException("expected " + columns + " cells: " + cells.size());
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
