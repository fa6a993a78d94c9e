package dev.sluice.workload.record;

import java.util.concurrent.CompletableFuture;

/** Reads all Workloads of the cluster and follows their changes, across lost connections. */
public interface WorkloadReader extends AutoCloseable {

  /**
   * Adds a listener for later changes. One that is added after the first listing is told at once
   * that the store contains all Workloads.
   */
  void listen(WorkloadListener listener);

  /** Takes a listener out. */
  void unlisten(WorkloadListener listener);

  /** Starts reading; completes when the first listing is complete and listeners were told. */
  CompletableFuture<Void> start();

  /**
   * Completes when everything that the API server had committed before this call has been seen: a
   * fresh read of the newest version, awaited in the watch.
   */
  CompletableFuture<Void> caughtUp();

  /**
   * Looks one Workload up at the API server. Completes when the store knows it at least as it was
   * at the time of this call; what doesn't exist there is left to the watch. Fails with an
   * IOException when the API server doesn't answer.
   */
  CompletableFuture<Void> refresh(String namespace, String name);

  /** The cached Workloads. */
  WorkloadLister store();

  /** Stops reading. */
  @Override
  void close();
}
