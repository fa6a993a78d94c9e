package dev.sluice.workload.record;

import dev.sluice.core.model.WorkloadId;
import java.util.Collection;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** Lists cached Workloads: readable from any thread, as current as the watch. */
public interface WorkloadLister {

  /** The Workload of this name, if it exists. */
  Optional<CachedWorkload> get(String namespace, String name);

  /** This Workload, if it exists; not another one of its name. */
  default Optional<CachedWorkload> get(WorkloadId id) {
    return get(id.namespace(), id.name()).filter(found -> found.id().equals(id));
  }

  /** The Workloads controlled by the object with this UID. */
  Collection<CachedWorkload> ownedBy(String ownerUid);

  /** The Workloads of a LocalQueue, pending or not. */
  Collection<CachedWorkload> inQueue(String namespace, String queueName);

  /** The Workloads with quota of a ClusterQueue reserved. */
  Collection<CachedWorkload> reservingIn(String clusterQueue);

  /** All Workloads, in no particular order; the view changes concurrently. */
  Iterable<CachedWorkload> all();

  /** All Workloads of a namespace. */
  default Iterable<CachedWorkload> inNamespace(String namespace) {
    return () ->
        StreamSupport.stream(all().spliterator(), false)
            .filter(workload -> workload.id().namespace().equals(namespace))
            .iterator();
  }

  /** Number of Workloads. */
  int size();
}
