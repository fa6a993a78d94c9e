package dev.sluice.lab.bench.month;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Draws lines over a common axis as an SVG document. */
public final class SvgChart {

  private static final int WIDTH = 720;
  private static final int HEIGHT = 300;
  private static final int LEFT = 64;
  private static final int RIGHT = 16;
  private static final int TOP = 34;
  private static final int BOTTOM = 44;
  private static final int TICKS = 5;
  private static final List<String> COLORS =
      List.of("#1f6feb", "#d1481f", "#2e8b57", "#8250df", "#b08800", "#57606a");

  private record Line(String name, double[] across, double[] up) {}

  private final String title;
  private final String across;
  private final String up;
  private final boolean logarithmic;
  private final List<Line> lines = new ArrayList<>();

  /**
   * An empty chart.
   *
   * @param logarithmic whether the scale upwards is logarithmic; then it begins at 1
   */
  public SvgChart(String title, String across, String up, boolean logarithmic) {
    this.title = title;
    this.across = across;
    this.up = up;
    this.logarithmic = logarithmic;
  }

  /**
   * Adds a line.
   *
   * @param x where the points are; increasing
   * @param y their values; not negative
   * @throws IllegalArgumentException if there are not as many of both
   */
  public SvgChart line(String name, double[] x, double[] y) {
    if (x.length != y.length) {
      throw new IllegalArgumentException(name + " has " + x.length + " x and " + y.length + " y");
    }
    lines.add(new Line(name, x, y));
    return this;
  }

  /** The document. */
  public String svg() {
    double right = most(true);
    double top = logarithmic ? Math.pow(10, Math.ceil(log(most(false)))) : ceiling(most(false));
    StringBuilder svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
            + " height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">",
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT);
    add(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, HEIGHT);
    text(svg, LEFT, 16, "start", "<tspan font-weight=\"bold\">" + escaped(title) + "</tspan>");
    text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8, "middle", escaped(across));
    text(svg, LEFT, 29, "start", escaped(up));
    for (double tick : logarithmic ? powers(top) : steps(top)) {
      double y = y(tick, top);
      add(
          svg,
          "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#d0d7de\"/>",
          LEFT,
          y,
          WIDTH - RIGHT,
          y);
      text(svg, LEFT - 6, y + 4, "end", number(tick));
    }
    for (double tick : steps(ceiling(right))) {
      if (tick <= right) {
        text(svg, x(tick, right), HEIGHT - BOTTOM + 16, "middle", number(tick));
      }
    }
    for (int i = 0; i < lines.size(); i++) {
      draw(svg, lines.get(i), COLORS.get(i % COLORS.size()), right, top);
      legend(svg, i);
    }
    return svg.append("</svg>\n").toString();
  }

  private void draw(StringBuilder svg, Line line, String color, double right, double top) {
    StringBuilder points = new StringBuilder();
    for (int i = 0; i < line.across.length; i++) {
      points.append(
          String.format(Locale.ROOT, "%.1f,%.1f ", x(line.across[i], right), y(line.up[i], top)));
    }
    add(
        svg,
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\" points=\"%s\"/>",
        color,
        points.toString().strip());
  }

  private void legend(StringBuilder svg, int line) {
    double x = WIDTH - RIGHT - 130.0 * (lines.size() - line) + 20;
    add(
        svg,
        "<rect x=\"%.1f\" y=\"21\" width=\"10\" height=\"3\" fill=\"%s\"/>",
        x,
        COLORS.get(line % COLORS.size()));
    text(svg, x + 14, 27, "start", escaped(lines.get(line).name));
  }

  private static void add(StringBuilder svg, String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private static void text(StringBuilder svg, double x, double y, String anchor, String inner) {
    add(
        svg,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#24292f\">%s</text>",
        x,
        y,
        anchor,
        inner);
  }

  private static double x(double value, double right) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (right == 0 ? 0 : value / right);
  }

  private double y(double value, double top) {
    double part = logarithmic ? Math.max(0, log(value)) / log(top) : value / top;
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part;
  }

  private static double log(double value) {
    return Math.log10(Math.max(1, value));
  }

  private double most(boolean ofAcross) {
    double most = 0;
    for (Line line : lines) {
      for (double value : ofAcross ? line.across : line.up) {
        most = Math.max(most, value);
      }
    }
    return Math.max(most, logarithmic && !ofAcross ? 10 : 1e-9);
  }

  /** The next of 1, 2, 2.5, 5 and 10 times a power of ten. */
  private static double ceiling(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    for (double factor : new double[] {1, 2, 2.5, 5}) {
      if (value <= factor * power) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private static double[] steps(double top) {
    double[] ticks = new double[TICKS + 1];
    for (int i = 0; i <= TICKS; i++) {
      ticks[i] = top * i / TICKS;
    }
    return ticks;
  }

  private static double[] powers(double top) {
    double[] ticks = new double[(int) Math.round(log(top)) + 1];
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = Math.pow(10, i);
    }
    return ticks;
  }

  private static String number(double value) {
    return value >= 100 || value == Math.rint(value)
        ? String.format(Locale.ROOT, "%,.0f", value)
        : String.format(Locale.ROOT, "%.2f", value);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
