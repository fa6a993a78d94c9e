package dev.sluice.lab.bench;

import dev.sluice.lab.bench.BenchmarkApiClient.ServerReading;
import dev.sluice.lab.bench.Figures.Attribution;
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

  /** Those of the operator's writes that are Events. */
  double operatorEventsPerWorkload() {
    return (double) writes.operatorEvents() / workloads;
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

  /**
   * Attributes writes to their authors. The API server's metrics do not report who sent a request;
   * where it writes no audit log, authors are found by exclusion: the benchmark's own writes are
   * subtracted exactly; of the rest, the operator's are writes to the API that it serves, writes to
   * Jobs themselves (cluster controllers write only their status), and Events. Where pods run,
   * Events of the core group belong to the controllers, and one Event of the newer group per bound
   * pod belongs to the scheduler.
   *
   * @param operator writes of the operator
   * @param others writes of the cluster's own programs: leases, nodes, pods
   * @param writers the others by name, where the server says who they are; empty if it doesn't
   */
  record Attribution(
      Map<RequestKey, Long> operator,
      Map<RequestKey, Long> others,
      Map<String, Map<RequestKey, Long>> writers) {

    private static final String SERVED = "kueue.x-k8s.io";
    private static final String EVENTS = "events.k8s.io";
    private static final String LEASES = "coordination.k8s.io";

    /** Divides all writes, given the benchmark's {@code own}. */
    static Attribution of(Map<RequestKey, Long> all, Map<RequestKey, Long> own) {
      Map<RequestKey, Long> operator = new TreeMap<>();
      Map<RequestKey, Long> others = new TreeMap<>();
      long bindings =
          all.entrySet().stream()
              .filter(each -> each.getKey().resource().equals("pods"))
              .filter(each -> each.getKey().subresource().equals("binding"))
              .mapToLong(Map.Entry::getValue)
              .sum();
      boolean podsRun = bindings > 0;
      all.forEach(
          (key, count) -> {
            long rest = count - own.getOrDefault(key, 0L);
            if (key.group().equals(EVENTS) && key.verb().equals("POST")) {
              long scheduler = Math.min(bindings, rest);
              put(others, key, scheduler);
              put(operator, key, rest - scheduler);
            } else {
              put(mayBeOperator(key, podsRun) ? operator : others, key, rest);
            }
          });
      return new Attribution(operator, others, Map.of());
    }

    /**
     * Divides writes whose authors are known. The lease of the operator is no work, and counts as
     * others' writes.
     *
     * @param byUser all writes, by name of the user
     * @param operator the operator's name
     * @param runner the benchmark's name
     */
    static Attribution of(
        Map<String, Map<RequestKey, Long>> byUser, String operator, String runner) {
      Map<RequestKey, Long> work = new TreeMap<>();
      Map<RequestKey, Long> rest = new TreeMap<>();
      Map<String, Map<RequestKey, Long>> writers = new TreeMap<>();
      byUser.forEach(
          (user, writes) ->
              writes.forEach(
                  (key, count) -> {
                    if (user.equals(operator) && !key.group().equals(LEASES)) {
                      put(work, key, count);
                    } else if (!user.equals(runner) && count > 0) {
                      rest.merge(key, count, Long::sum);
                      put(writers.computeIfAbsent(user, any -> new TreeMap<>()), key, count);
                    }
                  }));
      return new Attribution(work, rest, writers);
    }

    private static void put(Map<RequestKey, Long> writes, RequestKey key, long count) {
      if (count > 0) {
        writes.put(key, count);
      }
    }

    private static boolean mayBeOperator(RequestKey key, boolean podsRun) {
      return key.group().equals(SERVED)
          || key.group().equals(EVENTS)
          || (key.resource().equals("events") && !podsRun)
          || (key.group().equals("batch")
              && key.resource().equals("jobs")
              && key.subresource().isEmpty());
    }

    /** The total of the operator's writes. */
    long operatorTotal() {
      return operator.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Those of the operator's writes that only tell people something: Events. */
    long operatorEvents() {
      return operator.entrySet().stream()
          .filter(each -> each.getKey().isEvent())
          .mapToLong(Map.Entry::getValue)
          .sum();
    }
  }
}
