package dev.sluice.lab.bench;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * Figures of a run.
 *
 * @param scenario name of the scenario
 * @param workloads number of workloads
 * @param wallSeconds time from the first creation to the last end
 * @param idealSeconds the same if only quota limited the run
 * @param admissionsPerSecond admissions over the wall time
 * @param quotaUse part of the nominal quota that was held over the wall time, from 0 to 1, or more
 *     if a queue holds more than it can use
 * @param waits seconds from creation to admission, by class
 * @param writes writes during the run, by author
 * @param operatorWritesPerWorkload all writes of the operator
 * @param operatorCpuMillisPerWorkload CPU time of the operator's process
 * @param operatorCpuMillisInLastThird CPU time of the operator's process for each of the last
 *     workloads, a third of all or fewer; empty if the run was too short to tell
 * @param apiServerCpuMillisPerWorkload CPU time of the API server's process
 * @param runnerCpuMillisPerWorkload CPU time of this process, which is not part of the installation
 * @param peakRssMiB peak resident memory of the operator's process since its start
 * @param mostLateSeconds maximum delay of a creation behind its schedule
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
    OptionalDouble operatorCpuMillisInLastThird,
    double apiServerCpuMillisPerWorkload,
    double runnerCpuMillisPerWorkload,
    double peakRssMiB,
    double mostLateSeconds) {

  /**
   * Readings taken at one time.
   *
   * @param server the API server's metrics
   * @param operator the operator's process
   * @param runner this process
   * @param own requests that the benchmark has sent
   * @param audited writes by name of the user; empty if the server writes no audit log
   */
  record Reading(
      ServerReading server,
      ProcessReading operator,
      ProcessReading runner,
      Map<RequestKey, Long> own,
      Map<String, Map<RequestKey, Long>> audited) {}

  /**
   * A reading during the run.
   *
   * @param finished how many workloads have ended
   * @param operator the operator's process
   */
  record Partial(int finished, ProcessReading operator) {}

  /**
   * Computes the figures from the timings and the readings before and after the run.
   *
   * @param lastThird the reading with which the last third of the workloads begins
   */
  static Figures of(
      Scenario scenario,
      Timings timings,
      Reading before,
      Optional<Partial> lastThird,
      Reading after) {
    int size = scenario.size();
    double wall = timings.wallSeconds();
    Attribution writes = attribution(before, after);
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
        lastThird.isPresent() && lastThird.get().finished() < size
            ? OptionalDouble.of(
                millis(lastThird.get().operator(), after.operator())
                    / (size - lastThird.get().finished()))
            : OptionalDouble.empty(),
        (after.server().cpuSeconds() - before.server().cpuSeconds()) * 1000 / size,
        millis(before.runner(), after.runner()) / size,
        after.operator().peakResidentKiB() / 1024.0,
        timings.mostLateSeconds());
  }

  private static Attribution attribution(Reading before, Reading after) {
    if (after.audited().isEmpty()) {
      return Attribution.of(
          after.server().writesSince(before.server()), difference(after.own(), before.own()));
    }
    Map<String, Map<RequestKey, Long>> byUser = new TreeMap<>();
    after
        .audited()
        .forEach(
            (user, writes) ->
                byUser.put(
                    user, difference(writes, before.audited().getOrDefault(user, Map.of()))));
    return Attribution.of(byUser, Installation.OPERATOR, Installation.RUNNER);
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
