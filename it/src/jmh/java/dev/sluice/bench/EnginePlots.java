package dev.sluice.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

/** Draws the tables of the page on performance: how each figure grows. */
public final class EnginePlots {

  /** A line of the engine's table; columns as {@link EngineTable} prints them. */
  private record Line(
      long pending, long queues, long perCohort, long shapes, double rate, double p99, long bytes) {

    static Line of(String[] cells) {
      return new Line(
          number(cells[1]),
          number(cells[2]),
          number(cells[3]),
          number(cells[4]),
          number(cells[6].replaceAll("\\(.*", "")),
          Double.parseDouble(cells[7].strip()),
          number(cells[9]));
    }

    private static long number(String cell) {
      return Long.parseLong(cell.replace(",", "").strip(), 10);
    }
  }

  private EnginePlots() {}

  /**
   * Draws.
   *
   * @param args the page with the table, and the directory for the plots
   * @throws IOException when one can't be read or written
   */
  public static void main(String[] args) throws IOException {
    List<Line> lines = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] cells = line.split("\\|", -1);
      if (cells.length == 11 && cells[5].strip().equals("none")) {
        lines.add(Line.of(cells));
      }
    }
    // 50,000 are for the comparison of policies, not a step of the scale.
    lines.removeIf(line -> line.perCohort != 10 || line.shapes != 20 || line.pending == 50_000);
    Path into = Path.of(args[1]);
    Files.createDirectories(into);
    draw(into, "decisions-by-queues", "ClusterQueues", "decisions/s", lines, Line::rate, true);
    draw(
        into, "decisions-by-pending", "pending Workloads", "decisions/s", lines, Line::rate, false);
    draw(into, "cycle-p99", "pending Workloads", "99 % of cycles, ms", lines, Line::p99, false);
    draw(
        into,
        "bytes-per-pending",
        "pending Workloads",
        "bytes per pending Workload",
        lines,
        line -> (double) line.bytes,
        false);
    drawPlacements(Files.readAllLines(Path.of(args[0])), into);
  }

  /** Draws how the search for places grows, from the table that {@link TopologyLatency} prints. */
  private static void drawPlacements(List<String> page, Path into) throws IOException {
    Map<String, Map<Long, Double>> series = new TreeMap<>();
    for (String line : page) {
      String[] cells = line.split("\\|", -1);
      if (cells.length > 6 && cells[1].strip().startsWith("one placement, ")) {
        series
            .computeIfAbsent(cells[1].split(",", -1)[1].strip(), key -> new TreeMap<>())
            .put(Line.number(cells[2]), Double.parseDouble(cells[6].strip()));
      }
    }
    XYChart chart = chart("nodes", "99 % of searches for 64 pods, ms of CPU time");
    series.forEach((asked, points) -> add(chart, asked, points));
    BitmapEncoder.saveBitmap(chart, into.resolve("placements").toString(), BitmapFormat.PNG);
  }

  private static XYChart chart(String across, String up) {
    XYChart chart =
        new XYChartBuilder().width(640).height(400).xAxisTitle(across).yAxisTitle(up).build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    return chart;
  }

  private static void add(XYChart chart, String name, Map<Long, Double> points) {
    chart.addSeries(name, new ArrayList<>(points.keySet()), new ArrayList<>(points.values()));
  }

  private static void draw(
      Path into,
      String name,
      String across,
      String up,
      List<Line> lines,
      Function<Line, Double> figure,
      boolean byQueues)
      throws IOException {
    XYChart chart = chart(across, up);
    Map<Long, Map<Long, Double>> series = new TreeMap<>();
    for (Line line : lines) {
      series
          .computeIfAbsent(byQueues ? line.pending : line.queues, key -> new TreeMap<>())
          .put(byQueues ? line.queues : line.pending, figure.apply(line));
    }
    series.forEach(
        (key, points) ->
            add(chart, "%,d %s".formatted(key, byQueues ? "pending" : "ClusterQueues"), points));
    BitmapEncoder.saveBitmap(chart, into.resolve(name).toString(), BitmapFormat.PNG);
  }
}
