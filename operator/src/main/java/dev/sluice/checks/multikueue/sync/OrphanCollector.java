package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.workload.record.WorkloadLister;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Searches for orphans in workers: remote Workloads whose Workload is gone, and remote jobs without
 * a remote Workload.
 */
final class OrphanCollector {

  private final Workers workers;
  private final WorkloadLister workloads;
  private final BooleanSupplier leading;
  private final Executor io;
  private final Consumer<Key> enqueue;

  /** The objects of this manager in all workers, as last seen. */
  interface Workers {

    /** The keys of the Workloads of which a worker has a copy; a key may come twice. */
    Stream<Key> copies();

    /** The workers that have a copy of this Workload. */
    Set<String> clustersOf(Key workload);

    /** Whether any Workload of a job that has several runs in this worker, or has a copy there. */
    boolean isShared(String cluster, MultiKueueKind kind, Key job);

    /** Visits all jobs. */
    void visitJobs(RemoteJobInformers.Visitor visitor);

    /** Deletes a job whose Workload is gone, unless it turns out to be another one. */
    void remove(String cluster, MultiKueueKind kind, Key workload, String name);
  }

  /**
   * Creates a collector.
   *
   * @param leading whether this process may write now
   * @param io runs deletions
   * @param enqueue requests the reconciliation of a Workload, which withdraws its copies
   */
  OrphanCollector(
      Workers workers,
      WorkloadLister workloads,
      BooleanSupplier leading,
      Executor io,
      Consumer<Key> enqueue) {
    this.workers = workers;
    this.workloads = workloads;
    this.leading = leading;
    this.io = io;
    this.enqueue = enqueue;
  }

  /** The objects that these connections and informers know. */
  static Workers workers(
      RemoteConnections connections,
      WorkloadStateReader workloadStateReader,
      RemoteJobInformers jobs,
      JobGroups jobGroups,
      ActionExecutor actionExecutor) {
    return new Workers() {
      @Override
      public Stream<Key> copies() {
        return connections.connected().keySet().stream()
            .flatMap(cluster -> connections.workloads(cluster).stream())
            .map(RemoteObjects::keys)
            .flatMap(Collection::stream);
      }

      @Override
      public Set<String> clustersOf(Key workload) {
        return workloadStateReader.copies(workload).keySet();
      }

      @Override
      public boolean isShared(String cluster, MultiKueueKind kind, Key job) {
        JobGroups.GroupedJob grouped = JobGroups.job(kind, job);
        return jobGroups.isUsed(grouped, "", cluster)
            || connections.workloads(cluster).stream()
                .anyMatch(copies -> !copies.with(grouped.toString()).isEmpty());
      }

      @Override
      public void visitJobs(RemoteJobInformers.Visitor visitor) {
        jobs.visit(visitor);
      }

      @Override
      public void remove(String cluster, MultiKueueKind kind, Key workload, String name) {
        actionExecutor.remove(cluster, kind, workload, name);
      }
    };
  }

  /** Enqueues the Workloads of orphaned copies and deletes orphaned jobs. */
  void collect() {
    workers
        .copies()
        .filter(
            key ->
                workloads.get(key.namespace(), key.name()).filter(it -> !it.deleting()).isEmpty())
        .forEach(enqueue);
    workers.visitJobs(
        (cluster, kind, job, key) -> {
          boolean needed =
              kind.hasWorkloadPerGroup()
                  ? workers.isShared(cluster, kind, key)
                  : isExpectedIn(cluster, key) || workers.clustersOf(key).contains(cluster);
          if (leading.getAsBoolean() && !needed) {
            io.execute(() -> workers.remove(cluster, kind, key, job.name()));
          }
        });
  }

  /** Whether the manager's Workload runs in the worker, according to its status. */
  private boolean isExpectedIn(String cluster, Key key) {
    return workloads
        .get(key.namespace(), key.name())
        .filter(it -> it.status().remotePlacement().cluster().equals(cluster))
        .isPresent();
  }
}
