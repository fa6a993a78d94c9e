package dev.sluice.core.model;

import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The places of the pods of a pod set whose quota is reserved.
 *
 * @param delay whether the places are found later than the quota
 * @param assignment the places; empty while they are delayed, and without topology
 * @param perPod what one pod requests of its node, by resource: what each pod uses of its place
 */
public record PodSetTopology(
    Delay delay, Optional<TopologyAssignment> assignment, SortedMap<String, Long> perPod) {

  /** A pod set without topology. */
  public static final PodSetTopology NONE =
      new PodSetTopology(Delay.NONE, Optional.empty(), new TreeMap<>());

  /** Whether places are found later than the quota (delayedTopologyRequest). */
  public enum Delay {
    /** They are found together with the quota, or there is no topology. */
    NONE,
    /** They are not found yet. */
    PENDING,
    /** They were found later, or on another cluster. */
    READY
  }

  public PodSetTopology {
    perPod = Collections.unmodifiableSortedMap(new TreeMap<>(perPod));
  }
}
