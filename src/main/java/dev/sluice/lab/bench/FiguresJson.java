package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;

/** Writes figures as JSON. */
final class FiguresJson {

  private FiguresJson() {}

  /** Numbers are rounded to three decimal places. */
  static ObjectNode of(Figures figures) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("scenario", figures.scenario()).put("workloads", figures.workloads());
    put(root, "wallSeconds", figures.wallSeconds());
    put(root, "idealSeconds", figures.idealSeconds());
    put(root, "admissionsPerSecond", figures.admissionsPerSecond());
    put(root, "quotaUse", figures.quotaUse());
    put(root, "operatorWritesPerWorkload", figures.operatorWritesPerWorkload());
    put(root, "operatorCpuMillisPerWorkload", figures.operatorCpuMillisPerWorkload());
    figures
        .operatorCpuMillisInLastThird()
        .ifPresent(millis -> put(root, "operatorCpuMillisInLastThird", millis));
    put(root, "apiServerCpuMillisPerWorkload", figures.apiServerCpuMillisPerWorkload());
    put(root, "peakRssMiB", figures.peakRssMiB());
    put(root, "runnerCpuMillisPerWorkload", figures.runnerCpuMillisPerWorkload());
    put(root, "creationsLateSeconds", figures.mostLateSeconds());
    ObjectNode means = root.putObject("timeToAdmissionSeconds");
    figures.waits().forEach((name, waits) -> put(means, name, waits.mean()));
    ObjectNode classes = root.putObject("classes");
    figures.waits().forEach((name, waits) -> waits(classes.putObject(name), waits));
    writes(root.putObject("operatorWrites"), figures.writes().operator());
    writes(root.putObject("otherWrites"), figures.writes().others());
    ObjectNode writers = root.putObject("writers");
    figures.writes().writers().forEach((name, writes) -> writes(writers.putObject(name), writes));
    return root;
  }

  private static void waits(ObjectNode json, Timings.Waits waits) {
    json.put("count", waits.count());
    put(json, "timeToAdmissionSeconds", waits.mean());
    put(json, "medianSeconds", waits.median());
    put(json, "p99Seconds", waits.p99());
    put(json, "maxSeconds", waits.max());
  }

  private static void writes(ObjectNode json, Map<RequestKey, Long> writes) {
    writes.forEach((key, count) -> json.put(key.text(), json.path(key.text()).asLong(0) + count));
  }

  private static void put(ObjectNode json, String field, double value) {
    json.put(field, BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP));
  }
}
