package dev.sluice.checks.multikueue.sending;

import dev.sluice.workloads.Workload;

/** Is told of what was done, when it stands. */
public interface Told {

  /** A copy was made in a worker. */
  void dispatched(Workload workload, String clusterQueue, String cluster);

  /** A copy is admitted in a worker, where the Workload runs from now on. */
  void admitted(Workload workload, String clusterQueue, String cluster);

  /** It is taken back from a worker, which lost it, sent it back, or can't be asked. */
  void requeued(Workload workload, String clusterQueue, String cluster);

  /** Something that people may want to know of a Workload. */
  void said(Workload workload, boolean warning, String note);
}
