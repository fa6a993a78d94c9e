package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.LocationType;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.checks.multikueue.access.ClusterProfileValidator;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import dev.sluice.checks.multikueue.capacity.NominalQuota;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.quota.QuotaAutomation;
import dev.sluice.checks.multikueue.quota.WorkerQuotaState;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.ConnectionState;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler;
import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reading.InformerSupervisor;
import dev.sluice.kube.reconcile.ControllerRegistration;
import dev.sluice.kube.reconcile.ObservableItemStore;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import dev.sluice.queues.ExternalConditions;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.javaoperatorsdk.operator.Operator;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of worker clusters and of the checks that choose from them, and what has them
 * act: their objects' changes, Secrets, connections, and the beginning of leadership.
 */
public final class MultiKueueControllers implements AutoCloseable {

  private static final long PAGE = 500;

  /**
   * What the reconcilers stand on.
   *
   * @param client of the manager's own API server
   * @param namespace the operator's own, where Secrets with kubeconfigs are
   * @param files kubeconfigs in the file system
   * @param profiles what is taken from ClusterProfiles, if they may be used
   * @param pathsConfined whether files lie only where they should; otherwise people are told
   * @param leadership only the leader connects and writes
   * @param patches writes conditions
   * @param mapper how statuses are written and read
   * @param notices what is said beside conditions
   * @param around what connections stand on
   * @param sending what Workloads are sent by
   * @param queues the workers' queues, if anybody looks at them
   * @param localWorkers where this cluster is a worker of its own
   * @param informers keeps watches going
   * @param quotas where quota is kept at the sum of the workers', if it may be
   */
  public record Dependencies(
      KubernetesClient client,
      String namespace,
      KubeconfigFiles files,
      Optional<ClusterProfileValidator> profiles,
      boolean pathsConfined,
      Leadership leadership,
      ApiPatcher patches,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      ConnectionContext connectionContext,
      MultiKueueWorkloadReconciler.Options sending,
      Optional<WorkerQueues> queues,
      Optional<Quotas> quotas,
      LocalClusters localClusters,
      InformerSupervisor informerSupervisor) {

    InstantSource clock() {
      return connectionContext.clock();
    }
  }

  /**
   * What quota is kept by.
   *
   * @param world the manager's own queues
   * @param notes where it is said what became of it
   * @param again has the status of a ClusterQueue looked at once more
   */
  public record Quotas(
      InformerCaches informerCaches, ExternalConditions notes, Consumer<String> again) {}

  private final ObservableItemStore<MultiKueueCluster> clusters = new ObservableItemStore<>();
  private final ObservableItemStore<MultiKueueConfig> configs = new ObservableItemStore<>();
  private final ObservableItemStore<AdmissionCheck> checks = new ObservableItemStore<>();
  private final ObservableItemStore<Secret> secrets = new ObservableItemStore<>();
  private final ReconcileTrigger<MultiKueueCluster> clusterSignals =
      new ReconcileTrigger<>("worker-access");
  private final ReconcileTrigger<AdmissionCheck> checkSignals =
      new ReconcileTrigger<>("worker-clusters");
  private final SharedIndexInformer<Secret> secretInformer;
  private final SharedIndexInformer<MultiKueueConfig> configInformer;
  private final RemoteConnections links;
  private final Optional<WorkerQueues> queues;
  private final Optional<QuotaAutomation> automation;
  private final Optional<ClusterProfiles> profiles;
  private final LocalClusters localClusters;
  private final ClusterSelection clusterSelection;
  private final MultiKueueWorkloadReconciler multiKueueWorkloadReconciler;
  private final MultiKueueClusterReconciler multiKueueClusterReconciler;
  private final MultiKueueCheckReconciler multiKueueCheckReconciler;
  private volatile boolean secretsListed;
  private volatile boolean configsListed;
  private volatile boolean leading;

  /** Reconcilers that are not registered, and informers that are not started. */
  public MultiKueueControllers(Dependencies dependencies) {
    queues = dependencies.queues();
    localClusters = dependencies.localClusters();
    clusterSelection = new ClusterSelection(clusters, configs, checks, localClusters);
    links = new RemoteConnections(dependencies.connectionContext(), new LinkSignals());
    multiKueueWorkloadReconciler =
        new MultiKueueWorkloadReconciler(
            dependencies.client(),
            links,
            clusterSelection,
            dependencies.leadership(),
            dependencies.connectionContext(),
            dependencies.sending());
    profiles =
        dependencies
            .profiles()
            .map(
                any ->
                    new ClusterProfiles(
                        dependencies.client(),
                        dependencies.namespace(),
                        dependencies.connectionContext(),
                        this::signalClusters));
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
            clusterSignals,
            source,
            dependencies.pathsConfined(),
            links,
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.eventNotifier(),
            dependencies.clock());
    multiKueueCheckReconciler =
        new MultiKueueCheckReconciler(
            dependencies.leadership(),
            checkSignals,
            new MultiKueueCheckConditions(configs::find, clusters::find),
            () -> configsListed && leading,
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.clock());
    automation =
        queues.flatMap(them -> dependencies.quotas().map(it -> automation(dependencies, it, them)));
    secretInformer =
        dependencies
            .client()
            .secrets()
            .inNamespace(dependencies.namespace())
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(secrets);
    configInformer =
        dependencies
            .client()
            .resources(MultiKueueConfig.class)
            .withLimit(PAGE)
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

  /** Its labels say who may go there; its existence, whether its quota counts. */
  private void clusterChanged(
      @Nullable MultiKueueCluster before, @Nullable MultiKueueCluster after) {
    clusterSelection.declare();
    signalChecks();
    if (before == null
        || after == null
        || !ClusterSelection.labels(before).equals(ClusterSelection.labels(after))) {
      multiKueueWorkloadReconciler.enqueueAll();
      quotasChanged();
    }
  }

  private QuotaAutomation automation(Dependencies dependencies, Quotas quotas, WorkerQueues them) {
    QuotaAutomation made =
        new QuotaAutomation(
            quotas.informerCaches(),
            new QuotaAutomation.Dependencies(
                clusterSelection::config,
                (worker, localQueues) -> states(worker, localQueues, them),
                dependencies.connectionContext().delays()),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.leadership(),
            quotas.notes(),
            quotas.again());
    them.observe(made::changed);
    return made;
  }

  private WorkerQuotaState states(String worker, List<String> localQueues, WorkerQueues them) {
    if (clusters.find(worker).isEmpty()) {
      return new WorkerQuotaState.Away();
    }
    if (localClusters.isHere(worker)) {
      return new WorkerQuotaState.Connected(new NominalQuota.Known(Map.of()));
    }
    return switch (links
        .state(worker)
        .orElseGet(() -> new ConnectionState.Connecting(Optional.empty()))) {
      case ConnectionState.Connecting connecting -> new WorkerQuotaState.Unknown();
      case ConnectionState.Connected connected ->
          new WorkerQuotaState.Connected(them.nominal(worker, localQueues));
      case ConnectionState.Failing failing -> new WorkerQuotaState.Away();
      case ConnectionState.Unbuildable broken -> new WorkerQuotaState.Away();
      case ConnectionState.Denied denied -> new WorkerQuotaState.Away();
    };
  }

  private void targetsChanged() {
    clusterSelection.declare();
    signalChecks();
    multiKueueWorkloadReconciler.enqueueAll();
    quotasChanged();
  }

  private void quotasChanged() {
    automation.ifPresent(QuotaAutomation::changed);
  }

  private static String name(@Nullable HasMetadata before, @Nullable HasMetadata after) {
    HasMetadata either = after == null ? before : after;
    return either == null ? "" : either.getMetadata().getName();
  }

  private void secretChanged(String secret) {
    clusters.all().stream()
        .filter(cluster -> secretOf(cluster).filter(secret::equals).isPresent())
        .forEach(cluster -> clusterSignals.signal(cluster.getMetadata().getName()));
  }

  private static Optional<String> secretOf(MultiKueueCluster cluster) {
    KubeConfig kubeConfig =
        cluster.getSpec() == null ? null : cluster.getSpec().clusterSource().kubeConfig();
    return Optional.ofNullable(kubeConfig)
        .filter(it -> it.locationType() == LocationType.SECRET)
        .map(KubeConfig::location);
  }

  private void signalChecks() {
    checks.all().stream()
        .filter(MultiKueueChecks::concerns)
        .forEach(check -> checkSignals.signal(check.getMetadata().getName()));
  }

  private void signalClusters() {
    clusters.all().forEach(cluster -> clusterSignals.signal(cluster.getMetadata().getName()));
  }

  /** Registers the reconcilers. */
  public void register(Operator operator) {
    ControllerRegistration.register(
        operator, "multikueuecluster", multiKueueClusterReconciler, clusters);
    ControllerRegistration.register(
        operator, "multikueue-admissioncheck", multiKueueCheckReconciler, checks);
  }

  /**
   * Begins to read Secrets and MultiKueueConfigs; what depends on them waits until they are read.
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
                  signalClusters();
                });
  }

  /** This process leads from now on: looks at every object once. */
  public void leadershipStarted() {
    leading = true;
    signalClusters();
    signalChecks();
    multiKueueWorkloadReconciler.leadershipStarted();
    automation.ifPresent(QuotaAutomation::leadershipStarted);
  }

  /** The connections to the worker clusters. */
  public RemoteConnections links() {
    return links;
  }

  /** Stops reading, and ends all connections; the reconcilers stop with their operator. */
  @Override
  public void close() {
    secretInformer.stop();
    configInformer.stop();
    multiKueueWorkloadReconciler.close();
    automation.ifPresent(QuotaAutomation::close);
    queues.ifPresent(WorkerQueues::close);
    profiles.ifPresent(ClusterProfiles::close);
    links.close();
  }

  private final class LinkSignals implements RemoteConnections.Listener {

    @Override
    public void stateChanged(String cluster) {
      clusterSignals.signal(cluster);
      queues.ifPresent(it -> it.follow(cluster, links.client(cluster)));
      multiKueueWorkloadReconciler.connectionChanged(cluster);
      quotasChanged();
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
}
