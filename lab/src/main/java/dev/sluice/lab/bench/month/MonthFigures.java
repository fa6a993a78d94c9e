package dev.sluice.lab.bench.month;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a simulated month is judged by; its size depends on hours and teams, not on jobs. */
final class MonthFigures {

  /**
   * The cluster at a full hour.
   *
   * @param arrived how many jobs arrived in the hour before
   * @param ended how many ended in it
   * @param pending how many wait
   * @param use the part of the quota that is in use
   * @param fairness how evenly teams that wait use their quotas, from 0 to 1
   */
  record Hour(long hour, long arrived, long ended, long pending, double use, double fairness) {}

  /**
   * The memory at midnight.
   *
   * @param mebibytes the heap after a collection
   * @param live how many jobs have not ended
   */
  record Midnight(long day, double mebibytes, int live) {}

  final List<Hour> hours = new ArrayList<>();
  final List<Midnight> midnights = new ArrayList<>();
  final List<WaitTimes> waitsByTeam = new ArrayList<>();
  final Map<JobTrace.SizeClass, WaitTimes> waitsBySize = new EnumMap<>(JobTrace.SizeClass.class);
  final WaitTimes waits = new WaitTimes();
  long arrived;
  long succeeded;
  long failed;
  long runsFailed;
  long refused;
  long evictions;
  long interruptions;
  double money;
  double moneyForSpot;
  long evictionsRefused;
  long changes;
  long events;
  long cycles;
  long admissions;
  long explanations;
  long lastEndMillis;
  long cpuNanos;
  long wallNanos;

  /** By tree. */
  private final long[] digests;

  MonthFigures(MonthSize size) {
    digests = new long[size.trees()];
    Arrays.fill(digests, 1);
    for (int team = 0; team < size.allTeams(); team++) {
      waitsByTeam.add(new WaitTimes());
    }
    for (JobTrace.SizeClass each : JobTrace.SizeClass.values()) {
      waitsBySize.put(each, new WaitTimes());
    }
  }

  long ended() {
    return succeeded + failed;
  }

  void waited(int team, JobTrace.SizeClass sizeClass, long millis) {
    waits.add(millis);
    waitsByTeam.get(team).add(millis);
    waitsBySize.computeIfAbsent(sizeClass, any -> new WaitTimes()).add(millis);
  }

  /** Folds a decision into the number of its tree. */
  void decided(int tree, long at, String what, String who) {
    digests[tree] = 31 * (31 * (31 * digests[tree] + at) + what.hashCode()) + who.hashCode();
  }

  /**
   * All decisions and their times, in a number: the same for the same decisions of each tree. The
   * order of decisions of different trees at the same time means nothing.
   */
  long digest() {
    long digest = 1;
    for (long ofTree : digests) {
      digest = 31 * digest + ofTree;
    }
    return digest;
  }

  /**
   * How long jobs of a kind waited: a histogram whose size doesn't grow, exact to an eighth of the
   * time.
   */
  static final class WaitTimes {

    private static final int STEPS_PER_DOUBLING = 8;
    private static final int DOUBLINGS = 34;

    private final long[] counts = new long[STEPS_PER_DOUBLING * DOUBLINGS];
    private long count;
    private long most;

    void add(long millis) {
      double doublings = Math.log1p(millis) / Math.log(2);
      counts[Math.min(counts.length - 1, (int) (doublings * STEPS_PER_DOUBLING))]++;
      count++;
      most = Math.max(most, millis);
    }

    long count() {
      return count;
    }

    /** The longest wait, in seconds. */
    double mostSeconds() {
      return most / 1_000.0;
    }

    /** A quantile in seconds; 0 without any. */
    double seconds(double quantile) {
      long rank = (long) Math.ceil(quantile * count);
      long seen = 0;
      for (int i = 0; i < counts.length && rank > 0; i++) {
        seen += counts[i];
        if (seen >= rank) {
          double upTo = Math.pow(2, (i + 1.0) / STEPS_PER_DOUBLING) - 1;
          return Math.min(most, upTo) / 1_000.0;
        }
      }
      return 0;
    }
  }
}
