package dev.sluice.lab.bench;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run cost.
 *
 * @param scenario its name
 * @param workloads how many there were
 * @param wallSeconds from the first creation to the last end
 * @param idealSeconds the same if nothing but quota took time
 * @param admissionsPerSecond over the wall time
 * @param quotaUse part of the nominal quota that was held, over the wall time; 0 to 1 or, where a
 *     queue holds more than it can use, more
 * @param waits seconds from creation to admission, by class
 * @param writes who wrote what during the run
 * @param operatorWritesPerWorkload all of the operator's writes
 * @param operatorCpuMillisPerWorkload of the operator's process
 * @param apiServerCpuMillisPerWorkload of the API server's process
 * @param runnerCpuMillisPerWorkload of this process, which is no part of the installation
 * @param peakRssMiB of the operator's process, since its start
 * @param mostLateSeconds how far creation fell behind its schedule
 */
record Figures(
    String scenario,
    int workloads,
    double wallSeconds,
    double idealSeconds,
    double admissionsPerSecond,
    double quotaUse,
    Map<String, Timings.Waits> waits,
    Attribution writes,
    double operatorWritesPerWorkload,
    double operatorCpuMillisPerWorkload,
    double apiServerCpuMillisPerWorkload,
    double runnerCpuMillisPerWorkload,
    double peakRssMiB,
    double mostLateSeconds) {

  /**
   * All that is read at one moment.
   *
   * @param server the API server's metrics
   * @param operator the operator's process
   * @param runner this process
   * @param own what the benchmark has sent
   */
  record Reading(
      ServerReading server,
      ProcessReading operator,
      ProcessReading runner,
      Map<RequestKey, Long> own) {}

  /** What follows from a run and what was read before and after it. */
  static Figures of(Scenario scenario, Timings timings, Reading before, Reading after) {
    int size = scenario.size();
    double wall = timings.wallSeconds();
    Attribution writes =
        Attribution.of(
            after.server().writesSince(before.server()), difference(after.own(), before.own()));
    return new Figures(
        scenario.name(),
        size,
        wall,
        scenario.idealSeconds(),
        wall == 0 ? 0 : size / wall,
        timings.quotaUse(scenario.nominalCpu()),
        timings.waits(),
        writes,
        (double) writes.operatorTotal() / size,
        millis(before.operator(), after.operator()) / size,
        (after.server().cpuSeconds() - before.server().cpuSeconds()) * 1000 / size,
        millis(before.runner(), after.runner()) / size,
        after.operator().peakResidentKiB() / 1024.0,
        timings.mostLateSeconds());
  }

  private static Map<RequestKey, Long> difference(
      Map<RequestKey, Long> after, Map<RequestKey, Long> before) {
    Map<RequestKey, Long> difference = new TreeMap<>(after);
    before.forEach((key, count) -> difference.merge(key, -count, Long::sum));
    return difference;
  }

  private static double millis(ProcessReading before, ProcessReading after) {
    Duration used = after.cpu().minus(before.cpu());
    return used.toNanos() / 1e6;
  }
}
