package dev.sluice.workload.record;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * How much memory Workloads take that are remembered after they were deleted. Nobody's quota of
 * objects bounds those.
 */
public final class RecordSize {

  /** What an object takes beside its text, about. */
  private static final int OBJECT = 64;

  private RecordSize() {}

  /**
   * About how many bytes a Workload takes beside its status, as if it shared no template and no
   * text with another one.
   */
  public static long bytes(CachedWorkload workload) {
    return bytes(
        List.of(
            workload.labels(),
            workload.annotations(),
            workload.finalizers(),
            workload.coOwners(),
            workload.spec().preemptionGates(),
            workload.spec().podSets()));
  }

  /** The same of a part, or of a collection of parts. */
  public static long bytes(Object value) {
    return switch (value) {
      case Map<?, ?> map -> bytes(map.keySet()) + bytes(map.values());
      case Collection<?> values -> OBJECT + values.stream().mapToLong(RecordSize::bytes).sum();
      case PodSet podSet ->
          bytes(List.of(podSet.name(), podSet.topologySpreading(), podSet.topologyRequest()))
              + bytes(podSet.template());
      case PodTemplate template ->
          bytes(List.of(template.containers(), template.initContainers(), template.podLevel()))
              + bytes(List.of(template.overhead(), template.nodeConstraints()))
              + bytes(List.of(template.resourceClaims(), template.problems()));
      case Container container -> bytes(List.of(container.name(), container.resources()));
      case ResourceNeeds needs -> bytes(List.of(needs.requests(), needs.limits()));
      case NodeConstraints nodes ->
          bytes(List.of(nodes.nodeSelector(), nodes.affinityTerms(), nodes.affinityFields()))
              + bytes(List.of(nodes.tolerations(), nodes.preferred()));
      case PreferredNodes preferred -> bytes(preferred.requirements());
      case LabelRequirement requirement -> bytes(List.of(requirement.key(), requirement.values()));
      default -> OBJECT + value.toString().length();
    };
  }
}
