package dev.sluice.core.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * One StrictFIFO queue with back-fill, as docs/backfill.md says it, without a thought for cost: all
 * in whole seconds, and every question is answered by looking at every instant.
 */
final class NaiveBackfill {

  /** What a run has its quota longer than its limit at most: a minute, and a second of rounding. */
  static final long OVERHEAD = 61;

  /** One that waits; {@code limit} in seconds, empty if there is none. */
  record Job(String name, int cpu, long priority, long order, OptionalLong limit) {

    long longest() {
      return limit.isPresent() ? limit.getAsLong() + OVERHEAD : Long.MAX_VALUE;
    }
  }

  /** One that runs, until {@code end} at most. */
  record Run(Job job, int flavor, long since, long end) {

    boolean covers(long at) {
      return at < end;
    }
  }

  /** One that is planned. */
  record Plan(Job job, int flavor, long at, long end) {

    boolean covers(long time) {
      return at <= time && time < end;
    }
  }

  final List<Job> waiting = new ArrayList<>();
  final List<Run> running = new ArrayList<>();
  final Map<Job, Plan> plans = new LinkedHashMap<>();
  private final int[] quota;
  private final int depth;
  private final boolean refuses;

  NaiveBackfill(int[] quota, int depth, boolean refuses) {
    this.quota = quota;
    this.depth = depth;
    this.refuses = refuses;
  }

  private static long end(long from, Job job) {
    return job.limit().isPresent() ? from + job.longest() : Long.MAX_VALUE;
  }

  private int used(int flavor, long at) {
    return running.stream()
        .filter(run -> run.flavor() == flavor && run.covers(at))
        .mapToInt(run -> run.job().cpu())
        .sum();
  }

  /** What those planned before a place in the plan may use of a flavor: each may get any. */
  private int planned(int before, long at) {
    return plans.values().stream()
        .limit(before)
        .filter(plan -> plan.covers(at))
        .mapToInt(plan -> plan.job().cpu())
        .sum();
  }

  /** Every instant at which anything begins or ends. */
  private NavigableSet<Long> instants(long now) {
    TreeSet<Long> all = new TreeSet<>();
    all.add(now);
    running.forEach(run -> all.add(run.end()));
    plans
        .values()
        .forEach(
            plan -> {
              all.add(plan.at());
              all.add(plan.end());
            });
    all.remove(Long.MAX_VALUE);
    all.removeIf(at -> at < now);
    return all;
  }

  /** Decides until nothing is left to decide; names who starts, in order. */
  List<String> settle(long now) {
    List<String> started = new ArrayList<>();
    waiting.sort(Comparator.comparingLong(Job::priority).reversed().thenComparing(Job::order));
    boolean more = true;
    while (more) {
      more = false;
      while (!waiting.isEmpty() && !flavorsNow(waiting.getFirst()).isEmpty()) {
        start(waiting.getFirst(), flavorsNow(waiting.getFirst()).getFirst(), now, started);
      }
      plan(now);
      if (!waiting.isEmpty() && plans.containsKey(waiting.getFirst())) {
        for (Job job : List.copyOf(waiting.subList(1, waiting.size()))) {
          Optional<Integer> flavor =
              flavorsNow(job).stream().filter(each -> mayStart(job, each, now)).findFirst();
          if (flavor.isPresent()) {
            start(job, flavor.get(), now, started);
            more = true;
          }
        }
      }
    }
    return started;
  }

  private void start(Job job, int flavor, long now, List<String> started) {
    waiting.remove(job);
    running.add(new Run(job, flavor, now, end(now, job)));
    started.add(job.name());
  }

  /** The flavors that have room. */
  private List<Integer> flavorsNow(Job job) {
    List<Integer> flavors = new ArrayList<>();
    for (int flavor = 0; flavor < quota.length; flavor++) {
      int of = flavor;
      int held =
          running.stream().filter(run -> run.flavor() == of).mapToInt(run -> run.job().cpu()).sum();
      if (held + job.cpu() <= quota[flavor]) {
        flavors.add(flavor);
      }
    }
    return flavors;
  }

  private void plan(long now) {
    plans.clear();
    long from = now;
    for (Job job : waiting) {
      if (plans.size() == depth) {
        return;
      }
      Optional<Plan> plan = firstPlan(job, from, now);
      if (plan.isEmpty()) {
        return;
      }
      plans.put(job, plan.get());
      from = plan.get().at();
    }
  }

  private Optional<Plan> firstPlan(Job job, long from, long now) {
    NavigableSet<Long> instants = instants(now);
    instants.add(from);
    for (long at : instants.tailSet(from)) {
      long end = end(at, job);
      for (int flavor = 0; flavor < quota.length; flavor++) {
        int of = flavor;
        if (instants.tailSet(at).stream()
            .filter(time -> time < end)
            .allMatch(
                time -> used(of, time) + planned(plans.size(), time) + job.cpu() <= quota[of])) {
          return Optional.of(new Plan(job, flavor, at, end));
        }
      }
    }
    return Optional.empty();
  }

  private boolean mayStart(Job job, int flavor, long now) {
    if (refuses && job.limit().isEmpty()) {
      return false;
    }
    long end = end(now, job);
    List<Plan> all = List.copyOf(plans.values());
    for (int i = 0; i < all.size() && !all.get(i).job().equals(job); i++) {
      Plan plan = all.get(i);
      for (long time : instants(now)) {
        if (waiting.contains(plan.job())
            && plan.flavor() == flavor
            && plan.covers(time)
            && time < end
            && usedBeside(i, time) + plan.job().cpu() + job.cpu() > quota[flavor]) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * What is used of the flavor of a plan by others: by who runs, and by those planned before it,
   * who have started by now or have not.
   */
  private int usedBeside(int place, long time) {
    List<Job> before = plans.keySet().stream().limit(place).toList();
    int flavor = List.copyOf(plans.values()).get(place).flavor();
    return planned(place, time)
        + running.stream()
            .filter(run -> run.flavor() == flavor && run.covers(time))
            .filter(run -> !before.contains(run.job()))
            .mapToInt(run -> run.job().cpu())
            .sum();
  }
}
