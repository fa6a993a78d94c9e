package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/**
 * What happened in one scheduling cycle to heads that need preemption.
 *
 * @param preemptionSkips by ClusterQueue, the number of heads with preemption targets that were
 *     skipped because heads before them took the quota; queues without are left out
 * @param recomputations heads that were evaluated anew because heads before them preempt the same
 *     Workloads
 */
public record CycleStatistics(
    Map<String, Integer> preemptionSkips, List<Recomputation> recomputations) {

  /** A cycle without heads that need preemption. */
  public static final CycleStatistics NONE = new CycleStatistics(Map.of(), List.of());

  /** Copies map and list. */
  public CycleStatistics {
    preemptionSkips = Map.copyOf(preemptionSkips);
    recomputations = List.copyOf(recomputations);
  }

  /** The second evaluation of a head of a ClusterQueue in one cycle. */
  public record Recomputation(String clusterQueue, Result result) {}

  /** The result of a second evaluation. */
  public enum Result {
    /** Other Workloads can be preempted. */
    NEW_TARGETS("new_targets"),
    /** The head fits when the Workloads that others preempt have ended. */
    DEFERRED_FIT("deferred_fit"),
    /** There are no other Workloads to preempt. */
    SKIPPED("skipped");

    private final String text;

    Result(String text) {
      this.text = text;
    }

    /** The result as metrics call it. */
    public String text() {
      return text;
    }
  }
}
