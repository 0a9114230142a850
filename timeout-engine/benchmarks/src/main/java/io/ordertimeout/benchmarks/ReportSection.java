package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A section of the report: one task at one size, with one row per implementation.
 *
 * @param title the heading
 * @param task the task
 * @param size the number of pending timers
 * @param heap the maximum heap of the processes
 * @param implementations the rows
 * @param columns the figures shown
 * @param headers the headers of the columns
 * @param compared the figure whose ratio to this engine is shown
 * @param subtractsBaseline whether the benchmark's own cost is subtracted from that figure
 */
record ReportSection(
    String title,
    TaskType task,
    int size,
    String heap,
    List<Implementation> implementations,
    List<String> columns,
    List<String> headers,
    String compared,
    boolean subtractsBaseline) {

  private static final Outcome NONE = new Outcome(List.of(), "");

  /** Measures all rows and returns the section as Markdown. */
  String measure(Effort effort, Progress progress) {
    Map<Implementation, Outcome> outcomes = new EnumMap<>(Implementation.class);
    Stream<Implementation> baselines =
        subtractsBaseline ? implementations.stream().map(Implementation::baseline) : Stream.of();
    for (Implementation implementation :
        Stream.concat(baselines, implementations.stream()).distinct().toList()) {
      if (size <= implementation.maxPending()) {
        progress.log(task.option() + ", " + size + " pending: " + implementation.title());
        outcomes.put(
            implementation, MeasuringProcess.run(task, implementation, size, effort, heap));
      }
    }
    return "## " + title + "\n\n" + table(outcomes) + notes(outcomes) + '\n';
  }

  private MarkdownTable table(Map<Implementation, Outcome> outcomes) {
    List<String> all = new ArrayList<>(List.of("implementation"));
    all.addAll(headers);
    ours().forEach(implementation -> all.add("relative to " + implementation.title()));
    MarkdownTable table = new MarkdownTable(all.toArray(new String[0]));
    for (Implementation implementation : implementations) {
      List<String> row = new ArrayList<>(List.of(implementation.title()));
      columns.forEach(column -> row.add(CellFormat.of(figure(column, implementation, outcomes))));
      ours()
          .forEach(
              other ->
                  row.add(
                      CellFormat.ratio(
                          figure(compared, implementation, outcomes),
                          figure(compared, other, outcomes))));
      table.row(row);
    }
    return table;
  }

  private List<Implementation> ours() {
    return implementations.stream().filter(Implementation::isOurs).toList();
  }

  private Optional<Figure> figure(
      String name, Implementation implementation, Map<Implementation, Outcome> outcomes) {
    Outcome outcome = outcomes.getOrDefault(implementation, NONE);
    return subtractsBaseline && name.equals(compared)
        ? outcome.figure(name, outcomes.getOrDefault(implementation.baseline(), NONE))
        : outcome.figure(name);
  }

  private String notes(Map<Implementation, Outcome> outcomes) {
    StringBuilder notes = new StringBuilder();
    for (Implementation implementation : implementations) {
      Outcome outcome = outcomes.get(implementation);
      if (outcome == null) {
        notes
            .append("\n- ")
            .append(implementation.title())
            .append(": not run at this size, because cancelling is O(n).");
      } else if (!outcome.failure().isEmpty()) {
        notes
            .append("\n- ")
            .append(implementation.title())
            .append(": failed, ")
            .append(outcome.failure());
      }
    }
    return notes.isEmpty() ? "" : notes.append('\n').toString();
  }
}
