package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/**
 * Where the pods of a pod set may run, as their template says.
 *
 * @param nodeSelector labels a node must have
 * @param affinityTerms required node affinity, of which one term must match; empty when there is
 *     none. Each term is a list of requirements on labels; a term that had only fields is empty.
 * @param tolerations taints the pods tolerate
 */
public record NodeConstraints(
    Map<String, String> nodeSelector,
    List<List<LabelRequirement>> affinityTerms,
    List<Toleration> tolerations) {

  /** Anywhere. */
  public static final NodeConstraints ANYWHERE =
      new NodeConstraints(Map.of(), List.of(), List.of());

  public NodeConstraints {
    nodeSelector = Map.copyOf(nodeSelector);
    affinityTerms = affinityTerms.stream().map(List::copyOf).toList();
    tolerations = List.copyOf(tolerations);
  }
}
