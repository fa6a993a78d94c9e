package dev.sluice.core.model;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import java.util.List;
import java.util.Map;

/**
 * The nodes that the pods of a pod set may run on, from the pod template.
 *
 * @param nodeSelector labels that a node must have
 * @param affinityTerms required node affinity, of which one term must match; empty without node
 *     affinity. Each term is a list of requirements on labels; a term that had only fields is
 *     empty.
 * @param affinityFields requirements of the same terms on fields of the node, at the same indexes;
 *     empty if no term has any
 * @param tolerations tolerations of the pods
 * @param preferred preferred node affinity; chooses among domains, but rules none out
 */
public record NodeConstraints(
    Map<String, String> nodeSelector,
    List<List<LabelRequirement>> affinityTerms,
    List<List<LabelRequirement>> affinityFields,
    List<Toleration> tolerations,
    List<PreferredNodes> preferred) {

  /**
   * The key of requirements that the name of a flavor has to meet, where the search for flavors
   * leaves some out. No node has such a label.
   */
  public static final String FLAVOR = "sluice.dev/flavor-of-nodes";

  /**
   * The key of requirements that the name of a flavor has to meet, where other variants of the same
   * request try the other flavors. No node has such a label.
   */
  public static final String VARIANT = "sluice.dev/flavor-of-variant";

  /** No constraints. */
  public static final NodeConstraints ANYWHERE =
      new NodeConstraints(Map.of(), List.of(), List.of());

  public NodeConstraints {
    nodeSelector = MapCopies.of(nodeSelector);
    affinityTerms = affinityTerms.stream().map(List::copyOf).toList();
    affinityFields =
        affinityFields.stream().allMatch(List::isEmpty)
            ? List.of()
            : affinityFields.stream().map(List::copyOf).toList();
    if (!affinityFields.isEmpty() && affinityFields.size() != affinityTerms.size()) {
      throw new IllegalArgumentException("each term has its own requirements on fields");
    }
    tolerations = List.copyOf(tolerations);
    preferred = List.copyOf(preferred);
  }

  /** Constraints without requirements on fields of nodes. */
  public NodeConstraints(
      Map<String, String> nodeSelector,
      List<List<LabelRequirement>> affinityTerms,
      List<Toleration> tolerations,
      List<PreferredNodes> preferred) {
    this(nodeSelector, affinityTerms, List.of(), tolerations, preferred);
  }

  /** Constraints without preference. */
  public NodeConstraints(
      Map<String, String> nodeSelector,
      List<List<LabelRequirement>> affinityTerms,
      List<Toleration> tolerations) {
    this(nodeSelector, affinityTerms, tolerations, List.of());
  }

  /** The requirements of a term on fields of the node. */
  public List<LabelRequirement> fieldsOf(int term) {
    return affinityFields.isEmpty() ? List.of() : affinityFields.get(term);
  }

  /**
   * Preferred node affinity: nodes that meet all requirements are better by a weight.
   *
   * @param weight the weight, from 1 to 100
   * @param requirements requirements on the labels of nodes
   */
  public record PreferredNodes(int weight, List<LabelRequirement> requirements) {

    public PreferredNodes {
      requirements = List.copyOf(requirements);
    }
  }
}
