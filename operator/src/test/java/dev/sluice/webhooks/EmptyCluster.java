package dev.sluice.webhooks;

import dev.sluice.webhooks.rules.ClusterLookup;
import java.util.Map;

/** A cluster without namespaces, queues, classes and owners, but for what a test adds. */
public interface EmptyCluster extends ClusterLookup {

  @Override
  default boolean hasDefaultLocalQueue(String namespace) {
    return false;
  }

  @Override
  default boolean hasDefaultPriorityClass() {
    return false;
  }

  @Override
  default Map<String, String> namespaceLabels(String namespace) {
    return Map.of();
  }

  @Override
  default boolean isManaged(String namespace, Owner owner) {
    return false;
  }
}
