package dev.sluice.lab.bench;

import java.util.Locale;
import java.util.Map;

/** Writes figures as text. */
final class FiguresText {

  private FiguresText() {}

  /** A table that ends with a line break, with how many times the floor each cost was. */
  static String of(Figures figures, FloorRatios floor) {
    StringBuilder text = new StringBuilder(of(figures));
    ratio(text, "wall time / floor", figures.wallSeconds() / floor.wallSeconds());
    ratio(text, "operator writes / floor", figures.operatorWritesPerWorkload() / floor.writes());
    ratio(
        text,
        "API server CPU / floor",
        figures.apiServerCpuMillisPerWorkload() / floor.apiServerCpuMillis());
    return text.toString();
  }

  private static void ratio(StringBuilder text, String name, double value) {
    line(text, name, "%.2f", value);
  }

  /** A table that ends with a line break. */
  static String of(Figures figures) {
    StringBuilder text = new StringBuilder();
    line(text, "scenario", "%s, %d workloads", figures.scenario(), figures.workloads());
    line(
        text,
        "wall time",
        "%.1f s (ideal %.1f s); creation up to %.1f s behind its schedule",
        figures.wallSeconds(),
        figures.idealSeconds(),
        figures.mostLateSeconds());
    line(text, "admissions", "%.1f /s", figures.admissionsPerSecond());
    figures
        .waits()
        .forEach(
            (name, waits) ->
                line(
                    text,
                    "time to admission, " + name,
                    "mean %.2f s, median %.2f s, p99 %.2f s, max %.2f s",
                    waits.mean(),
                    waits.median(),
                    waits.p99(),
                    waits.max()));
    line(text, "quota use", "%.1f %%", figures.quotaUse() * 100);
    line(text, "operator writes", "%.3f /workload", figures.operatorWritesPerWorkload());
    writes(text, figures.writes().operator(), figures.workloads());
    line(text, "operator CPU", "%.2f ms/workload", figures.operatorCpuMillisPerWorkload());
    figures
        .operatorCpuMillisInLastThird()
        .ifPresent(millis -> line(text, "  in the last third", "%.2f ms/workload", millis));
    line(text, "operator peak RSS", "%.0f MiB", figures.peakRssMiB());
    line(text, "API server CPU", "%.2f ms/workload", figures.apiServerCpuMillisPerWorkload());
    line(text, "this runner's CPU", "%.2f ms/workload", figures.runnerCpuMillisPerWorkload());
    figures
        .writes()
        .writers()
        .forEach(
            (name, writes) -> {
              line(text, "writes of", "%s", name);
              writes(text, writes, figures.workloads());
            });
    if (figures.writes().writers().isEmpty() && !figures.writes().others().isEmpty()) {
      line(text, "others' writes", "of the cluster's own programs");
      writes(text, figures.writes().others(), figures.workloads());
    }
    return text.toString();
  }

  private static void writes(StringBuilder text, Map<RequestKey, Long> writes, int workloads) {
    writes.forEach(
        (key, count) ->
            line(
                text, "  " + key.text(), "%d (%.3f /workload)", count, (double) count / workloads));
  }

  private static void line(StringBuilder text, String name, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-36s", name))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }
}
