package dev.sluice.engine;

import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.Explanation;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import java.util.Map;
import java.util.Optional;

/** What bars a Workload from being considered, whatever the quota (scheduling semantics, 1). */
final class Bars {

  private final Registry registry;

  Bars(Registry registry) {
    this.registry = registry;
  }

  /** What bars an item from being considered, whatever the quota. */
  Optional<Explanation> of(PendingItem item, QueueState queue) {
    Optional<Explanation> ofNamespace = namespaceTrouble(item, queue);
    return ofNamespace.isPresent() ? ofNamespace : item.defect().map(Explanations::misconfigured);
  }

  private Optional<Explanation> namespaceTrouble(PendingItem item, QueueState queue) {
    String namespace = item.id().namespace();
    Map<String, String> labels = registry.namespaces.get(namespace);
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
  boolean block(PendingItem barred, QueueState queue) {
    return queue.isStrict() && namespaceTrouble(barred, queue).isEmpty();
  }
}
