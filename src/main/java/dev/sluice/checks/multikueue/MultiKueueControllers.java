package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.reading.Informers;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.LocationType;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.checks.multikueue.access.AccessSource;
import dev.sluice.checks.multikueue.access.ClusterProfileRules;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.capacity.NominalQuota;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.link.Around;
import dev.sluice.checks.multikueue.link.ClusterLinks;
import dev.sluice.checks.multikueue.link.LinkState;
import dev.sluice.checks.multikueue.link.RemoteObjects;
import dev.sluice.checks.multikueue.quota.QuotaAutomation;
import dev.sluice.checks.multikueue.quota.Worker;
import dev.sluice.checks.multikueue.sending.Desk;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.kinds.ConditionNotes;
import dev.sluice.controllers.kinds.Registration;
import dev.sluice.controllers.kinds.Signals;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.controllers.world.ObjectStore;
import dev.sluice.controllers.world.World;
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
  public record Parts(
      KubernetesClient client,
      String namespace,
      KubeconfigFiles files,
      Optional<ClusterProfileRules> profiles,
      boolean pathsConfined,
      Leadership leadership,
      MergePatches patches,
      ObjectMapper mapper,
      Notices notices,
      Around around,
      Desk.Rules sending,
      Optional<WorkerQueues> queues,
      Optional<Quotas> quotas,
      LocalWorkers localWorkers,
      Informers informers) {

    InstantSource clock() {
      return around.clock();
    }
  }

  /**
   * What quota is kept by.
   *
   * @param world the manager's own queues
   * @param notes where it is said what became of it
   * @param again has the status of a ClusterQueue looked at once more
   */
  public record Quotas(World world, ConditionNotes notes, Consumer<String> again) {}

  private final ObjectStore<MultiKueueCluster> clusters = new ObjectStore<>();
  private final ObjectStore<MultiKueueConfig> configs = new ObjectStore<>();
  private final ObjectStore<AdmissionCheck> checks = new ObjectStore<>();
  private final ObjectStore<Secret> secrets = new ObjectStore<>();
  private final Signals<MultiKueueCluster> clusterSignals = new Signals<>("worker-access");
  private final Signals<AdmissionCheck> checkSignals = new Signals<>("worker-clusters");
  private final SharedIndexInformer<Secret> secretInformer;
  private final SharedIndexInformer<MultiKueueConfig> configInformer;
  private final ClusterLinks links;
  private final Optional<WorkerQueues> queues;
  private final Optional<QuotaAutomation> automation;
  private final Optional<ClusterProfiles> profiles;
  private final LocalWorkers localWorkers;
  private final Choices choices;
  private final Desk desk;
  private final ClusterReconciler clusterReconciler;
  private final CheckReconciler checkReconciler;
  private volatile boolean secretsListed;
  private volatile boolean configsListed;
  private volatile boolean leading;

  /** Reconcilers that are not registered, and informers that are not started. */
  public MultiKueueControllers(Parts parts) {
    queues = parts.queues();
    localWorkers = parts.localWorkers();
    choices = new Choices(clusters, configs, checks, localWorkers);
    links = new ClusterLinks(parts.around(), new LinkSignals());
    desk =
        new Desk(
            parts.client(), links, choices, parts.leadership(), parts.around(), parts.sending());
    profiles =
        parts
            .profiles()
            .map(
                any ->
                    new ClusterProfiles(
                        parts.client(), parts.namespace(), parts.around(), this::signalClusters));
    AccessSource source =
        new AccessSource(
            parts.namespace(),
            name -> secrets.find(parts.namespace(), name),
            () -> secretsListed,
            parts.files(),
            profiles(parts));
    clusterReconciler =
        new ClusterReconciler(
            parts.leadership(),
            clusterSignals,
            source,
            parts.pathsConfined(),
            links,
            parts.patches(),
            parts.mapper(),
            parts.notices(),
            parts.clock());
    checkReconciler =
        new CheckReconciler(
            parts.leadership(),
            checkSignals,
            new CheckConditions(configs::find, clusters::find),
            () -> configsListed && leading,
            parts.patches(),
            parts.mapper(),
            parts.clock());
    automation = queues.flatMap(them -> parts.quotas().map(it -> automation(parts, it, them)));
    secretInformer =
        parts
            .client()
            .secrets()
            .inNamespace(parts.namespace())
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(secrets);
    configInformer =
        parts
            .client()
            .resources(MultiKueueConfig.class)
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(configs);
    parts.informers().keep("secrets", secretInformer);
    parts.informers().keep("multikueueconfigs", configInformer);
    secrets.observe((before, after) -> secretChanged(name(before, after)));
    configs.observe((before, after) -> targetsChanged());
    checks.observe(
        (before, after) -> {
          choices.declare();
          desk.wakeAll();
          quotasChanged();
        });
    clusters.observe((before, after) -> clusterChanged(before, after));
  }

  private Optional<AccessSource.Profiles> profiles(Parts parts) {
    return parts
        .profiles()
        .flatMap(
            rules ->
                profiles.map(
                    found -> new AccessSource.Profiles(rules, found::find, found::listed)));
  }

  /** Its labels say who may go there; its existence, whether its quota counts. */
  private void clusterChanged(
      @Nullable MultiKueueCluster before, @Nullable MultiKueueCluster after) {
    choices.declare();
    signalChecks();
    if (before == null || after == null || !Choices.labels(before).equals(Choices.labels(after))) {
      desk.wakeAll();
      quotasChanged();
    }
  }

  private QuotaAutomation automation(Parts parts, Quotas quotas, WorkerQueues them) {
    QuotaAutomation made =
        new QuotaAutomation(
            quotas.world(),
            new QuotaAutomation.Around(
                choices::config,
                (worker, localQueues) -> standing(worker, localQueues, them),
                parts.around().delays()),
            parts.patches(),
            parts.mapper(),
            parts.leadership(),
            quotas.notes(),
            quotas.again());
    them.observe(made::changed);
    return made;
  }

  private Worker standing(String worker, List<String> localQueues, WorkerQueues them) {
    if (clusters.find(worker).isEmpty()) {
      return new Worker.Away();
    }
    if (localWorkers.isHere(worker)) {
      return new Worker.Connected(new NominalQuota.Known(Map.of()));
    }
    return switch (links
        .state(worker)
        .orElseGet(() -> new LinkState.Connecting(Optional.empty()))) {
      case LinkState.Connecting connecting -> new Worker.Unknown();
      case LinkState.Connected connected -> new Worker.Connected(them.nominal(worker, localQueues));
      case LinkState.Failing failing -> new Worker.Away();
      case LinkState.Unbuildable broken -> new Worker.Away();
      case LinkState.Barred barred -> new Worker.Away();
    };
  }

  private void targetsChanged() {
    choices.declare();
    signalChecks();
    desk.wakeAll();
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
        .filter(Checks::concerns)
        .forEach(check -> checkSignals.signal(check.getMetadata().getName()));
  }

  private void signalClusters() {
    clusters.all().forEach(cluster -> clusterSignals.signal(cluster.getMetadata().getName()));
  }

  /** Registers the reconcilers. */
  public void register(Operator operator) {
    Registration.register(operator, "multikueuecluster", clusterReconciler, clusters);
    Registration.register(operator, "multikueue-admissioncheck", checkReconciler, checks);
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
    desk.leadershipStarted();
    automation.ifPresent(QuotaAutomation::leadershipStarted);
  }

  /** The connections to the worker clusters. */
  public ClusterLinks links() {
    return links;
  }

  /** Stops reading, and ends all connections; the reconcilers stop with their operator. */
  @Override
  public void close() {
    secretInformer.stop();
    configInformer.stop();
    desk.close();
    automation.ifPresent(QuotaAutomation::close);
    queues.ifPresent(WorkerQueues::close);
    profiles.ifPresent(ClusterProfiles::close);
    links.close();
  }

  private final class LinkSignals implements ClusterLinks.Listener {

    @Override
    public void stateChanged(String cluster) {
      clusterSignals.signal(cluster);
      queues.ifPresent(it -> it.follow(cluster, links.client(cluster)));
      desk.connectionChanged(cluster);
      quotasChanged();
    }

    @Override
    public void workloadChanged(
        String cluster,
        RemoteObjects.Key key,
        @Nullable JsonNode before,
        @Nullable JsonNode after) {
      desk.wake(key);
    }
  }
}
