package dev.sluice.workload;

import java.util.Collection;
import java.util.Optional;

/** The Workloads that the reader has seen: readable from any thread, as fresh as the watch. */
public interface WorkloadLister {

  /** The Workload of this name, if it exists. */
  Optional<CachedWorkload> get(String namespace, String name);

  /** The Workloads controlled by the object with this UID. */
  Collection<CachedWorkload> ownedBy(String ownerUid);

  /** The Workloads of a LocalQueue, pending or not. */
  Collection<CachedWorkload> inQueue(String namespace, String queueName);

  /** The Workloads that hold quota of a ClusterQueue. */
  Collection<CachedWorkload> reservingIn(String clusterQueue);

  /** All of them; a moving target, without order. */
  Iterable<CachedWorkload> all();

  /** How many there are. */
  int size();
}
