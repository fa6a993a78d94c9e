package dev.sluice.forecast.runtimes;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeDistribution.Observation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was learned from runs that ended (docs/run-times.md). Bounded in the number of groups and in
 * the runs of each. Not thread-safe.
 */
public final class RunTimeHistory {

  /** The number of runs that a group remembers. */
  static final int RUNS_PER_GROUP = 64;

  /** In how many parts of the window the weight of a run halves. */
  private static final double HALF_LIVES = 4;

  /**
   * The quantile of the normal distribution that chance exceeds once in 100,000 times, two-sided.
   */
  private static final double CHANGE = 4.417;

  /** Added to times before their logarithm is taken: less than a second makes no difference. */
  private static final double RESOLUTION = 1_000;

  private final RunTimeOptions options;
  private final LinkedHashMap<RunTimeGroup, Runs> groups = new LinkedHashMap<>(16, 0.75f, true);

  /** How many groups there are of each namespace. */
  private final Map<String, Integer> byNamespace = new HashMap<>();

  /**
   * What a group says.
   *
   * @param level of the narrowest group that has enough runs
   * @param count the number of runs that ended by themselves
   * @param all how long runs last, however they end
   * @param succeeded how long runs last that succeed; that of all runs where too few succeeded
   * @param failedShare the share of the ended runs that failed, by their weights, of 0 to 1
   */
  public record Learned(
      RunTimeGroup.Level level,
      int count,
      RunTimeDistribution all,
      RunTimeDistribution succeeded,
      double failedShare) {}

  /**
   * A group and its runs, as they are saved.
   *
   * @param runs in the order of their ends
   */
  public record SavedGroup(RunTimeGroup group, List<FinishedRun> runs) {
    public SavedGroup {
      runs = List.copyOf(runs);
    }
  }

  /** Runs of a group, in the order in which they were told. */
  private static final class Runs {
    private final List<FinishedRun> finished = new ArrayList<>();
    private @Nullable Learned learned;
  }

  /** An empty history. */
  public RunTimeHistory(RunTimeOptions options) {
    this.options = options;
  }

  /**
   * Remembers a run.
   *
   * @param of the groups that it belongs to
   */
  public void add(List<RunTimeGroup> of, FinishedRun run) {
    for (RunTimeGroup group : of) {
      Runs runs = groups.computeIfAbsent(group, this::begin);
      runs.finished.add(run);
      runs.learned = null;
      forgetOld(runs, run.endedAt());
      forgetBeforeChange(runs);
    }
    forgetSurplus();
  }

  /**
   * What the narrowest group with enough runs says; empty if none has enough.
   *
   * @param of the groups of a Workload, from the narrowest to the widest
   */
  public Optional<Learned> learned(List<RunTimeGroup> of, Instant now) {
    for (RunTimeGroup group : of) {
      Runs runs = groups.get(group);
      if (runs == null) {
        continue;
      }
      forgetOld(runs, now);
      Learned known = runs.learned;
      // all weights of a group halve at the same time: only runs that come and go change what it
      // says
      if (known != null) {
        return Optional.of(known);
      }
      Optional<Learned> learned = learn(group.level(), runs.finished, now);
      if (learned.isPresent()) {
        runs.learned = learned.get();
        return learned;
      }
    }
    return Optional.empty();
  }

  /** The number of groups that are remembered. */
  public int size() {
    return groups.size();
  }

  /**
   * Everything that is remembered, in the order in which it would be forgotten: each namespace
   * forgets the group first that it used least recently, and whoever has most groups forgets first.
   */
  public List<SavedGroup> saved() {
    Map<String, Integer> left = new HashMap<>(byNamespace);
    List<Map.Entry<Integer, SavedGroup>> ranked = new ArrayList<>(groups.size());
    groups.forEach(
        (group, runs) -> {
          String namespace = group.namespace();
          int rank = left.getOrDefault(namespace, 0);
          left.put(namespace, rank - 1);
          ranked.add(Map.entry(rank, new SavedGroup(group, runs.finished)));
        });
    return ranked.stream()
        .sorted(Map.Entry.<Integer, SavedGroup>comparingByKey().reversed())
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Replaces what is remembered by what was saved. */
  public void restore(List<SavedGroup> saved) {
    groups.clear();
    byNamespace.clear();
    for (SavedGroup each : saved) {
      Runs runs = groups.computeIfAbsent(each.group(), this::begin);
      List<FinishedRun> kept = each.runs();
      runs.finished.addAll(kept.subList(Math.max(0, kept.size() - RUNS_PER_GROUP), kept.size()));
    }
    forgetSurplus();
  }

  private Runs begin(RunTimeGroup group) {
    byNamespace.merge(group.namespace(), 1, Integer::sum);
    return new Runs();
  }

  /**
   * Forgets groups beyond the most that are remembered: of the namespace that has most the one that
   * was used least recently. So whoever makes many groups, by many names or requests, pushes out
   * nobody else's.
   */
  private void forgetSurplus() {
    while (groups.size() > options.maxGroups()) {
      int most = Collections.max(byNamespace.values());
      RunTimeGroup forgotten =
          groups.keySet().stream()
              .filter(group -> byNamespace.getOrDefault(group.namespace(), 0) == most)
              .findFirst()
              .orElseThrow();
      groups.remove(forgotten);
      byNamespace.computeIfPresent(
          forgotten.namespace(), (_, count) -> count == 1 ? null : count - 1);
    }
  }

  private void forgetOld(Runs runs, Instant now) {
    Instant oldest = now.minus(options.window());
    boolean forgot = runs.finished.removeIf(run -> run.endedAt().isBefore(oldest));
    int surplus = runs.finished.size() - RUNS_PER_GROUP;
    if (surplus > 0) {
      runs.finished.subList(0, surplus).clear();
    }
    if (forgot || surplus > 0) {
      runs.learned = null;
    }
  }

  private Optional<Learned> learn(RunTimeGroup.Level level, List<FinishedRun> runs, Instant now) {
    List<Observation> all = new ArrayList<>(runs.size());
    List<Observation> succeeded = new ArrayList<>(runs.size());
    int ended = 0;
    int successes = 0;
    double weightOfEnded = 0;
    double weightOfFailed = 0;
    for (FinishedRun run : runs) {
      double weight = weight(run, now);
      double millis = run.lasted().toMillis();
      all.add(new Observation(millis, weight, run.end() != End.EVICTED));
      switch (run.end()) {
        case SUCCEEDED -> {
          succeeded.add(new Observation(millis, weight, true));
          successes++;
        }
        case EVICTED -> succeeded.add(new Observation(millis, weight, false));
        case FAILED -> weightOfFailed += weight;
      }
      if (run.end() != End.EVICTED) {
        ended++;
        weightOfEnded += weight;
      }
    }
    if (ended < options.minSamples()) {
      return Optional.empty();
    }
    RunTimeDistribution ofAll = RunTimeDistribution.of(all);
    return Optional.of(
        new Learned(
            level,
            ended,
            ofAll,
            successes < options.minSamples() ? ofAll : RunTimeDistribution.of(succeeded),
            weightOfFailed / weightOfEnded));
  }

  private double weight(FinishedRun run, Instant now) {
    double age = Math.max(0, Duration.between(run.endedAt(), now).toMillis());
    return Math.pow(0.5, age * HALF_LIVES / options.window().toMillis());
  }

  /** Forgets what came before the latest change of the group's run times, if there was one. */
  private void forgetBeforeChange(Runs runs) {
    if (runs.finished.size() < 2 * options.minSamples()) {
      return;
    }
    int change = change(logarithms(runs.finished), options.minSamples());
    if (change > 0) {
      int ended = 0;
      int index = 0;
      while (ended < change) {
        if (runs.finished.get(index).end() != End.EVICTED) {
          ended++;
        }
        index++;
      }
      runs.finished.subList(0, index).clear();
    }
  }

  private static double[] logarithms(List<FinishedRun> runs) {
    double[] logarithms = new double[runs.size()];
    int count = 0;
    for (FinishedRun run : runs) {
      if (run.end() != End.EVICTED) {
        logarithms[count++] = Math.log(run.lasted().toMillis() + RESOLUTION);
      }
    }
    return Arrays.copyOf(logarithms, count);
  }

  /**
   * The number of values before the most likely change of the mean; 0 if chance explains all of
   * them. Compared are the values before and after each point by Student's t.
   *
   * @param least the least number of values on either side
   */
  static int change(double[] values, int least) {
    int count = values.length;
    if (count < 2 * least) {
      return 0;
    }
    double[] sums = new double[count + 1];
    double[] squares = new double[count + 1];
    for (int i = 0; i < count; i++) {
      sums[i + 1] = sums[i] + values[i];
      squares[i + 1] = squares[i] + values[i] * values[i];
    }
    double largest = 0;
    int at = 0;
    // a change that fewer values follow is looked at too: it would be put too early otherwise
    for (int before = least; before <= count - 2; before++) {
      int after = count - before;
      double meanBefore = sums[before] / before;
      double meanAfter = (sums[count] - sums[before]) / after;
      double within =
          squares[count] - before * meanBefore * meanBefore - after * meanAfter * meanAfter;
      // equal times vary by rounding alone; a hundredth is no change that anybody asks for
      double variance = Math.max(within / (count - 2), 1e-4);
      double t =
          Math.abs(meanAfter - meanBefore) / Math.sqrt(variance * (1.0 / before + 1.0 / after));
      if (t > largest) {
        largest = t;
        at = before;
      }
    }
    return count - at >= least && largest > threshold(count - 2) ? at : 0;
  }

  /** The quantile of Student's t by the expansion of Cornish and Fisher (1960), to two terms. */
  private static double threshold(int degreesOfFreedom) {
    double z = CHANGE;
    double z3 = z * z * z;
    double z5 = z3 * z * z;
    return z
        + (z3 + z) / (4 * degreesOfFreedom)
        + (5 * z5 + 16 * z3 + 3 * z) / (96.0 * degreesOfFreedom * degreesOfFreedom);
  }

  /**
   * What is learned from runs (docs/run-times.md#groups).
   *
   * @param minSamples the least number of ended runs that a group's estimate is made of; at least 2
   * @param window the age at which runs are forgotten; positive
   * @param maxGroups the largest number of groups that are remembered; at least 1
   */
  public record RunTimeOptions(int minSamples, Duration window, int maxGroups) {

    /** The defaults of the configuration. */
    public static final RunTimeOptions DEFAULT = new RunTimeOptions(5, Duration.ofDays(30), 5_000);

    /**
     * @throws IllegalArgumentException if a value is out of its range
     */
    public RunTimeOptions {
      if (minSamples < 2 || window.isNegative() || window.isZero() || maxGroups < 1) {
        throw new IllegalArgumentException(
            "minSamples=%s window=%s maxGroups=%s".formatted(minSamples, window, maxGroups));
      }
    }
  }
}
