package dev.sluice.core.topology;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The nodes that pods can't run on, because of taints, node selector or required node affinity.
 * Results are remembered, because many pods have the same constraints. Confined to the scheduler
 * thread.
 */
final class NodeFilter {

  private static final int REMEMBERED = 32;

  /** The field of nodes that node affinity can require. */
  private static final String NAME = "metadata.name";

  /** The result if nothing is excluded. */
  static final boolean[] NONE = {};

  private final List<List<ClusterNode>> nodes;
  private final List<Toleration> tolerations;
  private final boolean tainted;
  private final Map<NodeConstraints, boolean[]> results =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<NodeConstraints, boolean[]> eldest) {
          return size() > REMEMBERED;
        }
      };

  /**
   * @param nodes what is judged as one: single nodes, or the nodes of each leaf
   * @param tolerations tolerations that all pods get
   */
  NodeFilter(List<List<ClusterNode>> nodes, List<Toleration> tolerations) {
    this.nodes = nodes;
    this.tolerations = tolerations;
    this.tainted =
        nodes.stream()
            .flatMap(List::stream)
            .anyMatch(node -> node.taints().stream().anyMatch(Taint::keepsPodsOff));
  }

  /** Whether each of what is judged as one is excluded; {@link #NONE} if none is. */
  boolean[] excluded(NodeConstraints constraints) {
    if (!tainted && constraints.nodeSelector().isEmpty() && constraints.affinityTerms().isEmpty()) {
      return NONE;
    }
    return results.computeIfAbsent(constraints, this::compute);
  }

  /** Forgets all results, because labels of a node changed. */
  void forget() {
    results.clear();
  }

  private boolean[] compute(NodeConstraints constraints) {
    boolean[] excluded = new boolean[nodes.size()];
    boolean any = false;
    for (int i = 0; i < excluded.length; i++) {
      for (ClusterNode node : nodes.get(i)) {
        excluded[i] |= !admits(node, constraints);
      }
      any |= excluded[i];
    }
    return any ? excluded : NONE;
  }

  private boolean admits(ClusterNode node, NodeConstraints constraints) {
    for (Taint taint : node.taints()) {
      if (taint.keepsPodsOff()
          && !tolerated(taint, constraints.tolerations())
          && !tolerated(taint, tolerations)) {
        return false;
      }
    }
    for (Map.Entry<String, String> wanted : constraints.nodeSelector().entrySet()) {
      if (!wanted.getValue().equals(node.labels().get(wanted.getKey()))) {
        return false;
      }
    }
    List<List<LabelRequirement>> terms = constraints.affinityTerms();
    for (int i = 0; i < terms.size(); i++) {
      if (matches(terms.get(i), constraints.fieldsOf(i), node)) {
        return true;
      }
    }
    return terms.isEmpty();
  }

  /** Whether a term of the required node affinity matches; one that requires nothing doesn't. */
  private static boolean matches(
      List<LabelRequirement> labels, List<LabelRequirement> fields, ClusterNode node) {
    if (labels.isEmpty() && fields.isEmpty()) {
      return false;
    }
    for (LabelRequirement field : fields) {
      if (!matchesField(field, node)) {
        return false;
      }
    }
    return matches(labels, node.labels());
  }

  /** Kubernetes knows one field, the name, which is or isn't a single value; others match never. */
  private static boolean matchesField(LabelRequirement field, ClusterNode node) {
    if (!field.key().equals(NAME) || field.values().size() != 1) {
      return false;
    }
    return switch (field.operator()) {
      case IN -> node.name().equals(field.values().getFirst());
      case NOT_IN -> !node.name().equals(field.values().getFirst());
      case EXISTS, DOES_NOT_EXIST, GT, LT -> false;
    };
  }

  private static boolean tolerated(Taint taint, List<Toleration> tolerations) {
    for (Toleration toleration : tolerations) {
      if (toleration.tolerates(taint)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(List<LabelRequirement> term, Map<String, String> labels) {
    for (LabelRequirement requirement : term) {
      if (!requirement.matches(labels)) {
        return false;
      }
    }
    return true;
  }

  /** The weight of the preferred node affinity that the nodes of a leaf meet. */
  long score(int leaf, List<PreferredNodes> preferred) {
    long score = 0;
    for (PreferredNodes each : preferred) {
      boolean met = true;
      for (ClusterNode node : nodes.get(leaf)) {
        met &= matches(each.requirements(), node.labels());
      }
      score += met ? each.weight() : 0;
    }
    return score;
  }
}
