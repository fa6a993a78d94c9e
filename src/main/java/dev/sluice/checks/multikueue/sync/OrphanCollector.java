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
 * Looks for what was left in workers: copies of Workloads that are gone, and jobs without a copy.
 */
final class OrphanCollector {

  private final RemoteConnections links;
  private final WorkloadLister workloads;
  private final WorkloadStateReader workloadStateReader;
  private final RemoteJobInformers jobs;
  private final ActionExecutor actionExecutor;
  private final Leadership leadership;
  private final Executor io;
  private final Consumer<Key> wake;

  OrphanCollector(
      RemoteConnections links,
      WorkloadLister workloads,
      WorkloadStateReader workloadStateReader,
      RemoteJobInformers jobs,
      ActionExecutor actionExecutor,
      Leadership leadership,
      Executor io,
      Consumer<Key> wake) {
    this.links = links;
    this.workloads = workloads;
    this.workloadStateReader = workloadStateReader;
    this.jobs = jobs;
    this.actionExecutor = actionExecutor;
    this.leadership = leadership;
    this.io = io;
    this.wake = wake;
  }

  /** Has the Workloads of such copies looked at, and such jobs deleted. */
  void collect() {
    for (String cluster : links.connected().keySet()) {
      links.workloads(cluster).map(RemoteObjects::all).stream()
          .flatMap(Collection::stream)
          .map(Key::of)
          .filter(
              key ->
                  workloads.get(key.namespace(), key.name()).filter(it -> !it.deleting()).isEmpty())
          .forEach(wake);
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

  /** Whether the manager's Workload runs in a worker, as far as is written. */
  private boolean isExpectedIn(String cluster, Key key) {
    return workloads
        .get(key.namespace(), key.name())
        .filter(it -> it.status().remotePlacement().cluster().equals(cluster))
        .isPresent();
  }
}
