package dev.sluice.checks.multikueue.sync;

import dev.sluice.workload.CachedWorkload;

/** Is told of what was done, when it stands. */
public interface DispatchListener {

  /** A copy was made in a worker. */
  void dispatched(CachedWorkload workload, String clusterQueue, String cluster);

  /** A copy is admitted in a worker, where the Workload runs from now on. */
  void admitted(CachedWorkload workload, String clusterQueue, String cluster);

  /** It is taken back from a worker, which lost it, sent it back, or can't be asked. */
  void requeued(CachedWorkload workload, String clusterQueue, String cluster);

  /** Something that people may want to know of a Workload. */
  void reported(CachedWorkload workload, boolean warning, String note);
}
