package dev.sluice.core.topology;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * The state of a {@link TopologyCache} as a value (docs/engine-state.md). What Workloads use of
 * domains is part of their reservations.
 *
 * @param topologies the topologies, by name
 * @param nodes the nodes, by name
 * @param usedByOthers what pods that aren't placed by topology use, by node
 * @param resources names of the resources, in the order of their numbers
 * @param trees names of the flavors whose trees are built: a change of what others use of a node
 *     counts only where a tree has the node
 */
public record TopologyExport(
    List<TopologySpec> topologies,
    List<ClusterNode> nodes,
    Map<String, SortedMap<String, Long>> usedByOthers,
    List<String> resources,
    List<String> trees) {

  public TopologyExport {
    topologies = List.copyOf(topologies);
    nodes = List.copyOf(nodes);
    usedByOthers = Map.copyOf(usedByOthers);
    resources = List.copyOf(resources);
    trees = List.copyOf(trees);
  }

  /**
   * What a Workload uses of domains.
   *
   * @param domains what it uses of each
   * @param groups the groups that its pods are, where groups are spread
   */
  public record Usage(List<DomainUsage> domains, List<GroupUsage> groups) {

    public Usage {
      domains = List.copyOf(domains);
      groups = List.copyOf(groups);
    }
  }

  /** A group of pods, or the part of it that is one pod set, and its places. */
  public record GroupUsage(Spreading.Member member, TopologyAssignment assignment) {}

  /**
   * What a Workload uses of one resource in one domain.
   *
   * @param flavor the flavor of the domain; empty where all flavors share it
   * @param values the values of the assignment's levels
   * @param resource the number of the resource
   * @param amount the amount
   */
  public record DomainUsage(String flavor, List<String> values, int resource, long amount) {

    public DomainUsage {
      values = List.copyOf(values);
    }
  }
}
