package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A table of the report: one task at one size, one row for each contestant.
 *
 * @param title what it shows
 * @param task what is measured
 * @param size the pending timers
 * @param heap the most heap of the processes
 * @param kinds the rows
 * @param columns the figures shown
 * @param headers how the columns are headed
 * @param compared the figure whose ratio to ours is shown
 * @param own whether the benchmark's own share is taken off that figure
 */
record Section(
    String title,
    TaskKind task,
    int size,
    String heap,
    List<ContestantKind> kinds,
    List<String> columns,
    List<String> headers,
    String compared,
    boolean own) {

  private static final Outcome NONE = new Outcome(List.of(), "");

  /** Measures all rows and writes the table. */
  String measure(Effort effort, Progress progress) {
    Map<ContestantKind, Outcome> outcomes = new EnumMap<>(ContestantKind.class);
    Stream<ContestantKind> baselines =
        own ? kinds.stream().map(ContestantKind::baseline) : Stream.of();
    for (ContestantKind kind : Stream.concat(baselines, kinds.stream()).distinct().toList()) {
      if (size <= kind.mostPending()) {
        progress.say(task.option() + ", " + size + " pending: " + kind.title());
        outcomes.put(kind, MeasuringProcess.run(task, kind, size, effort, heap));
      }
    }
    return "## " + title + "\n\n" + table(outcomes) + notes(outcomes) + '\n';
  }

  private MarkdownTable table(Map<ContestantKind, Outcome> outcomes) {
    List<String> all = new ArrayList<>(List.of("contestant"));
    all.addAll(headers);
    ours().forEach(kind -> all.add("to " + kind.title()));
    MarkdownTable table = new MarkdownTable(all.toArray(new String[0]));
    for (ContestantKind kind : kinds) {
      List<String> row = new ArrayList<>(List.of(kind.title()));
      columns.forEach(column -> row.add(Cells.of(figure(column, kind, outcomes))));
      ours()
          .forEach(
              other ->
                  row.add(
                      Cells.ratio(
                          figure(compared, kind, outcomes), figure(compared, other, outcomes))));
      table.row(row);
    }
    return table;
  }

  private List<ContestantKind> ours() {
    return kinds.stream().filter(ContestantKind::ours).toList();
  }

  private Optional<Figure> figure(
      String name, ContestantKind kind, Map<ContestantKind, Outcome> outcomes) {
    Outcome outcome = outcomes.getOrDefault(kind, NONE);
    return own && name.equals(compared)
        ? outcome.figure(name, outcomes.getOrDefault(kind.baseline(), NONE))
        : outcome.figure(name);
  }

  private String notes(Map<ContestantKind, Outcome> outcomes) {
    StringBuilder notes = new StringBuilder();
    for (ContestantKind kind : kinds) {
      Outcome outcome = outcomes.get(kind);
      if (outcome == null) {
        notes
            .append("\n- ")
            .append(kind.title())
            .append(": cancels in O(n); not run at this size.");
      } else if (!outcome.failure().isEmpty()) {
        notes.append("\n- ").append(kind.title()).append(": failed, ").append(outcome.failure());
      }
    }
    return notes.isEmpty() ? "" : notes.append('\n').toString();
  }
}
