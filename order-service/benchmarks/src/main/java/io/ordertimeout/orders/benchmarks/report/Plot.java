package io.ordertimeout.orders.benchmarks.report;

import java.util.List;
import java.util.Locale;

/**
 * Lines over time, drawn as SVG.
 *
 * @param title what is drawn, and its unit
 * @param lines one for each kind of value
 */
public record Plot(String title, List<Line> lines) {

  /**
   * A value for each second, or for whatever else the title says.
   *
   * @param name its name in the legend
   * @param values the values
   */
  public record Line(String name, List<Double> values) {

    public Line {
      values = List.copyOf(values);
    }

    private double max() {
      return values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }
  }

  private static final int WIDTH = 560;
  private static final int HEIGHT = 180;
  private static final int LEFT = 50;
  private static final int TOP = 24;
  private static final int BOTTOM = 20;
  private static final String[] COLOURS = {"#1f6feb", "#d1242f", "#1a7f37", "#9a6700"};

  public Plot {
    lines = List.copyOf(lines);
  }

  /** Returns the drawing. */
  String svg() {
    double max = Math.max(1e-9, lines.stream().mapToDouble(Line::max).max().orElse(0));
    int seconds = lines.stream().mapToInt(line -> line.values().size()).max().orElse(0);
    StringBuilder svg = new StringBuilder();
    append(svg, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
    append(svg, "<title>%s</title>", HtmlReport.escape(title));
    append(
        svg, "<text x=\"%d\" y=\"14\" class=\"title\">%s</text>", LEFT, HtmlReport.escape(title));
    for (int quarter = 0; quarter <= 4; quarter += 2) {
      double y = y(max * quarter / 4, max);
      append(svg, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH);
      append(
          svg,
          "<text x=\"%d\" y=\"%.1f\" class=\"axis\">%s</text>",
          LEFT - 4,
          y + 4,
          Numbers.of(max * quarter / 4));
    }
    append(svg, "<text x=\"%d\" y=\"%d\" class=\"axis\">%d s</text>", WIDTH, HEIGHT - 5, seconds);
    for (int i = 0; i < lines.size(); i++) {
      String colour = COLOURS[i % COLOURS.length];
      append(svg, "<path class=\"line\" stroke=\"%s\" d=\"%s\"/>", colour, path(lines.get(i), max));
      append(
          svg,
          "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>",
          LEFT + 110 * i,
          HEIGHT - 5,
          colour,
          HtmlReport.escape(lines.get(i).name()));
    }
    return svg.append("</svg>").toString();
  }

  private static String path(Line line, double max) {
    StringBuilder path = new StringBuilder();
    double step = (double) (WIDTH - LEFT) / Math.max(1, line.values().size() - 1);
    for (int i = 0; i < line.values().size(); i++) {
      append(
          path, "%s%.1f %.1f", i == 0 ? "M" : "L", LEFT + i * step, y(line.values().get(i), max));
    }
    return path.toString();
  }

  private static double y(double value, double max) {
    return HEIGHT - BOTTOM - value / max * (HEIGHT - BOTTOM - TOP);
  }

  private static void append(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values));
  }
}
