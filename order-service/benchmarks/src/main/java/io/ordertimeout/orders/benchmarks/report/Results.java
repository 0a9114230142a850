package io.ordertimeout.orders.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of all measurements, by section, row and column, of all runs. */
public final class Results {

  /** The figures of one section. */
  public static final class Section {

    private final String explanation;
    private final Map<String, Map<String, List<Double>>> rows = new LinkedHashMap<>();
    private final List<String> columns = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<Plot> plots = new ArrayList<>();

    private Section(String explanation) {
      this.explanation = explanation;
    }

    /** Adds the figure of one run. */
    public void add(String row, String column, double value) {
      if (!columns.contains(column)) {
        columns.add(column);
      }
      rows.computeIfAbsent(row, key -> new LinkedHashMap<>())
          .computeIfAbsent(column, key -> new ArrayList<>())
          .add(value);
    }

    /** Adds what a reader has to know about a figure. */
    public void note(String note) {
      notes.add(note);
    }

    public void plot(Plot plot) {
      plots.add(plot);
    }

    String explanation() {
      return explanation;
    }

    List<String> rows() {
      return List.copyOf(rows.keySet());
    }

    List<String> columns() {
      return List.copyOf(columns);
    }

    /** The sorted figures of all runs; none if it was not measured. */
    double[] values(String row, String column) {
      double[] values =
          rows.getOrDefault(row, Map.of()).getOrDefault(column, List.of()).stream()
              .mapToDouble(Double::doubleValue)
              .toArray();
      Arrays.sort(values);
      return values;
    }

    List<String> notes() {
      return List.copyOf(notes);
    }

    List<Plot> plots() {
      return List.copyOf(plots);
    }
  }

  private final Map<String, Section> sections = new LinkedHashMap<>();

  /** Returns the section of that title; the first call creates it. */
  public Section section(String title, String explanation) {
    return sections.computeIfAbsent(title, key -> new Section(explanation));
  }

  Map<String, Section> sections() {
    return sections;
  }
}
