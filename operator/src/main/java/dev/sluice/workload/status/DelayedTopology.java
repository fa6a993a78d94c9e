package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.PodSetTopology.Delay;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches;
import java.util.TreeMap;

/** The field {@code delayedTopologyRequest} of an assignment. */
public final class DelayedTopology {

  private DelayedTopology() {}

  /** The delay that a value of the field means; anything else is none. */
  public static Delay of(String text) {
    return switch (text) {
      case "Pending" -> Delay.PENDING;
      case "Ready" -> Delay.READY;
      default -> Delay.NONE;
    };
  }

  /** The value of the field; empty if it is to be absent. */
  static String text(Delay delay) {
    return switch (delay) {
      case PENDING -> "Pending";
      case READY -> "Ready";
      case NONE -> "";
    };
  }

  /** Whether places of the Workload's pods are not found yet. */
  public static boolean isPending(CachedWorkload workload) {
    return workload.assignments().stream()
        .anyMatch(assignment -> of(assignment.delayedTopology()) == Delay.PENDING);
  }

  /**
   * The admission of a Workload whose pods another cluster has placed: nothing is pending, and no
   * places are known here.
   */
  public static ObjectNode placedElsewhere(CachedWorkload workload) {
    return AdmissionPatches.withPlaces(
        workload,
        workload.assignments().stream()
            .map(
                assignment ->
                    new PodSetTopology(
                        of(assignment.delayedTopology()) == Delay.PENDING
                            ? Delay.READY
                            : of(assignment.delayedTopology()),
                        assignment.topology(),
                        new TreeMap<>()))
            .toList());
  }
}
