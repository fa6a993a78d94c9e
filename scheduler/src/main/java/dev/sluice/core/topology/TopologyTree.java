package dev.sluice.core.topology;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The domains of one flavor's nodes. The domains of each level are numbered in the order of their
 * values from the highest level down, so that the children of a domain have consecutive numbers and
 * the number itself breaks ties. The structure doesn't change; free capacity does, and labels that
 * name no domain. Confined to the scheduler thread.
 */
public final class TopologyTree {

  private static final Comparator<String[]> BY_VALUES = Arrays::compare;

  private final TopologySpec spec;
  private final List<Toleration> tolerations;
  private final String[][] values;
  private final int[][] parents;
  private final int[][] firstChildren;
  private final List<List<ClusterNode>> nodes = new ArrayList<>();
  private final Map<String, Integer> leafOfNode = new HashMap<>();
  private final Map<String, Integer> leafOfHost = new HashMap<>();
  private final NodeFilter filter;

  /** The number of the first node of each leaf; empty unless nodes are judged one by one. */
  private final int[] firstNodes;

  private final Map<String, Integer> numberOfNode = new HashMap<>();
  private long[][] nodeCapacity = {};
  private long[][] capacity = {};
  private long[][] free = {};
  private @Nullable Capacity scratch;
  private boolean[] closed = NodeFilter.NONE;

  /** A node and the values of its levels. */
  private record Member(String[] path, ClusterNode node) {}

  /**
   * Builds a tree, in which nothing is free yet.
   *
   * @param members the nodes; those without a value for each level are left out
   * @param tolerations the tolerations that the flavor adds to pods
   * @param eachNode whether the nodes of a leaf that is no node are judged one by one
   */
  TopologyTree(
      TopologySpec spec,
      List<Toleration> tolerations,
      Collection<ClusterNode> members,
      boolean eachNode) {
    this.spec = spec;
    this.tolerations = tolerations;
    List<Member> sorted = new ArrayList<>(members.size());
    for (ClusterNode node : members) {
      String[] path = path(spec, node);
      if (path != null) {
        sorted.add(new Member(path, node));
      }
    }
    sorted.sort(
        Comparator.comparing(Member::path, BY_VALUES).thenComparing(each -> each.node.name()));
    int levels = spec.levels().size();
    values = new String[levels][sorted.size()];
    parents = new int[levels][sorted.size()];
    firstChildren = new int[levels][sorted.size() + 1];
    int[] sizes = new int[levels];
    String @Nullable [] before = null;
    for (Member member : sorted) {
      int level = before == null ? 0 : Arrays.mismatch(before, member.path);
      for (int i = level < 0 ? levels : level; i < levels; i++) {
        int number = sizes[i]++;
        values[i][number] = member.path[i];
        parents[i][number] = i == 0 ? 0 : sizes[i - 1] - 1;
        firstChildren[i][number] = i + 1 < levels ? sizes[i + 1] : 0;
        if (i == levels - 1) {
          nodes.add(new ArrayList<>(1));
        }
      }
      nodes.getLast().add(member.node);
      leafOfNode.put(member.node.name(), sizes[levels - 1] - 1);
      leafOfHost.put(member.path[levels - 1], sizes[levels - 1] - 1);
      before = member.path;
    }
    for (int i = 0; i < levels; i++) {
      values[i] = Arrays.copyOf(values[i], sizes[i]);
      parents[i] = Arrays.copyOf(parents[i], sizes[i]);
      firstChildren[i] = Arrays.copyOf(firstChildren[i], sizes[i] + 1);
      firstChildren[i][sizes[i]] = i + 1 < levels ? sizes[i + 1] : 0;
    }
    this.firstNodes = eachNode && !spec.endsAtNodes() ? new int[leaves() + 1] : new int[0];
    this.filter = new NodeFilter(judgesNodes() ? numberNodes() : nodes, tolerations);
  }

  /** Sets the leaves in which searches place nothing, by number; {@link NodeFilter#NONE}. */
  void close(boolean[] leaves) {
    closed = leaves;
  }

  /** The leaves in which searches place nothing. */
  boolean[] closed() {
    return closed;
  }

  /** Numbers the nodes of all leaves; returns each as a list of its own, in that order. */
  private List<List<ClusterNode>> numberNodes() {
    List<List<ClusterNode>> each = new ArrayList<>();
    for (int leaf = 0; leaf < leaves(); leaf++) {
      for (int i = 0; i < nodes.get(leaf).size(); i++) {
        numberOfNode.put(nodes.get(leaf).get(i).name(), each.size());
        each.add(nodes.get(leaf).subList(i, i + 1));
      }
      firstNodes[leaf + 1] = each.size();
    }
    return each;
  }

  private static String @Nullable [] path(TopologySpec spec, ClusterNode node) {
    String[] path = new String[spec.levels().size()];
    for (int i = 0; i < path.length; i++) {
      String value = node.labels().get(spec.levels().get(i));
      if (value == null) {
        return null;
      }
      path[i] = value;
    }
    return path;
  }

  /** The topology. */
  public TopologySpec spec() {
    return spec;
  }

  int levels() {
    return values.length;
  }

  /** The number of domains of a level. */
  int size(int level) {
    return values[level].length;
  }

  /** The number of leaves. */
  public int leaves() {
    return values[values.length - 1].length;
  }

  String value(int level, int domain) {
    return values[level][domain];
  }

  int parent(int level, int domain) {
    return parents[level][domain];
  }

  /** The first child of a domain; the children end before the first child of the next domain. */
  int firstChild(int level, int domain) {
    return firstChildren[level][domain];
  }

  /** The values of a leaf, from the highest level on. */
  List<String> valuesOf(int leaf) {
    String[] path = new String[levels()];
    int domain = leaf;
    for (int i = path.length - 1; i >= 0; i--) {
      path[i] = values[i][domain];
      domain = parents[i][domain];
    }
    return List.of(path);
  }

  /** The values of a leaf by which an assignment names it. */
  List<String> idOf(int leaf) {
    return spec.endsAtNodes() ? List.of(values[levels() - 1][leaf]) : valuesOf(leaf);
  }

  /** The leaf of a node; -1 if the node isn't in the tree. */
  int leafOf(String node) {
    return leafOfNode.getOrDefault(node, -1);
  }

  /** The leaf with a hostname, in a topology that ends at nodes; -1 if there is none. */
  int leafOfHost(String hostname) {
    return leafOfHost.getOrDefault(hostname, -1);
  }

  /**
   * Two assignments as one, with the domains in the order of their values. Nodes that aren't in the
   * tree, because they were lost, come last.
   */
  public TopologyAssignment union(TopologyAssignment one, TopologyAssignment other) {
    Map<List<String>, Integer> pods = new LinkedHashMap<>();
    for (TopologyAssignment each : List.of(one, other)) {
      each.domains().forEach(domain -> pods.merge(domain.values(), domain.count(), Integer::sum));
    }
    List<TopologyAssignment.Domain> domains = new ArrayList<>(pods.size());
    pods.forEach((id, count) -> domains.add(new TopologyAssignment.Domain(id, count)));
    Comparator<String[]> order =
        spec.endsAtNodes()
            ? Comparator.comparingInt(id -> leafOfHost.getOrDefault(id[0], Integer.MAX_VALUE))
            : BY_VALUES;
    domains.sort(Comparator.comparing(domain -> domain.values().toArray(String[]::new), order));
    return new TopologyAssignment(one.levels(), domains);
  }

  /** The domain of a level that contains a leaf. */
  int ancestor(int level, int leaf) {
    int domain = leaf;
    for (int i = levels() - 1; i > level; i--) {
      domain = parents[i][domain];
    }
    return domain;
  }

  /** Whether two leaves are in one domain of a level. */
  boolean isTogether(int level, int one, int two) {
    return ancestor(level, one) == ancestor(level, two);
  }

  List<ClusterNode> nodesOf(int leaf) {
    return nodes.get(leaf);
  }

  /**
   * Replaces a node by one that differs in labels alone, none of which names a domain; returns
   * false if it differs in more, and changes nothing then.
   */
  boolean replace(ClusterNode before, ClusterNode after) {
    String[] path = path(spec, before);
    if (!before.taints().equals(after.taints())
        || !before.allocatable().equals(after.allocatable())
        || !Arrays.equals(path, path(spec, after))) {
      return false;
    }
    int leaf = leafOf(before.name());
    if (leaf >= 0) {
      List<ClusterNode> members = nodes.get(leaf);
      for (int i = 0; i < members.size(); i++) {
        if (members.get(i).name().equals(after.name())) {
          // Not by replaceAll, which would end the views of single nodes that the filter has.
          members.set(i, after);
        }
      }
      filter.forget();
    }
    return true;
  }

  NodeFilter filter() {
    return filter;
  }

  /** Whether the nodes of a leaf are judged one by one: leaves are no nodes. */
  boolean judgesNodes() {
    return firstNodes.length > 0;
  }

  /**
   * The number of the first node of a leaf; the nodes end before the first one of the next leaf.
   */
  int firstNode(int leaf) {
    return firstNodes[leaf];
  }

  /**
   * What Workloads can use of a resource of each node, by number of the node; null if no node ever
   * had any.
   */
  long @Nullable [] nodeCapacity(int resource) {
    return resource < nodeCapacity.length ? nodeCapacity[resource] : null;
  }

  /** The tolerations that the flavor adds to pods. */
  List<Toleration> tolerations() {
    return tolerations;
  }

  /** What is free of a resource in a leaf. */
  long free(int leaf, int resource) {
    return resource < free.length ? free[resource][leaf] : 0;
  }

  /** What is free of a resource in all leaves; null if no leaf ever had any. */
  long @Nullable [] free(int resource) {
    return resource < free.length ? free[resource] : null;
  }

  /** What Workloads can use of a resource in all leaves; null if no leaf ever had any. */
  long @Nullable [] capacity(int resource) {
    return resource < capacity.length ? capacity[resource] : null;
  }

  /** Counts usage of a Workload. */
  void use(int leaf, int resource, long amount) {
    free = grown(free, resource, leaves());
    free[resource][leaf] -= amount;
  }

  /** Changes what Workloads can use of a node, and of its leaf. */
  void addCapacity(String node, int resource, long amount) {
    if (judgesNodes()) {
      nodeCapacity = grown(nodeCapacity, resource, numberOfNode.size());
      nodeCapacity[resource][numberOfNode.getOrDefault(node, -1)] += amount;
    }
    addCapacity(leafOf(node), resource, amount);
  }

  /** Changes what Workloads can use of a leaf. */
  void addCapacity(int leaf, int resource, long amount) {
    capacity = grown(capacity, resource, leaves());
    capacity[resource][leaf] += amount;
    use(leaf, resource, -amount);
  }

  private static long[][] grown(long[][] columns, int resource, int size) {
    if (resource < columns.length) {
      return columns;
    }
    long[][] more = Arrays.copyOf(columns, resource + 1);
    for (int i = columns.length; i < more.length; i++) {
      more[i] = new long[size];
    }
    return more;
  }

  /** The arrays of the searches in this tree. */
  Capacity scratch() {
    if (scratch == null) {
      scratch = new Capacity(this);
    }
    return scratch;
  }
}
