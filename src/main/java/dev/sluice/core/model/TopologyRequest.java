package dev.sluice.core.model;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a pod set asks of the topology of its nodes (docs/topology.md#what-a-pod-set-asks).
 *
 * @param mode how strictly the level is asked for
 * @param level the label key of the level; empty unless the mode is REQUIRED or PREFERRED
 * @param slices the slices that the pods are cut into, each of which must be within one domain: the
 *     outermost first, each further one at a lower level and with a size that divides the one
 *     before; empty without slices
 */
public record TopologyRequest(Mode mode, String level, List<Slice> slices) {

  /** No request. The pod set gets a topology only in a queue whose flavors all have one. */
  public static final TopologyRequest NONE = new TopologyRequest(Mode.NONE, "", List.of());

  /** How strictly a level is asked for. */
  public enum Mode {
    /** Nothing is asked for. */
    NONE,
    /** All pods must be in one domain of the level. */
    REQUIRED,
    /** All pods should be in one domain of the level, or of the lowest level above that can. */
    PREFERRED,
    /** The pods may be anywhere. */
    UNCONSTRAINED,
    /** Only the slices are asked for, and may be anywhere. */
    SLICES
  }

  /**
   * Pods that must be within one domain.
   *
   * @param level the label key of the level of that domain
   * @param size the number of pods; positive
   */
  public record Slice(String level, int size) {}

  public TopologyRequest {
    slices = List.copyOf(slices);
  }

  /** Whether anything is asked for. */
  public boolean isExplicit() {
    return mode != Mode.NONE;
  }

  /**
   * Whether so many pods can be cut into the slices. Their size divides the number; or the last
   * slice is a partial one, if there is one layer of slices.
   *
   * @param partial whether a slice may be partial
   */
  public boolean cuts(int pods, boolean partial) {
    if (slices.isEmpty()) {
      return true;
    }
    int size = slices.getFirst().size();
    return size > 0 && (pods % size == 0 || (partial && slices.size() == 1));
  }

  /** All pods in one domain of a level. */
  public static TopologyRequest required(String level, Slice... slices) {
    return new TopologyRequest(Mode.REQUIRED, level, List.of(slices));
  }

  /** All pods in one domain of a level, if possible. */
  public static TopologyRequest preferred(String level, Slice... slices) {
    return new TopologyRequest(Mode.PREFERRED, level, List.of(slices));
  }

  /** Pods anywhere. */
  public static TopologyRequest unconstrained() {
    return new TopologyRequest(Mode.UNCONSTRAINED, "", List.of());
  }

  /** Slices anywhere. */
  public static TopologyRequest sliced(Slice... slices) {
    return new TopologyRequest(Mode.SLICES, "", List.of(slices));
  }

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
}
