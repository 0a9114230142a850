package io.ordertimeout.orders.benchmarks.report;

import java.util.List;
import java.util.stream.Collectors;

/** The report as one page that needs nothing else, with plots. */
public final class HtmlReport {

  private static final String STYLE =
      """
      body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px; padding: 0 1rem; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
      th, td { border-bottom: 1px solid #d0d7de; padding: .25rem .7rem; text-align: right; }
      th:first-child, td:first-child { text-align: left; }
      .plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); }
      svg { width: 100%; } svg text { font-size: 11px; } svg .title { font-weight: 600; }
      svg .axis { fill: #57606a; text-anchor: end; } svg .grid { stroke: #d8dee4; }
      svg .line { fill: none; stroke-width: 1.4; }
      """;

  private HtmlReport() {}

  /**
   * Writes all sections.
   *
   * @param about lines about the machine and the settings
   */
  public static String of(List<String> about, Results results) {
    StringBuilder page =
        new StringBuilder("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">");
    page.append("<title>Benchmarks of the order service</title><style>").append(STYLE);
    page.append("</style><h1>Benchmarks of the order service</h1>").append(list(about));
    results
        .sections()
        .forEach(
            (title, section) -> {
              page.append("<h2>").append(escape(title)).append("</h2><p>");
              page.append(escape(section.explanation())).append("</p>");
              page.append(table(section)).append(list(section.notes()));
              page.append(
                  section.plots().stream()
                      .map(Plot::svg)
                      .collect(Collectors.joining("", "<div class=\"plots\">", "</div>")));
            });
    return page.append("</html>\n").toString();
  }

  private static String table(Results.Section section) {
    StringBuilder table = new StringBuilder("<table><tr><th></th>");
    section.columns().forEach(column -> cell(table, "th", column));
    for (String row : section.rows()) {
      table.append("</tr><tr>");
      cell(table, "td", row);
      section
          .columns()
          .forEach(column -> cell(table, "td", Numbers.ofRuns(section.values(row, column))));
    }
    return table.append("</tr></table>").toString();
  }

  private static void cell(StringBuilder table, String tag, String text) {
    table.append('<').append(tag).append('>').append(escape(text));
    table.append("</").append(tag).append('>');
  }

  private static String list(List<String> lines) {
    return lines.stream()
        .map(line -> "<li>" + escape(line) + "</li>")
        .collect(Collectors.joining("", "<ul>", "</ul>"));
  }

  static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
