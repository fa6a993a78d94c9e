package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.workload.WorkloadLister;
import java.util.Collection;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Searches for orphans in workers: remote Workloads whose Workload is gone, and remote jobs without
 * a remote Workload.
 */
final class OrphanCollector {

  private final RemoteConnections connections;
  private final WorkloadLister workloads;
  private final WorkloadStateReader workloadStateReader;
  private final RemoteJobInformers jobs;
  private final ActionExecutor actionExecutor;
  private final Leadership leadership;
  private final Executor io;
  private final Consumer<Key> enqueue;

  OrphanCollector(
      RemoteConnections connections,
      WorkloadLister workloads,
      WorkloadStateReader workloadStateReader,
      RemoteJobInformers jobs,
      ActionExecutor actionExecutor,
      Leadership leadership,
      Executor io,
      Consumer<Key> enqueue) {
    this.connections = connections;
    this.workloads = workloads;
    this.workloadStateReader = workloadStateReader;
    this.jobs = jobs;
    this.actionExecutor = actionExecutor;
    this.leadership = leadership;
    this.io = io;
    this.enqueue = enqueue;
  }

  /** Enqueues the Workloads of orphaned copies and deletes orphaned jobs. */
  void collect() {
    for (String cluster : connections.connected().keySet()) {
      connections.workloads(cluster).map(RemoteObjects::all).stream()
          .flatMap(Collection::stream)
          .map(Key::of)
          .filter(
              key ->
                  workloads.get(key.namespace(), key.name()).filter(it -> !it.deleting()).isEmpty())
          .forEach(enqueue);
    }
    jobs.visit(
        (cluster, kind, job, key) -> {
          if (leadership.leading()
              && !isExpectedIn(cluster, key)
              && !workloadStateReader.copies(key).containsKey(cluster)) {
            String name = job.getMetadata().getName();
            io.execute(() -> actionExecutor.remove(cluster, kind, key, name));
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
