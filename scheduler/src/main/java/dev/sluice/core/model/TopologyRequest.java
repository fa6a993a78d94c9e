package dev.sluice.core.model;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
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
 * @param spreading how groups are spread over domains; empty unless the pods are counted for that
 */
public record TopologyRequest(
    Mode mode, String level, List<Slice> slices, Optional<Spreading> spreading) {

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

  /** A request of pods that aren't spread. */
  public TopologyRequest(Mode mode, String level, List<Slice> slices) {
    this(mode, level, slices, Optional.empty());
  }

  /** The same request of pods that are spread. */
  public TopologyRequest spread(Spreading other) {
    return new TopologyRequest(mode, level, slices, Optional.of(other));
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
   * The group of pods that a pod set belongs to, and how it is spread over domains
   * (docs/topology.md#groups-spread-over-domains).
   *
   * @param member what counts of the group, for its own rules and for those of others
   * @param selector the Workloads whose groups count for the rules, by their labels
   * @param rules the rules; empty if the group is only counted
   */
  public record Spreading(
      Member member, Optional<LabelRequirement> selector, List<ShareRule> rules) {

    /**
     * Identity of a group of pods that are kept together, and the labels that rules select it by.
     *
     * @param namespace namespace of the Workload
     * @param owner UID of the Workload; of the job, if the Workload is one of its slices
     * @param group name of the pod-set group, or of the pod set if it is in none
     * @param labels labels of the Workload
     */
    public record Member(
        String namespace, String owner, String group, SortedMap<String, String> labels) {

      public Member {
        labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
      }

      /** Whether two members are of one group, whatever their labels. */
      public boolean isSameGroupAs(Member other) {
        return owner.equals(other.owner) && group.equals(other.group);
      }
    }

    /**
     * What share of the groups a domain may have, for the next group to be placed there.
     *
     * @param level the label key of the domains' level
     * @param maxShare the greatest share, in percent
     * @param required whether no domain with a greater share takes the group; otherwise such
     *     domains come last
     */
    public record ShareRule(String level, int maxShare, boolean required) {}

    public Spreading {
      rules = List.copyOf(rules);
    }

    /** A group that is counted and has no rules. */
    public static Spreading counted(Member member) {
      return new Spreading(member, Optional.empty(), List.of());
    }

    /** Whether a group counts for the rules: it is of the same namespace, and selected. */
    public boolean counts(Member other) {
      return member.namespace().equals(other.namespace())
          && !member.isSameGroupAs(other)
          && selector.map(labels -> labels.matches(other.labels())).orElse(false);
    }
  }

  /**
   * The places of the pods of a pod set whose quota is reserved.
   *
   * @param delay whether the places are found later than the quota
   * @param assignment the places; empty while they are delayed, and without topology
   * @param perPod what one pod requests of its node, by resource: what each pod uses of its place
   * @param member the group that the pods count as where groups are spread; empty if none are
   */
  public record PodSetTopology(
      Delay delay,
      Optional<TopologyAssignment> assignment,
      SortedMap<String, Long> perPod,
      Optional<Spreading.Member> member) {

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

    /** Places of pods that don't count as a group. */
    public PodSetTopology(
        Delay delay, Optional<TopologyAssignment> assignment, SortedMap<String, Long> perPod) {
      this(delay, assignment, perPod, Optional.empty());
    }
  }
}
