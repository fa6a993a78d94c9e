package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.Map;
import java.util.Optional;

/**
 * What bars a Workload from being considered, whatever the quota
 * (docs/scheduling-semantics.md#what-is-pending).
 */
final class EligibilityCheck {

  private final SpecRegistry specRegistry;

  EligibilityCheck(SpecRegistry specRegistry) {
    this.specRegistry = specRegistry;
  }

  /** What bars an item from being considered, whatever the quota. */
  Optional<Explanation> of(QueuedWorkload item, ClusterQueueCache queue) {
    Optional<Explanation> ofNamespace = namespaceMismatch(item, queue);
    return ofNamespace.isPresent() ? ofNamespace : item.defect().map(Explanations::misconfigured);
  }

  private Optional<Explanation> namespaceMismatch(QueuedWorkload item, ClusterQueueCache queue) {
    String namespace = item.id().namespace();
    Map<String, String> labels = specRegistry.namespaces.get(namespace);
    ClusterQueueSpec spec = queue.spec();
    if (labels == null) {
      return Optional.of(Explanations.misconfigured("namespace " + namespace + " doesn't exist"));
    }
    return !spec.namespaceSelector().matches(labels)
        ? Optional.of(
            Explanations.misconfigured(
                "namespace "
                    + namespace
                    + " doesn't match the namespaceSelector of ClusterQueue "
                    + spec.name()))
        : Optional.empty();
  }

  /** Whether one that is barred blocks its queue: a namespace out of order bars it alone. */
  boolean ineligibility(QueuedWorkload barred, ClusterQueueCache queue) {
    return queue.isStrict() && namespaceMismatch(barred, queue).isEmpty();
  }
}
