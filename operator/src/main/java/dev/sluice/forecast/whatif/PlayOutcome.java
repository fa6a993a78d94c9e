package dev.sluice.forecast.whatif;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What became of the work in one play.
 *
 * @param begin the begin
 * @param end the end
 * @param waits the waits by ClusterQueue and priority, and of all, sorted
 * @param uses the use by ClusterQueue and resource, sorted
 * @param preemptions how many Workloads were preempted, by ClusterQueue and reason
 * @param courses by ClusterQueue, how it went over time; all have the same number of points
 */
public record PlayOutcome(
    Instant begin,
    Instant end,
    List<Waits> waits,
    List<ResourceUse> uses,
    Map<String, Map<String, Long>> preemptions,
    Map<String, Course> courses) {

  /** Instead of the name of a ClusterQueue: all of them. */
  public static final String ALL = "*";

  public PlayOutcome {
    waits = List.copyOf(waits);
    uses = List.copyOf(uses);
  }

  /**
   * How long Workloads waited for their first start. The wait of those that didn't start lasts
   * until the end, and counts so.
   *
   * @param clusterQueue the ClusterQueue, or {@link #ALL}
   * @param priority the priority; null for all
   * @param started how many started
   * @param waiting how many waited at the end
   * @param medianSeconds half of them waited no longer
   * @param ninetiethSeconds nine of ten waited no longer
   * @param maxSeconds the longest wait
   * @param percentileSeconds the wait that so many hundredths didn't exceed, from 0 to 100
   */
  public record Waits(
      String clusterQueue,
      @Nullable Long priority,
      long started,
      long waiting,
      double medianSeconds,
      double ninetiethSeconds,
      double maxSeconds,
      List<Double> percentileSeconds) {

    public Waits {
      percentileSeconds = List.copyOf(percentileSeconds);
    }
  }

  /**
   * The use of a resource, over all flavors, in the resource's own unit (cores for cpu).
   *
   * @param mean what was used on average
   * @param nominalMean the nominal quota on average
   * @param borrowedMean what was used beyond the nominal quota of a flavor, on average
   * @param lostHours what preempted runs had used, times hours
   * @param share the part of what all ClusterQueues used, from 0 to 1
   * @param cost what the use cost by the prices of the flavors; 0 where there are none
   */
  public record ResourceUse(
      String clusterQueue,
      String resource,
      double mean,
      double nominalMean,
      double borrowedMean,
      double lostHours,
      double share,
      double cost) {}

  /**
   * How it went over time: one value for each of equal parts of the time.
   *
   * @param waiting Workloads that wait, on average
   * @param used by resource, what is used on average
   */
  public record Course(List<Double> waiting, Map<String, List<Double>> used) {

    public Course {
      waiting = List.copyOf(waiting);
    }
  }
}
