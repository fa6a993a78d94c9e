package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterSource;
import dev.sluice.api.v1beta2.MultiKueueCluster.KubeConfig;
import dev.sluice.api.v1beta2.MultiKueueCluster.LocationType;
import dev.sluice.api.v1beta2.MultiKueueCluster.MultiKueueClusterStatus;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.PerGenerationEvents;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.StatusWriter;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reconciles a MultiKueueCluster: opens the connection with the cluster's credentials and writes
 * the condition {@code Active}.
 */
final class MultiKueueClusterReconciler extends LeaderAwareReconciler<MultiKueueCluster> {

  /** The interval at which a kubeconfig file is read again. */
  private static final Duration FILE_POLL_INTERVAL = Duration.ofSeconds(5);

  private static final String DEPRECATED_PATH = "DeprecatedPathUsage";

  private final WorkerCredentialsResolver credentialsResolver;
  private final boolean pathsConfined;
  private final RemoteConnections connections;
  private final StatusWriter<MultiKueueClusterStatus> statusWriter;
  private final PerGenerationEvents perGenerationEvents;
  private final InstantSource clock;

  MultiKueueClusterReconciler(
      Leadership leadership,
      ReconcileTrigger<MultiKueueCluster> reconcileTrigger,
      WorkerCredentialsResolver credentialsResolver,
      boolean pathsConfined,
      RemoteConnections connections,
      ApiClient apiClient,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      InstantSource clock) {
    super(leadership, reconcileTrigger);
    this.credentialsResolver = credentialsResolver;
    this.pathsConfined = pathsConfined;
    this.connections = connections;
    this.statusWriter = new StatusWriter<>(mapper, apiClient, MultiKueueClusterStatus.class);
    this.perGenerationEvents = new PerGenerationEvents(eventNotifier);
    this.clock = clock;
  }

  @Override
  protected Step reconcileObject(MultiKueueCluster cluster) {
    String name = cluster.getMetadata().getName();
    ClusterSource clusterSource = source(cluster);
    WorkerAccess workerAccess = credentialsResolver.of(clusterSource);
    switch (workerAccess) {
      case WorkerAccess.Usable usable -> connections.use(name, usable.workerCredentials());
      case WorkerAccess.Here here -> connections.forget(name);
      case WorkerAccess.Refused refused -> connections.deny(name);
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
        ClusterConditions.of(workerAccess, connections.state(name))
            .flatMap(condition -> write(cluster, condition))
            .map(outcome -> after(cluster, outcome))
            .orElseGet(Step.Done::new);
    return file && step instanceof Step.Done ? new Step.Requeue(FILE_POLL_INTERVAL) : step;
  }

  private Optional<ApiOutcome> write(MultiKueueCluster cluster, ActiveCondition condition) {
    return statusWriter.write(
        cluster,
        standing -> {
          List<Condition> conditions = standing == null ? List.of() : standing.conditions();
          return new MultiKueueClusterStatus(
              condition.in(conditions, generation(cluster), clock.instant()));
        });
  }

  /** The source of the access; nothing is required of an object without spec, which gives none. */
  static ClusterSource source(MultiKueueCluster cluster) {
    return cluster.getSpec() == null
        ? new ClusterSource(null, null)
        : cluster.getSpec().clusterSource();
  }

  private static boolean isFile(@Nullable KubeConfig kubeConfig) {
    return kubeConfig != null && kubeConfig.locationType() == LocationType.PATH;
  }

  @Override
  protected void forget(MultiKueueCluster cluster) {
    connections.forget(cluster.getMetadata().getName());
    statusWriter.forget(cluster);
    perGenerationEvents.forget(cluster);
  }

  /**
   * Computes the condition of a MultiKueueCluster from its credentials and the state of its
   * connection.
   */
  static final class ClusterConditions {

    private ClusterConditions() {}

    /**
     * The condition to write; empty when the cluster's state is not known yet and the present
     * condition stays.
     */
    static Optional<ActiveCondition> of(
        WorkerAccess workerAccess, Optional<ConnectionState> connectionState) {
      return switch (workerAccess) {
        case WorkerAccess.Unknown() -> Optional.empty();
        case WorkerAccess.Here() ->
            Optional.of(
                new ActiveCondition(true, ClusterReason.ACTIVE.text(), "It is this cluster"));
        case WorkerAccess.Refused(ClusterReason reason, String message) ->
            inactive(reason, message);
        case WorkerAccess.Usable usable -> connectionState.flatMap(ClusterConditions::of);
      };
    }

    private static Optional<ActiveCondition> of(ConnectionState connectionState) {
      return switch (connectionState) {
        case ConnectionState.Connecting connecting -> Optional.empty();
        case ConnectionState.Denied denied -> Optional.empty();
        case ConnectionState.Connected connected ->
            Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "Connected"));
        case ConnectionState.Unbuildable broken ->
            inactive(ClusterReason.BAD_REST_CONFIG, "no client can be made: " + broken.cause());
        case ConnectionState.Failing failing ->
            inactive(ClusterReason.CLIENT_CONNECTION_FAILED, message(failing));
      };
    }

    private static String message(ConnectionState.Failing failing) {
      return failing.cause()
          + "; failed attempts: "
          + failing.attempts()
          + ", next attempt at "
          + failing.next().truncatedTo(ChronoUnit.SECONDS);
    }

    private static Optional<ActiveCondition> inactive(ClusterReason reason, String message) {
      return Optional.of(new ActiveCondition(false, reason.text(), message));
    }
  }
}
