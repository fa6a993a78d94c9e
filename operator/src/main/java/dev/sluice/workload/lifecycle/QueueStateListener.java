package dev.sluice.workload.lifecycle;

/**
 * Receives changes of queues that can change what is due for their Workloads: a queue is stopped,
 * resumed, created or deleted, or requires other admission checks. Called from any thread; must not
 * block.
 */
public interface QueueStateListener {

  /** The state of this LocalQueue changed; its Workloads have to be reconciled. */
  void localQueueChanged(String namespace, String name);

  /**
   * The state of this ClusterQueue changed; Workloads that hold its quota have to be reconciled.
   */
  void clusterQueueChanged(String clusterQueue);
}
