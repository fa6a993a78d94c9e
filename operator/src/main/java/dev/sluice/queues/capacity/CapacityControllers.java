package dev.sluice.queues.capacity;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.DynamicQuotaOrchestratorStatus;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.StatusWriter;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.capacity.OrchestrationPlan.Findings;
import dev.sluice.queues.capacity.OrchestrationPlan.Note;
import dev.sluice.queues.mapping.EffectiveQuotasPlan;
import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reconcilers of CapacityProviders and DynamicQuotaOrchestrators. Whenever one of the inputs
 * changes, all quotas are planned anew; several changes in a row are handled in one pass.
 */
public final class CapacityControllers implements EffectiveQuotasPlan, AutoCloseable {

  /** The path at which the API server tells whether it has the kinds. */
  public static final String API = "/apis/" + ApiVersions.GROUP + "/" + ApiVersions.V1ALPHA1;

  private static final Logger LOG = LoggerFactory.getLogger(CapacityControllers.class);
  private static final Duration GATHER = Duration.ofMillis(100);

  /** Many nodes come at once: each count may be a write for each queue. */
  private static final Duration GATHER_NODES = Duration.ofSeconds(1);

  /** How often pods are counted that no quota counts: each start of a pod would be one. */
  private static final Duration COUNT_PODS = Duration.ofSeconds(10);

  /**
   * What this reads and writes with.
   *
   * @param leadership only the leader plans and writes
   * @param caches the queues, cohorts and flavors
   * @param apiClient writes statuses
   * @param mapper reads and writes statuses
   * @param clock time of transitions
   * @param delays runs a task after a while, on another thread
   * @param again has the status of a queue or cohort looked at
   * @param sources what is counted
   */
  public record Dependencies(
      Leadership leadership,
      InformerCaches caches,
      ApiClient apiClient,
      ObjectMapper mapper,
      InstantSource clock,
      BiConsumer<Duration, Runnable> delays,
      Consumer<QuotaReference> again,
      Sources sources) {}

  /**
   * What capacity is made of.
   *
   * @param nodes the nodes of this cluster; empty if nobody counts them
   * @param workers what worker clusters have; empty if there are none
   */
  public record Sources(Optional<CapacityNodes> nodes, Optional<WorkerCapacity> workers) {

    private boolean any() {
      return nodes.isPresent() || workers.isPresent();
    }
  }

  private final Dependencies dependencies;
  private final ObservableItemStore<CapacityProvider> providers = new ObservableItemStore<>();
  private final ObservableItemStore<DynamicQuotaOrchestrator> orchestrators =
      new ObservableItemStore<>();
  private final ReconcileTrigger<CapacityProvider> providerTrigger =
      new ReconcileTrigger<>("capacity");
  private final ReconcileTrigger<DynamicQuotaOrchestrator> orchestratorTrigger =
      new ReconcileTrigger<>("quota-plans");
  private final CapacityProviderReconciler providerReconciler;
  private final DynamicQuotaOrchestratorReconciler orchestratorReconciler;
  private final AtomicBoolean due = new AtomicBoolean();
  private final AtomicBoolean recount = new AtomicBoolean();
  private final AtomicBoolean podsDue = new AtomicBoolean();
  private volatile Optional<OrchestrationPlan> plan = Optional.empty();
  private volatile boolean open;

  /** Creates the reconcilers without registering them. */
  public CapacityControllers(Dependencies dependencies) {
    this.dependencies = dependencies;
    providerReconciler = new CapacityProviderReconciler(dependencies, providerTrigger);
    orchestratorReconciler =
        new DynamicQuotaOrchestratorReconciler(
            dependencies,
            orchestratorTrigger,
            name -> plan.flatMap(it -> Optional.ofNullable(it.findings().get(name))));
    providers.observe(
        (before, after) -> {
          changed();
          nodes();
          pods();
          if (before != null && after != null && !annotations(before).equals(annotations(after))) {
            providerTrigger.signal(after.getMetadata().getName());
          }
        });
    orchestrators.observe(
        (before, after) -> {
          if (isOther(before, after)) {
            changed();
          }
        });
    InformerCaches caches = dependencies.caches();
    caches
        .clusterQueues()
        .observe(
            (before, after) -> {
              if (isOther(before, after) || !Objects.equals(effective(before), effective(after))) {
                changed();
              }
            });
    caches
        .cohorts()
        .observe(
            (before, after) -> {
              if (isOther(before, after) || !Objects.equals(effective(before), effective(after))) {
                changed();
              }
            });
    caches.flavors().observe(this::flavorChanged);
  }

  private void flavorChanged(@Nullable ResourceFlavor before, @Nullable ResourceFlavor after) {
    if (isOther(before, after)) {
      capacityChanged();
    }
  }

  private static Map<String, String> annotations(HasMetadata object) {
    Map<String, String> annotations = object.getMetadata().getAnnotations();
    return annotations == null ? Map.of() : annotations;
  }

  private static boolean isOther(@Nullable HasMetadata before, @Nullable HasMetadata after) {
    return before == null
        || after == null
        || !Objects.equals(
            before.getMetadata().getGeneration(), after.getMetadata().getGeneration())
        || before.isMarkedForDeletion() != after.isMarkedForDeletion();
  }

  private static @Nullable EffectiveQuotas effective(@Nullable ClusterQueue queue) {
    return queue == null || queue.getStatus() == null ? null : queue.getStatus().effectiveQuotas();
  }

  private static @Nullable EffectiveQuotas effective(@Nullable Cohort cohort) {
    return cohort == null || cohort.getStatus() == null
        ? null
        : cohort.getStatus().effectiveQuotas();
  }

  /** Registers both reconcilers, whose definitions must exist. */
  public void register(Operator operator) {
    ControllerRegistration.register(
        operator, "capacityprovider", providerReconciler, providers, OptionalInt.empty());
    ControllerRegistration.register(
        operator,
        "dynamicquotaorchestrator",
        orchestratorReconciler,
        orchestrators,
        OptionalInt.empty());
  }

  /** Called when this process is leader and all caches are synced. */
  public void leadershipStarted() {
    open = true;
    nodes();
    changed();
    capacityChanged();
    pods();
  }

  /** Called when a node or the queue of a worker may have changed; returns at once. */
  public void capacityChanged() {
    if (open && dependencies.sources().any() && recount.compareAndSet(false, true)) {
      dependencies
          .delays()
          .accept(
              GATHER_NODES,
              () -> {
                recount.set(false);
                providerReconciler.countPodsAgain();
                signalAll(providers, providerTrigger);
              });
    }
  }

  /** Has the nodes read while a provider counts them. */
  private void nodes() {
    if (open) {
      dependencies
          .sources()
          .nodes()
          .ifPresent(
              nodes -> nodes.use(providers.all().stream().anyMatch(ProviderCapacity::countsNodes)));
    }
  }

  /** Counts again after a while, as long as a provider subtracts pods. */
  private void pods() {
    if (open
        && providers.all().stream().anyMatch(ProviderCapacity::subtractsPods)
        && podsDue.compareAndSet(false, true)) {
      dependencies
          .delays()
          .accept(
              COUNT_PODS,
              () -> {
                podsDue.set(false);
                capacityChanged();
                pods();
              });
    }
  }

  private void changed() {
    if (open && due.compareAndSet(false, true)) {
      dependencies.delays().accept(GATHER, this::evaluate);
    }
  }

  private void evaluate() {
    due.set(false);
    try {
      if (open && dependencies.leadership().leading()) {
        planAnew();
      }
    } catch (RuntimeException e) {
      LOG.error("dynamicQuota=unplanned", e);
    }
  }

  private void planAnew() {
    InformerCaches caches = dependencies.caches();
    OrchestrationPlan next =
        OrchestrationPlan.of(
            orchestrators.all(),
            providers::find,
            new NominalQuotaTree(caches.clusterQueues().all(), caches.cohorts().all()));
    plan = Optional.of(next);
    for (ClusterQueue queue : caches.clusterQueues().all()) {
      signal(next, NominalQuotaTree.of(queue), effective(queue));
    }
    for (Cohort cohort : caches.cohorts().all()) {
      signal(next, NominalQuotaTree.of(cohort), effective(cohort));
    }
    signalAll(orchestrators, orchestratorTrigger);
  }

  /** Nothing is planned any more. */
  @Override
  public void close() {
    open = false;
  }

  private void signal(
      OrchestrationPlan next, QuotaReference reference, @Nullable EffectiveQuotas current) {
    if (!Objects.equals(next.wanted(reference, current), current)) {
      dependencies.again().accept(reference);
    }
  }

  private static <P extends CustomResource<?, ?>> void signalAll(
      ObservableItemStore<P> store, ReconcileTrigger<P> trigger) {
    store.all().forEach(object -> trigger.signal(object.getMetadata().getName()));
  }

  @Override
  public @Nullable EffectiveQuotas wanted(
      QuotaReference reference, @Nullable EffectiveQuotas current) {
    return plan.isPresent() ? plan.get().wanted(reference, current) : current;
  }

  /** Writes what the plan says of a DynamicQuotaOrchestrator into its status. */
  private static final class DynamicQuotaOrchestratorReconciler
      extends LeaderAwareReconciler<DynamicQuotaOrchestrator> {

    private final StatusWriter<DynamicQuotaOrchestratorStatus> statusWriter;
    private final Function<String, Optional<Findings>> findings;
    private final InstantSource clock;

    /**
     * Creates a reconciler.
     *
     * @param findings what the plan says of the orchestrator of a name; empty while there is no
     *     plan
     */
    DynamicQuotaOrchestratorReconciler(
        Dependencies dependencies,
        ReconcileTrigger<DynamicQuotaOrchestrator> reconcileTrigger,
        Function<String, Optional<Findings>> findings) {
      super(dependencies.leadership(), reconcileTrigger);
      this.statusWriter =
          new StatusWriter<>(
              dependencies.mapper(),
              dependencies.apiClient(),
              DynamicQuotaOrchestratorStatus.class);
      this.findings = findings;
      this.clock = dependencies.clock();
    }

    @Override
    protected Step reconcileObject(DynamicQuotaOrchestrator orchestrator) {
      return findings
          .apply(orchestrator.getMetadata().getName())
          .flatMap(
              ownFindings ->
                  statusWriter.write(
                      orchestrator,
                      status -> wanted(ownFindings, status, generation(orchestrator))))
          .map(outcome -> after(orchestrator, outcome))
          .orElseGet(Step.Done::new);
    }

    private DynamicQuotaOrchestratorStatus wanted(
        Findings ownFindings, @Nullable DynamicQuotaOrchestratorStatus status, long generation) {
      Instant now = clock.instant();
      List<Condition> conditions =
          Conditions.with(
              status == null ? List.of() : status.conditions(),
              condition(
                  DynamicQuotaOrchestrator.COMPUTED, ownFindings.computedNote(), generation, now));
      List<Condition> before = conditions;
      conditions =
          ownFindings
              .distributed()
              .map(
                  note ->
                      Conditions.with(
                          before,
                          condition(DynamicQuotaOrchestrator.DISTRIBUTED, note, generation, now)))
              .orElseGet(
                  () ->
                      before.stream()
                          .filter(it -> !DynamicQuotaOrchestrator.DISTRIBUTED.equals(it.getType()))
                          .toList());
      return new DynamicQuotaOrchestratorStatus(
          conditions,
          ownFindings.keepsCapacity() && status != null
              ? status.effectiveCapacity()
              : ownFindings.capacity());
    }

    private static Condition condition(String type, Note note, long generation, Instant now) {
      return Conditions.of(type, note.status(), note.reason(), note.message(), generation, now);
    }

    @Override
    protected void forget(DynamicQuotaOrchestrator orchestrator) {
      statusWriter.forget(orchestrator);
    }
  }

  /**
   * Keeps the status of the CapacityProviders that count nodes or worker clusters; those of other
   * controllers are left alone.
   */
  private static final class CapacityProviderReconciler
      extends LeaderAwareReconciler<CapacityProvider> {

    private final InformerCaches caches;
    private final Optional<CapacityNodes> nodes;
    private final ForeignPodCount foreignPods;
    private final Optional<WorkerCapacity> workers;
    private final StatusWriter<CapacityProviderStatus> statusWriter;
    private final InstantSource clock;

    /** Creates a reconciler. */
    CapacityProviderReconciler(
        Dependencies dependencies, ReconcileTrigger<CapacityProvider> reconcileTrigger) {
      super(dependencies.leadership(), reconcileTrigger);
      this.caches = dependencies.caches();
      this.nodes = dependencies.sources().nodes();
      this.foreignPods = new ForeignPodCount(() -> nodes.flatMap(CapacityNodes::foreignRequests));
      this.workers = dependencies.sources().workers();
      this.statusWriter =
          new StatusWriter<>(
              dependencies.mapper(), dependencies.apiClient(), CapacityProviderStatus.class);
      this.clock = dependencies.clock();
    }

    /** Pods are counted again by whoever asks next. */
    void countPodsAgain() {
      foreignPods.countAgain();
    }

    @Override
    protected Step reconcileObject(CapacityProvider provider) {
      boolean counted =
          (nodes.isPresent() && ProviderCapacity.countsNodes(provider))
              || (workers.isPresent() && ProviderCapacity.countsWorkers(provider));
      if (!counted || provider.isMarkedForDeletion()) {
        return new Step.Done();
      }
      return statusWriter
          .write(provider, status -> wanted(provider, status))
          .map(outcome -> after(provider, outcome))
          .orElseGet(Step.Done::new);
    }

    /** A capacity that was told stays until what is counted is known. */
    private CapacityProviderStatus wanted(
        CapacityProvider provider, @Nullable CapacityProviderStatus status) {
      Capacity before = status == null ? null : status.capacity();
      List<Condition> conditions = status == null ? List.of() : status.conditions();
      boolean ofWorkers = ProviderCapacity.countsWorkers(provider);
      boolean subtracts =
          ProviderCapacity.subtractsPods(provider) && nodes.orElseThrow().countsPods();
      Optional<Map<String, SortedMap<String, Long>>> foreign =
          subtracts ? foreignPods.requests() : Optional.empty();
      if (!ofWorkers && (!nodes.orElseThrow().isListed() || (subtracts && foreign.isEmpty()))) {
        return before == null
            ? told(
                provider,
                conditions,
                null,
                "SourceUnavailable",
                subtracts ? "The nodes and pods aren't listed yet" : "The nodes aren't listed yet")
            : new CapacityProviderStatus(before, conditions);
      }
      ProviderCapacity.Result result =
          ofWorkers
              ? ProviderCapacity.ofWorkers(
                  provider, before, caches.flavors()::find, workers.orElseThrow())
              : ProviderCapacity.of(
                  provider, before, caches.flavors()::find, nodes.orElseThrow().all(), foreign);
      return switch (result) {
        case ProviderCapacity.Result.Counted(Capacity capacity) ->
            told(
                provider,
                conditions,
                capacity,
                "Synchronized",
                ofWorkers
                    ? "The capacity is the nominal quota of the worker clusters"
                    : "The capacity is that of the nodes that are ready and schedulable"
                        + (subtracts ? ", less what pods request there that aren't queued" : ""));
        case ProviderCapacity.Result.Failed(String reason, String message) ->
            told(provider, conditions, before, reason, message);
      };
    }

    private CapacityProviderStatus told(
        CapacityProvider provider,
        List<Condition> conditions,
        @Nullable Capacity capacity,
        String reason,
        String message) {
      return new CapacityProviderStatus(
          capacity,
          Conditions.with(
              conditions,
              Conditions.of(
                  CapacityProvider.SYNCHRONIZED,
                  reason.equals("Synchronized"),
                  reason,
                  message,
                  generation(provider),
                  clock.instant())));
    }

    @Override
    protected void forget(CapacityProvider provider) {
      statusWriter.forget(provider);
    }
  }

  /**
   * What pods request that aren't queued: counted once for all providers, by whoever asks first
   * after it was said to count again. Thread-safe.
   */
  static final class ForeignPodCount {

    private final Supplier<Optional<Map<String, SortedMap<String, Long>>>> count;
    private final ReentrantLock lock = new ReentrantLock();
    private Optional<Map<String, SortedMap<String, Long>>> counted = Optional.empty();

    /**
     * Nothing is counted yet.
     *
     * @param count walks all pods; empty while they aren't listed, which isn't remembered
     */
    ForeignPodCount(Supplier<Optional<Map<String, SortedMap<String, Long>>>> count) {
      this.count = count;
    }

    /** The requests, by node and resource; empty while the pods aren't listed. */
    Optional<Map<String, SortedMap<String, Long>>> requests() {
      lock.lock();
      try {
        if (counted.isEmpty()) {
          counted = count.get();
        }
        return counted;
      } finally {
        lock.unlock();
      }
    }

    /** Forgets what was counted. */
    void countAgain() {
      lock.lock();
      try {
        counted = Optional.empty();
      } finally {
        lock.unlock();
      }
    }
  }

  /** The nodes of the cluster, read while they are used. */
  public interface CapacityNodes {

    /** Begins to read the nodes, or ends it; returns at once. */
    void use(boolean used);

    /** Whether all nodes are known. */
    boolean isListed();

    /** The nodes, usable or not. */
    Collection<ClusterNode> all();

    /** Whether pods are counted, so that those that no quota counts can be told. */
    boolean countsPods();

    /**
     * What pods request that no quota counts, by node and resource, each pod as one of {@code pods}
     * included; empty while not all pods are known.
     */
    Optional<Map<String, SortedMap<String, Long>>> foreignRequests();
  }

  /** What the worker clusters of MultiKueue have, as far as their queues were read. */
  public interface WorkerCapacity {

    /** The names of all worker clusters. */
    List<String> clusters();

    /** The names of the clusters of a MultiKueueConfig; empty if it doesn't exist. */
    Optional<List<String>> clustersOf(String config);

    /** What a cluster has. */
    ClusterQuota of(String cluster);

    /** The quota of a cluster. */
    sealed interface ClusterQuota {

      /**
       * All its ClusterQueues were read.
       *
       * @param byFlavor the sum of their nominal quotas, by flavor and resource, in amounts of
       *     quota
       */
      record Known(Map<String, Map<String, Long>> byFlavor) implements ClusterQuota {

        /** Copies the outer map. */
        public Known {
          byFlavor = Map.copyOf(byFlavor);
        }
      }

      /**
       * They were not.
       *
       * @param why for people
       */
      record Unknown(String why) implements ClusterQuota {}
    }
  }
}
