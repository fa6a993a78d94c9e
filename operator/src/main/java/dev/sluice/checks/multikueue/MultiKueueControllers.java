package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.KubeConfig;
import dev.sluice.api.v1beta2.MultiKueueCluster.LocationType;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.controller.CheckConditionReconciler;
import dev.sluice.checks.controller.CheckConditionReconciler.AdmissionCheckController;
import dev.sluice.checks.multikueue.access.ClusterProfileValidator;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.capacity.WorkerQueues.NominalQuota;
import dev.sluice.checks.multikueue.quota.QuotaAutomation;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.WorkerQuotaState;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.ClusterSelector;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.queues.ExternalConditions;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.queues.capacity.CapacityControllers.WorkerCapacity;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.queues.mapping.CheckControllerDescription.Combinations;
import dev.sluice.queues.mapping.InactiveReasonText;
import dev.sluice.workload.writing.DecisionExecutor.FirstNomination;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.javaoperatorsdk.operator.Operator;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of MultiKueueClusters and MultiKueue AdmissionChecks, with their event sources:
 * changes of the objects, Secrets, connection states, and the start of leadership.
 */
public final class MultiKueueControllers implements AutoCloseable {

  private static final long PAGE_SIZE = 500;

  /**
   * Dependencies of the reconcilers.
   *
   * @param client client of the manager's API server
   * @param namespace the operator's own namespace, which holds the Secrets with kubeconfigs
   * @param files reads kubeconfig files
   * @param profiles validates ClusterProfiles; empty when they are disabled
   * @param pathsConfined whether kubeconfig files must lie below the configured root; otherwise an
   *     event warns about other paths
   * @param leadership only the leader connects and writes
   * @param apiClient reads and writes single objects of the manager
   * @param mapper reads and writes statuses
   * @param eventNotifier records Kubernetes events
   * @param connectionContext dependencies of connections
   * @param options options of the reconciler that dispatches Workloads
   * @param queues the workers' queues; empty when no feature needs them
   * @param quotas dependencies of quota automation; empty when it is disabled
   * @param localClusters where to declare that this cluster is also a worker
   * @param informerSupervisor restarts failed watches
   */
  public record Dependencies(
      KubernetesClient client,
      String namespace,
      KubeconfigFiles files,
      Optional<ClusterProfileValidator> profiles,
      boolean pathsConfined,
      Leadership leadership,
      ApiClient apiClient,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      ConnectionContext connectionContext,
      MultiKueueWorkloadReconciler.Options options,
      Optional<WorkerQueues> queues,
      Optional<Quotas> quotas,
      LocalClusters localClusters,
      InformerSupervisor informerSupervisor) {

    InstantSource clock() {
      return connectionContext.clock();
    }
  }

  /**
   * Dependencies of quota automation.
   *
   * @param informerCaches the manager's own queues
   * @param conditions receives the result as a condition of the ClusterQueue
   * @param again requests another reconciliation of a ClusterQueue's status
   */
  public record Quotas(
      InformerCaches informerCaches, ExternalConditions conditions, Consumer<String> again) {}

  private final ObservableItemStore<MultiKueueCluster> clusters = new ObservableItemStore<>();
  private final ObservableItemStore<MultiKueueConfig> configs = new ObservableItemStore<>();
  private final ObservableItemStore<AdmissionCheck> checks = new ObservableItemStore<>();
  private final ObservableItemStore<Secret> secrets = new ObservableItemStore<>();
  private final ReconcileTrigger<MultiKueueCluster> clusterTrigger =
      new ReconcileTrigger<>("worker-access");
  private final ReconcileTrigger<AdmissionCheck> checkTrigger =
      new ReconcileTrigger<>("worker-clusters");
  private final SharedIndexInformer<Secret> secretInformer;
  private final SharedIndexInformer<MultiKueueConfig> configInformer;
  private final RemoteConnections connections;
  private final Optional<WorkerQueues> queues;
  private final Optional<QuotaAutomation> quotaAutomation;
  private final Optional<ClusterProfiles> profiles;
  private final LocalClusters localClusters;
  private final ClusterSelection clusterSelection;
  private final MultiKueueWorkloadReconciler multiKueueWorkloadReconciler;
  private final MultiKueueClusterReconciler multiKueueClusterReconciler;
  private final CheckConditionReconciler checkConditionReconciler;
  private volatile boolean secretsListed;
  private volatile boolean configsListed;
  private volatile boolean leading;

  /** Nominates workers for a Workload in the write that reserves its quota. */
  public FirstNomination firstNomination() {
    return multiKueueWorkloadReconciler.firstNomination();
  }

  /** Creates the reconcilers and informers without registering or starting them. */
  public MultiKueueControllers(Dependencies dependencies) {
    queues = dependencies.queues();
    localClusters = dependencies.localClusters();
    clusterSelection =
        new ClusterSelection(clusters, configs, checks, localClusters, () -> configsListed);
    connections = new RemoteConnections(dependencies.connectionContext(), new ConnectionEvents());
    multiKueueWorkloadReconciler =
        new MultiKueueWorkloadReconciler(
            dependencies.apiClient(),
            connections,
            clusterSelection,
            dependencies.leadership(),
            dependencies.connectionContext(),
            dependencies.options());
    profiles =
        dependencies
            .profiles()
            .map(
                any ->
                    new ClusterProfiles(
                        dependencies.client(),
                        dependencies.namespace(),
                        dependencies.connectionContext(),
                        this::reconcileClusters));
    WorkerCredentialsResolver source =
        new WorkerCredentialsResolver(
            dependencies.namespace(),
            name -> secrets.find(dependencies.namespace(), name),
            () -> secretsListed,
            dependencies.files(),
            profiles(dependencies));
    multiKueueClusterReconciler =
        new MultiKueueClusterReconciler(
            dependencies.leadership(),
            clusterTrigger,
            source,
            dependencies.pathsConfined(),
            connections,
            dependencies.apiClient(),
            dependencies.mapper(),
            dependencies.eventNotifier(),
            dependencies.clock());
    checkConditionReconciler =
        new CheckConditionReconciler(
            new MultiKueueCheckController(
                new MultiKueueCheckConditions(configs::find, clusters::find),
                () -> configsListed && leading),
            dependencies.leadership(),
            checkTrigger,
            dependencies.apiClient(),
            dependencies.mapper(),
            dependencies.clock());
    quotaAutomation =
        queues.flatMap(
            workerQueues ->
                dependencies.quotas().map(it -> quotaAutomation(dependencies, it, workerQueues)));
    secretInformer =
        dependencies
            .client()
            .secrets()
            .inNamespace(dependencies.namespace())
            .withLimit(PAGE_SIZE)
            .runnableInformer(0)
            .itemStore(secrets);
    configInformer =
        dependencies
            .client()
            .resources(MultiKueueConfig.class)
            .withLimit(PAGE_SIZE)
            .runnableInformer(0)
            .itemStore(configs);
    dependencies.informerSupervisor().keep("secrets", secretInformer);
    dependencies.informerSupervisor().keep("multikueueconfigs", configInformer);
    secrets.observe((before, after) -> secretChanged(name(before, after)));
    configs.observe((before, after) -> targetsChanged());
    checks.observe(
        (before, after) -> {
          clusterSelection.declare();
          multiKueueWorkloadReconciler.enqueueAll();
          quotasChanged();
        });
    clusters.observe((before, after) -> clusterChanged(before, after));
  }

  private Optional<WorkerCredentialsResolver.Profiles> profiles(Dependencies dependencies) {
    return dependencies
        .profiles()
        .flatMap(
            rules ->
                profiles.map(
                    found ->
                        new WorkerCredentialsResolver.Profiles(rules, found::find, found::listed)));
  }

  /**
   * Labels of a cluster restrict which Workloads may use it; its existence decides whether its
   * quota counts.
   */
  private void clusterChanged(
      @Nullable MultiKueueCluster before, @Nullable MultiKueueCluster after) {
    clusterSelection.declare();
    reconcileChecks();
    if (before == null
        || after == null
        || !ClusterSelection.labels(before).equals(ClusterSelection.labels(after))) {
      multiKueueWorkloadReconciler.enqueueAll();
      quotasChanged();
    }
  }

  private QuotaAutomation quotaAutomation(
      Dependencies dependencies, Quotas quotas, WorkerQueues workerQueues) {
    QuotaAutomation automation =
        new QuotaAutomation(
            quotas.informerCaches(),
            new QuotaAutomation.Dependencies(
                clusterSelection::config,
                clusterSelection::listed,
                (worker, localQueues) -> states(worker, localQueues, workerQueues),
                dependencies.connectionContext().delays()),
            dependencies.apiClient(),
            dependencies.mapper(),
            dependencies.leadership(),
            quotas.conditions(),
            quotas.again());
    workerQueues.observe(automation::changed);
    return automation;
  }

  /** What the workers have; empty where their queues aren't read. */
  public Optional<WorkerCapacity> workerCapacity() {
    return queues.map(QueuesOfWorkers::new);
  }

  /** Adds a listener that is told when what the workers have may have changed. */
  public void whenCapacityChanges(Runnable listener) {
    queues.ifPresent(it -> it.observe(listener));
    clusters.observe((before, after) -> listener.run());
    configs.observe((before, after) -> listener.run());
  }

  /** The quotas of workers, by what is known of their connections. */
  private final class QueuesOfWorkers implements WorkerCapacity {

    private final WorkerQueues workerQueues;

    QueuesOfWorkers(WorkerQueues workerQueues) {
      this.workerQueues = workerQueues;
    }

    @Override
    public List<String> clusters() {
      return clusters.all().stream().map(it -> it.getMetadata().getName()).sorted().toList();
    }

    @Override
    public Optional<List<String>> clustersOf(String config) {
      return configs
          .find(config)
          .map(it -> it.getSpec() == null ? List.of() : it.getSpec().clusters());
    }

    @Override
    public ClusterQuota of(String cluster) {
      // The quota of the manager itself is what is looked for.
      return localClusters.isHere(cluster)
          ? new ClusterQuota.Known(Map.of())
          : workerQueues.byFlavor(cluster);
    }
  }

  private WorkerQuotaState states(
      String worker, List<String> localQueues, WorkerQueues workerQueues) {
    if (clusters.find(worker).isEmpty()) {
      return new WorkerQuotaState.Away();
    }
    if (localClusters.isHere(worker)) {
      return new WorkerQuotaState.Connected(new NominalQuota.Known(Map.of()));
    }
    return switch (connections
        .state(worker)
        .orElseGet(() -> new ConnectionState.Connecting(Optional.empty()))) {
      case ConnectionState.Connecting connecting -> new WorkerQuotaState.Unknown();
      case ConnectionState.Connected connected ->
          new WorkerQuotaState.Connected(workerQueues.nominal(worker, localQueues));
      case ConnectionState.Failing failing -> new WorkerQuotaState.Away();
      case ConnectionState.Unbuildable broken -> new WorkerQuotaState.Away();
      case ConnectionState.Denied denied -> new WorkerQuotaState.Away();
    };
  }

  private void targetsChanged() {
    clusterSelection.declare();
    reconcileChecks();
    multiKueueWorkloadReconciler.enqueueAll();
    quotasChanged();
  }

  private void quotasChanged() {
    quotaAutomation.ifPresent(QuotaAutomation::changed);
  }

  private static String name(@Nullable HasMetadata before, @Nullable HasMetadata after) {
    HasMetadata either = after == null ? before : after;
    return either == null ? "" : either.getMetadata().getName();
  }

  private void secretChanged(String secret) {
    clusters.all().stream()
        .filter(cluster -> secretOf(cluster).filter(secret::equals).isPresent())
        .forEach(cluster -> clusterTrigger.signal(cluster.getMetadata().getName()));
  }

  private static Optional<String> secretOf(MultiKueueCluster cluster) {
    KubeConfig kubeConfig =
        cluster.getSpec() == null ? null : cluster.getSpec().clusterSource().kubeConfig();
    return Optional.ofNullable(kubeConfig)
        .filter(it -> it.locationType() == LocationType.SECRET)
        .map(KubeConfig::location);
  }

  private void reconcileChecks() {
    checks.all().stream()
        .filter(MultiKueueChecks::concerns)
        .forEach(check -> checkTrigger.signal(check.getMetadata().getName()));
  }

  private void reconcileClusters() {
    clusters.all().forEach(cluster -> clusterTrigger.signal(cluster.getMetadata().getName()));
  }

  /**
   * Registers the reconcilers.
   *
   * @param concurrency how many objects of a kind are reconciled at a time
   */
  public void register(Operator operator, GroupKindConcurrency concurrency) {
    ControllerRegistration.register(
        operator,
        "multikueuecluster",
        multiKueueClusterReconciler,
        clusters,
        concurrency.limit(MultiKueueCluster.class));
    ControllerRegistration.register(
        operator,
        "multikueue-admissioncheck",
        checkConditionReconciler,
        checks,
        concurrency.limit(AdmissionCheck.class));
  }

  /**
   * Starts reading Secrets and MultiKueueConfigs. What depends on them waits until they are listed:
   * connections, conditions of checks, and Workloads that wait for a worker.
   */
  public void start() {
    profiles.ifPresent(ClusterProfiles::start);
    var unusedConfigs =
        configInformer
            .start()
            .thenRun(
                () -> {
                  configsListed = true;
                  targetsChanged();
                });
    var unusedSecrets =
        secretInformer
            .start()
            .thenRun(
                () -> {
                  secretsListed = true;
                  reconcileClusters();
                });
  }

  /** Called when this process becomes leader: reconciles every object once. */
  public void leadershipStarted() {
    leading = true;
    reconcileClusters();
    reconcileChecks();
    multiKueueWorkloadReconciler.leadershipStarted();
    quotaAutomation.ifPresent(QuotaAutomation::leadershipStarted);
  }

  /** Called when this process ends or doesn't lead any more: no more Workloads are dispatched. */
  public void leadershipEnded() {
    leading = false;
    multiKueueWorkloadReconciler.leadershipEnded();
  }

  /** The worker clusters, as they are known. */
  public Collection<MultiKueueCluster> workerClusters() {
    return clusters.all();
  }

  /** The worker clusters of admission checks, by the name of the check. */
  public ClusterSelector clusterSelector() {
    return clusterSelection;
  }

  /** The connections to the worker clusters. */
  public RemoteConnections connections() {
    return connections;
  }

  /** Stops the informers and closes all connections; the operator stops the reconcilers. */
  @Override
  public void close() {
    secretInformer.stop();
    configInformer.stop();
    multiKueueWorkloadReconciler.close();
    quotaAutomation.ifPresent(QuotaAutomation::close);
    queues.ifPresent(WorkerQueues::close);
    profiles.ifPresent(ClusterProfiles::close);
    connections.close();
  }

  private final class ConnectionEvents implements RemoteConnections.Listener {

    @Override
    public void stateChanged(String cluster) {
      clusterTrigger.signal(cluster);
      queues.ifPresent(it -> it.follow(cluster, () -> connections.reader(cluster)));
      multiKueueWorkloadReconciler.connectionChanged(cluster);
      quotasChanged();
    }

    @Override
    public void cutOff(String cluster) {
      multiKueueWorkloadReconciler.dispatchListener().cutOff(cluster);
    }

    @Override
    public void unreadable(String cluster) {
      multiKueueWorkloadReconciler.dispatchListener().unreadable(cluster);
    }

    @Override
    public String index(JsonNode workload) {
      return MultiKueueWorkloadReconciler.index(workload);
    }

    @Override
    public void workloadChanged(
        String cluster,
        RemoteObjects.Key key,
        @Nullable JsonNode before,
        @Nullable JsonNode after) {
      multiKueueWorkloadReconciler.enqueue(key);
    }
  }

  /**
   * The controller of MultiKueue checks. The states of its checks come from the placement of
   * Workloads, which writes them together with the cluster.
   */
  private static final class MultiKueueCheckController implements AdmissionCheckController {

    private final MultiKueueCheckConditions conditions;
    private final BooleanSupplier listed;

    /**
     * A controller of checks.
     *
     * @param listed whether the objects that checks name are listed
     */
    MultiKueueCheckController(MultiKueueCheckConditions conditions, BooleanSupplier listed) {
      this.conditions = conditions;
      this.listed = listed;
    }

    @Override
    public CheckControllerDescription description() {
      return MultiKueueChecks.DESCRIPTION;
    }

    @Override
    public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
      return listed.getAsBoolean() ? Optional.of(conditions.of(check)) : Optional.empty();
    }
  }

  /** The AdmissionChecks of the MultiKueue controller. */
  public static final class MultiKueueChecks {

    /**
     * A queue has at most one MultiKueue check, for all flavors; nodes are not provisioned here for
     * Workloads that run elsewhere.
     */
    public static final CheckControllerDescription DESCRIPTION =
        new CheckControllerDescription(
            KueueConstants.MULTIKUEUE,
            true,
            new Combinations(
                Optional.of(InactiveReasonText.MULTIPLE_MULTI_KUEUE),
                Optional.of(InactiveReasonText.MULTI_KUEUE_PER_FLAVOR),
                Map.of(
                    KueueConstants.PROVISIONING_REQUEST,
                    InactiveReasonText.MULTI_KUEUE_WITH_PROVISIONING)));

    private MultiKueueChecks() {}

    /** Whether the MultiKueue controller handles this check. */
    static boolean concerns(AdmissionCheck check) {
      return DESCRIPTION.isOf(check);
    }
  }
}
