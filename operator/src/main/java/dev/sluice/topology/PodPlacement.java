package dev.sluice.topology;

import dev.sluice.core.model.MapCopies;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import dev.sluice.topology.TopologyPod.TopologyLabels;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Gives the gated pods of a pod set their domains (docs/topology.md#pods-of-an-assignment). The
 * result depends only on the arguments.
 */
public final class PodPlacement {

  /**
   * A pod whose gate may be removed.
   *
   * @param pod the pod
   * @param nodeSelector the labels of its domain
   */
  public record Placed(TopologyPod pod, Map<String, String> nodeSelector) {

    /** Copies the map. */
    public Placed {
      nodeSelector = MapCopies.of(nodeSelector);
    }
  }

  private final TopologyAssignment assignment;
  private final PodRanking ranking;
  private final Set<String> unhealthyNodes;

  private PodPlacement(
      TopologyAssignment assignment, PodRanking ranking, Set<String> unhealthyNodes) {
    this.assignment = assignment;
    this.ranking = ranking;
    this.unhealthyNodes = unhealthyNodes;
  }

  /**
   * The pods whose gate may be removed, with their node selectors. A pod whose domain is an
   * unhealthy node, a pod for which no domain has room, and a pod without quota stay gated.
   *
   * @param assignment the domains of the pod set, in the order of ranks
   * @param pods the pods of the pod set that have not terminated
   */
  public static List<Placed> of(
      TopologyAssignment assignment,
      PodRanking ranking,
      Set<String> unhealthyNodes,
      List<TopologyPod> pods) {
    PodPlacement placement = new PodPlacement(assignment, ranking, unhealthyNodes);
    List<TopologyPod> granted = pods.stream().filter(pod -> !pod.waitsForQuota()).toList();
    Map<TopologyPod, Integer> ranks = placement.ranks(granted);
    return ranks.isEmpty() ? placement.fill(granted) : placement.byRank(granted, ranks);
  }

  /**
   * The domains that are left of an assignment when its pod set has fewer pods: those of the pods
   * that run, and as many others as there is quota for, in order. Empty if it has no more domains
   * than pods, or it isn't known yet which are left: more pods run, or one is about to be placed.
   *
   * @param count the number of pods that have quota
   * @param pods the pods of the pod set that have not terminated
   */
  static Optional<TopologyAssignment> truncated(
      TopologyAssignment assignment, int count, List<TopologyPod> pods) {
    if (assignment.pods() <= count
        || pods.stream().anyMatch(pod -> pod.gated() && !pod.waitsForQuota() && !pod.deleting())) {
      return Optional.empty();
    }
    PodPlacement placement = new PodPlacement(assignment, PodRanking.NONE, Set.of());
    Map<Map<String, String>, Integer> running = new HashMap<>();
    long left = count;
    for (TopologyPod pod : pods) {
      if (!pod.gated()) {
        running.merge(placement.selector(pod), 1, Integer::sum);
        left--;
      }
    }
    if (left < 0) {
      return Optional.empty();
    }
    List<Domain> domains = new ArrayList<>();
    for (Domain domain : assignment.domains()) {
      int used = Math.min(running.getOrDefault(placement.selector(domain), 0), domain.count());
      int more = (int) Math.min(left, domain.count() - used);
      left -= more;
      if (used + more > 0) {
        domains.add(new Domain(domain.values(), used + more));
      }
    }
    return Optional.of(new TopologyAssignment(assignment.levels(), domains));
  }

  /**
   * The rank of each pod that is not being deleted; empty unless all have a rank of their own, and
   * those that are placed already are in the domain of their rank.
   */
  private Map<TopologyPod, Integer> ranks(List<TopologyPod> pods) {
    int count = (int) Math.min(Integer.MAX_VALUE, assignment.pods());
    Map<Integer, TopologyPod> byRank = new HashMap<>();
    Map<TopologyPod, Integer> result = new LinkedHashMap<>();
    for (TopologyPod pod : pods) {
      if (pod.deleting()) {
        continue;
      }
      OptionalInt rank = ranking.rank(pod, count);
      if (rank.isEmpty() || byRank.put(rank.getAsInt(), pod) != null) {
        return Map.of();
      }
      result.put(pod, rank.getAsInt());
    }
    Map<Integer, Domain> domains = domains(byRank.keySet());
    for (Map.Entry<TopologyPod, Integer> entry : result.entrySet()) {
      Domain domain = domains.get(entry.getValue());
      if (!entry.getKey().gated() && (domain == null || !isIn(entry.getKey(), domain))) {
        return Map.of();
      }
    }
    return result;
  }

  /** The domains of ranks. */
  private Map<Integer, Domain> domains(Set<Integer> ranks) {
    Map<Integer, Domain> result = new HashMap<>();
    List<Integer> ascending = ranks.stream().sorted().toList();
    int next = 0;
    long end = 0;
    for (Domain domain : assignment.domains()) {
      end += domain.count();
      while (next < ascending.size() && ascending.get(next) < end) {
        result.put(ascending.get(next), domain);
        next++;
      }
    }
    return result;
  }

  private List<Placed> byRank(List<TopologyPod> pods, Map<TopologyPod, Integer> ranks) {
    Map<Integer, Domain> domains = domains(Set.copyOf(ranks.values()));
    List<Placed> result = new ArrayList<>();
    for (TopologyPod pod : pods) {
      Domain domain = domains.get(ranks.getOrDefault(pod, -1));
      if (domain != null && pod.gated() && !isUnhealthy(domain)) {
        result.add(new Placed(pod, selector(domain)));
      }
    }
    return result;
  }

  /** Fills what pods with a domain leave of each domain; unhealthy nodes are filled last. */
  private List<Placed> fill(List<TopologyPod> pods) {
    Map<Domain, Integer> left = new LinkedHashMap<>();
    assignment.domains().stream()
        .sorted(Comparator.comparing(this::isUnhealthy))
        .forEach(domain -> left.merge(domain, domain.count(), Integer::sum));
    Map<Map<String, String>, Domain> bySelector = new HashMap<>();
    left.keySet().forEach(domain -> bySelector.put(selector(domain), domain));
    for (TopologyPod pod : pods) {
      Domain domain = pod.gated() ? null : bySelector.get(selector(pod));
      if (domain != null) {
        left.merge(domain, -1, Integer::sum);
      }
    }
    List<TopologyPod> waiting =
        pods.stream()
            .filter(pod -> pod.gated() && !pod.deleting())
            .sorted(this::compareWaiting)
            .toList();
    List<Placed> result = new ArrayList<>();
    int next = 0;
    for (Map.Entry<Domain, Integer> entry : left.entrySet()) {
      for (int free = entry.getValue(); free > 0 && next < waiting.size(); free--) {
        TopologyPod pod = waiting.get(next++);
        if (!isUnhealthy(entry.getKey())) {
          result.add(new Placed(pod, selector(entry.getKey())));
        }
      }
    }
    return result;
  }

  private int compareWaiting(TopologyPod one, TopologyPod other) {
    int count = (int) Math.min(Integer.MAX_VALUE, assignment.pods());
    int byRank =
        Integer.compare(
            ranking.rank(one, count).orElse(Integer.MAX_VALUE),
            ranking.rank(other, count).orElse(Integer.MAX_VALUE));
    return byRank == 0 ? one.name().compareTo(other.name()) : byRank;
  }

  private boolean isIn(TopologyPod pod, Domain domain) {
    return selector(pod).equals(selector(domain));
  }

  /** The part of a pod's node selector that names its domain. */
  private Map<String, String> selector(TopologyPod pod) {
    Map<String, String> result = new HashMap<>();
    for (String level : assignment.levels()) {
      String value = pod.nodeSelector().get(level);
      if (value != null) {
        result.put(level, value);
      }
    }
    return result;
  }

  private Map<String, String> selector(Domain domain) {
    Map<String, String> result = new HashMap<>();
    for (int level = 0; level < assignment.levels().size(); level++) {
      result.put(assignment.levels().get(level), domain.values().get(level));
    }
    return result;
  }

  private boolean isUnhealthy(Domain domain) {
    return !unhealthyNodes.isEmpty()
        && assignment.levels().getLast().equals(TopologyLabels.HOSTNAME)
        && unhealthyNodes.contains(domain.values().getLast());
  }

  /**
   * How the rank of a pod in its pod set follows from labels.
   *
   * @param indexLabel the label with the index of the pod; empty if no label tells it
   * @param subGroupLabel the label with the index of the pod's subgroup; empty without subgroups
   * @param subGroupCount the number of subgroups
   * @param leaders the number of pods of the smaller pod set, for the larger one of a pod-set
   *     group: they have the first indexes
   */
  public record PodRanking(
      String indexLabel, String subGroupLabel, int subGroupCount, int leaders) {

    /** No label tells the rank. */
    public static final PodRanking NONE = new PodRanking("", "", 0, 0);

    /**
     * The rank of a pod in a pod set of so many pods; empty if the labels don't tell one within the
     * pod set.
     */
    OptionalInt rank(TopologyPod pod, int count) {
      Integer index = pod.indexes().get(indexLabel);
      if (index == null) {
        return OptionalInt.empty();
      }
      long rank = (long) index - pod.indexOffset() - leaders;
      if (!subGroupLabel.isEmpty() && subGroupCount > 0) {
        Integer group = pod.indexes().get(subGroupLabel);
        int size = count / subGroupCount;
        if (group == null || rank >= size) {
          return OptionalInt.empty();
        }
        rank += (long) group * size;
      }
      return rank >= 0 && rank < count ? OptionalInt.of((int) rank) : OptionalInt.empty();
    }
  }
}
