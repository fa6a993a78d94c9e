package dev.sluice.checks.multikueue.sync;

import dev.sluice.workload.record.CachedWorkload;

/** Listener for dispatch events, called after the write succeeded. */
public interface DispatchListener {

  /** A remote Workload was created in a worker. */
  void dispatched(CachedWorkload workload, String clusterQueue, String cluster);

  /** A remote Workload was admitted; the Workload runs in that worker from now on. */
  void admitted(CachedWorkload workload, String clusterQueue, String cluster);

  /** The Workload was requeued because its worker lost it, evicted it, or cannot be reached. */
  void requeued(CachedWorkload workload, String clusterQueue, String cluster);

  /** A worker was cut off, because it sent more than is read from one. */
  default void cutOff(String cluster) {}

  /** An object of a worker can't be read. */
  default void unreadable(String cluster) {}

  /** Reports a message about a Workload to users. */
  void reported(CachedWorkload workload, boolean warning, String note);
}
