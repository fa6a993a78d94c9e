package dev.sluice.queues.capacity;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.EffectiveQuotasPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
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
}
