package dev.sluice.checks.multikueue.placement;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Limits the workers of a Workload that is one of several of the same job, because all of them use
 * one remote job: the lowest index that holds quota chooses the worker, the others follow
 * (docs/scheduling-semantics.md#multikueue).
 */
public final class GroupPlacement {

  private GroupPlacement() {}

  /**
   * A Workload among those of its job.
   *
   * @param name its name
   * @param index its index
   * @param asks whether it holds quota and is neither evicted nor over
   * @param cluster the worker that it runs in
   */
  public record Member(String name, int index, boolean asks, Optional<String> cluster) {}

  /** What decides which workers a Workload may use. */
  public sealed interface Choice {

    /** The Workload chooses the worker. */
    record Free() implements Choice {}

    /** Other Workloads of the job run in this worker. */
    record Follow(String cluster) implements Choice {}

    /** Another Workload of the job chooses the worker. */
    record Await(String chooser) implements Choice {}
  }

  /**
   * The choice of a Workload that runs in no worker yet.
   *
   * @param others the other Workloads of its job
   */
  public static Choice of(Member self, List<Member> others) {
    Optional<Choice> followed =
        others.stream()
            .filter(other -> other.cluster().isPresent())
            .min(Comparator.comparingInt(Member::index))
            .flatMap(Member::cluster)
            .map(Choice.Follow::new);
    Optional<Choice> awaited =
        others.stream()
            .filter(other -> other.asks() && other.index() < self.index())
            .min(Comparator.comparingInt(Member::index))
            .map(chooser -> new Choice.Await(chooser.name()));
    return followed.or(() -> awaited).orElseGet(Choice.Free::new);
  }

  /**
   * The workers that remain by a choice.
   *
   * @param missing how many Workloads the job has yet to get; empty if that isn't known to matter
   */
  public static ClusterCandidates limit(
      ClusterCandidates candidates, Choice choice, OptionalInt missing) {
    return switch (choice) {
      case Choice.Follow(String cluster) ->
          candidates.without(
              name -> !name.equals(cluster),
              "other Workloads of the job run in worker cluster \"" + cluster + "\"");
      case Choice.Await(String chooser) ->
          candidates.without(any -> true, "Workload " + chooser + " of the job chooses");
      case Choice.Free free ->
          missing.orElse(0) > 0
              ? candidates.without(any -> true, "the job doesn't have all of its Workloads yet")
              : candidates;
    };
  }
}
