package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.ClusterSource;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.LocationType;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueClusterStatus;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.client.PatchOutcome;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reconcile.LeaderAwareReconciler;
import dev.sluice.kube.reconcile.PerGenerationEvents;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import dev.sluice.queues.StatusWriter;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A MultiKueueCluster: it is connected to as it says, and its condition says what came of it. */
final class MultiKueueClusterReconciler extends LeaderAwareReconciler<MultiKueueCluster> {

  /** How often a kubeconfig in a file is read again. */
  private static final Duration FILES = Duration.ofSeconds(5);

  private static final String DEPRECATED_PATH = "DeprecatedPathUsage";

  private final WorkerCredentialsResolver source;
  private final boolean pathsConfined;
  private final RemoteConnections links;
  private final StatusWriter<MultiKueueClusterStatus> statuses;
  private final PerGenerationEvents perGenerationEvents;
  private final InstantSource clock;

  MultiKueueClusterReconciler(
      Leadership leadership,
      ReconcileTrigger<MultiKueueCluster> reconcileTrigger,
      WorkerCredentialsResolver source,
      boolean pathsConfined,
      RemoteConnections links,
      ApiPatcher patches,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      InstantSource clock) {
    super(leadership, reconcileTrigger);
    this.source = source;
    this.pathsConfined = pathsConfined;
    this.links = links;
    this.statuses = new StatusWriter<>(mapper, patches, MultiKueueClusterStatus.class);
    this.perGenerationEvents = new PerGenerationEvents(eventNotifier);
    this.clock = clock;
  }

  @Override
  protected Step reconcileObject(MultiKueueCluster cluster) {
    String name = cluster.getMetadata().getName();
    ClusterSource clusterSource = cluster.getSpec().clusterSource();
    WorkerAccess workerAccess = source.of(clusterSource);
    switch (workerAccess) {
      case WorkerAccess.Usable usable -> links.use(name, usable.workerCredentials());
      case WorkerAccess.Here here -> links.forget(name);
      case WorkerAccess.Refused refused -> links.deny(name);
      case WorkerAccess.Unknown unknown -> {
        return new Step.Done();
      }
    }
    boolean file = isFile(clusterSource.kubeConfig());
    if (file && !pathsConfined) {
      perGenerationEvents.emit(
          cluster,
          DEPRECATED_PATH,
          List.of(
              "clusterSource.kubeConfig.location is taken from anywhere since the feature gate"
                  + " MultiKueueKubeConfigPathValidation is off; move the file to"
                  + " /etc/multikueue/kubeconfigs"));
    }
    Step step =
        ClusterConditions.of(workerAccess, links.state(name))
            .flatMap(condition -> write(cluster, condition))
            .map(outcome -> after(cluster, outcome))
            .orElseGet(Step.Done::new);
    return file && step instanceof Step.Done ? new Step.Requeue(FILES) : step;
  }

  private Optional<PatchOutcome> write(MultiKueueCluster cluster, ActiveCondition condition) {
    return statuses.write(
        cluster,
        standing -> {
          List<Condition> conditions = standing == null ? List.of() : standing.conditions();
          return new MultiKueueClusterStatus(
              condition.in(conditions, generation(cluster), clock.instant()));
        });
  }

  private static boolean isFile(@Nullable KubeConfig kubeConfig) {
    return kubeConfig != null && kubeConfig.locationType() == LocationType.PATH;
  }

  @Override
  protected void forget(MultiKueueCluster cluster) {
    links.forget(cluster.getMetadata().getName());
    statuses.forget(cluster);
    perGenerationEvents.forget(cluster);
  }
}
