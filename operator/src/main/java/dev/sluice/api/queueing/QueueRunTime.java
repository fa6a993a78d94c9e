package dev.sluice.api.queueing;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A run time that a queue says, as default or as limit (docs/run-times.md#queues).
 *
 * @param queue kind and name for people, such as {@code LocalQueue team/gpu}
 */
public record QueueRunTime(Duration runTime, String queue) {

  /**
   * What a queue says.
   *
   * @param queue kind and name for people
   * @param values its annotations; null if it has none, or doesn't exist
   */
  public record Annotations(String queue, @Nullable Map<String, String> values) {

    private Optional<QueueRunTime> read(
        Function<@Nullable Map<String, String>, Optional<Duration>> annotation) {
      return annotation.apply(values).map(found -> new QueueRunTime(found, queue));
    }
  }

  /** The default of a LocalQueue, else that of its ClusterQueue. */
  public static Optional<QueueRunTime> defaultOf(
      Annotations localAnnotations, Annotations clusterAnnotations) {
    return localAnnotations
        .read(RunTimeAnnotations::defaultOf)
        .or(() -> clusterAnnotations.read(RunTimeAnnotations::defaultOf));
  }

  /** The smaller one of the limits of a LocalQueue and its ClusterQueue. */
  public static Optional<QueueRunTime> maxOf(
      Annotations localAnnotations, Annotations clusterAnnotations) {
    Optional<QueueRunTime> ofLocal = localAnnotations.read(RunTimeAnnotations::maxOf);
    Optional<QueueRunTime> ofCluster = clusterAnnotations.read(RunTimeAnnotations::maxOf);
    return ofLocal
        .filter(
            limit ->
                ofCluster.isEmpty() || limit.runTime().compareTo(ofCluster.get().runTime()) <= 0)
        .or(() -> ofCluster);
  }
}
