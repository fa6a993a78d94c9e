package dev.sluice.queues;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.Cohort.CohortStatus;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerThread.ViewListener;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.MonotonicClock;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.ControllerRegistration.FinalizerEditor;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.PerGenerationEvents;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.ClusterQueueReconciler.LocalQueueCreator;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.CohortMapper;
import dev.sluice.queues.mapping.EffectiveQuotasPlan;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.status.QueueStatuses;
import dev.sluice.queues.status.StatusRateLimiter;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of all queue kinds, with their event sources: changes of the objects and of
 * objects that refer to them, new views of the scheduler, and the start of leadership.
 */
public final class QueueControllers implements AutoCloseable {

  /**
   * Dependencies of the reconcilers.
   *
   * @param leadership only the leader writes
   * @param informerCaches the informers' stores, shared with other readers
   * @param schedulerViews views of the scheduler
   * @param workloads the known Workloads
   * @param workloadWriter writes priorities of Workloads
   * @param patches writes all other objects
   * @param mapper reads and writes statuses
   * @param eventNotifier records Kubernetes events
   * @param clock time of transitions and of status updates
   * @param statusRate rate limit of status updates
   * @param queue how work queues run, and how many objects of a kind are reconciled at a time
   */
  public record Dependencies(
      Leadership leadership,
      InformerCaches informerCaches,
      SchedulerViews schedulerViews,
      WorkloadLister workloads,
      WorkloadWriter workloadWriter,
      ApiClient patches,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      InstantSource clock,
      StatusRate statusRate,
      WorkQueueSettings queue) {}

  /**
   * Rate limit of status updates for changed counters; changes of conditions are limited by the
   * interval only.
   *
   * @param interval minimum time between two writes of the same object
   * @param perSecond maximum writes of all objects per second
   * @param share the part of that which may be used at the moment, greater than 0 and at most 1
   */
  public record StatusRate(Duration interval, int perSecond, DoubleSupplier share) {

    /**
     * One write per second and object, ten writes per second in total: counters must not delay
     * admissions.
     */
    public static final StatusRate DEFAULT = new StatusRate(Duration.ofSeconds(1), 5, () -> 1);

    /** The same with a part of it that changes. */
    public StatusRate within(DoubleSupplier newShare) {
      return new StatusRate(interval, perSecond, newShare);
    }
  }

  private final InformerCaches informerCaches;
  private final GroupKindConcurrency concurrency;
  private final ReconcileTrigger<ResourceFlavor> flavorTrigger =
      new ReconcileTrigger<>("flavors-in-use");
  private final ReconcileTrigger<AdmissionCheck> checkTrigger =
      new ReconcileTrigger<>("checks-in-use");
  private final ReconcileTrigger<Topology> topologyTrigger =
      new ReconcileTrigger<>("topologies-in-use");
  private final ReconcileTrigger<ClusterQueue> clusterQueueTrigger =
      new ReconcileTrigger<>("cluster-queue-views");
  private final ReconcileTrigger<LocalQueue> localQueueTrigger =
      new ReconcileTrigger<>("local-queue-views");
  private final ReconcileTrigger<Cohort> cohortTrigger = new ReconcileTrigger<>("cohorts");
  private final ReconcileTrigger<WorkloadPriorityClass> priorityClassTrigger =
      new ReconcileTrigger<>("priorities");
  private final ExternalConditions quotaNotes =
      new ExternalConditions("MultiKueueManagerQuotaAutomation");
  private final ExternalConditions scheduleConditions = new ExternalConditions("QuotaScheduled");
  private volatile EffectiveQuotasPlan effectiveQuotas = EffectiveQuotasPlan.KEPT;
  private final ViewEventSource viewEventSource;
  private final ClusterQueueReconciler clusterQueues;
  private final LocalQueueReconciler localQueues;
  private final CohortReconciler cohorts;
  private final ResourceFlavorReconciler flavors;
  private final AdmissionCheckReconciler checks;
  private final TopologyReconciler topologies;
  private final WorkloadPriorityClassReconciler priorityClasses;

  /**
   * Creates the reconcilers without registering them.
   *
   * @param managedNamespaces whether jobs of a namespace with these labels are managed
   */
  public QueueControllers(
      Dependencies dependencies, Predicate<Map<String, String>> managedNamespaces) {
    informerCaches = dependencies.informerCaches();
    concurrency = dependencies.queue().concurrency();
    Leadership leadership = dependencies.leadership();
    viewEventSource =
        new ViewEventSource(
            dependencies.schedulerViews(),
            new StatusRateLimiter<>(
                dependencies.statusRate().interval(),
                dependencies.statusRate().perSecond(),
                dependencies.statusRate().share()),
            new MonotonicClock(dependencies.clock()),
            dependencies.queue(),
            clusterQueueTrigger,
            localQueueTrigger,
            cohortTrigger);
    clusterQueues =
        new ClusterQueueReconciler(
            leadership,
            clusterQueueTrigger,
            dependencies.schedulerViews(),
            name ->
                dependencies.workloads().reservingIn(name).stream()
                    .anyMatch(workload -> !workload.finished()),
            dependencies.patches(),
            new LocalQueueCreator(informerCaches, managedNamespaces, dependencies.patches()),
            dependencies.eventNotifier(),
            List.of(quotaNotes, scheduleConditions),
            dependencies.clock());
    localQueues =
        new LocalQueueReconciler(
            leadership,
            localQueueTrigger,
            dependencies.schedulerViews(),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.clock(),
            dependencies.eventNotifier());
    cohorts =
        new CohortReconciler(
            leadership,
            cohortTrigger,
            dependencies.schedulerViews(),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.eventNotifier(),
            (reference, current) -> effectiveQuotas.wanted(reference, current));
    flavors = new ResourceFlavorReconciler(leadership, flavorTrigger, dependencies.patches());
    checks = new AdmissionCheckReconciler(leadership, checkTrigger, dependencies.patches());
    topologies = new TopologyReconciler(leadership, topologyTrigger, dependencies.patches());
    priorityClasses =
        new WorkloadPriorityClassReconciler(
            leadership,
            priorityClassTrigger,
            informerCaches.workloadPriorityClasses(),
            dependencies.workloads(),
            dependencies.workloadWriter());
    followNamespaces();
    informerCaches
        .clusterQueues()
        .observe(
            (before, after) -> {
              named(before, after, ClusterQueueMapper::flavors)
                  .forEach(name -> signalIfEnding(informerCaches.flavors(), flavorTrigger, name));
              named(before, after, ClusterQueueMapper::admissionChecks)
                  .forEach(name -> signalIfEnding(informerCaches.checks(), checkTrigger, name));
            });
    informerCaches
        .flavors()
        .observe(
            (before, after) ->
                named(before, after, flavor -> FlavorMapper.topology(flavor).stream().toList())
                    .forEach(
                        name ->
                            signalIfEnding(informerCaches.topologies(), topologyTrigger, name)));
  }

  /** A namespace gets its LocalQueue when it comes or its labels change, and gets it back. */
  private void followNamespaces() {
    informerCaches
        .namespaces()
        .observe(
            (before, after) -> {
              if (after != null
                  && (before == null
                      || !Objects.equals(
                          before.getMetadata().getLabels(), after.getMetadata().getLabels()))) {
                signalMakers(name -> true);
              }
            });
    informerCaches
        .localQueues()
        .observe(
            (before, after) -> {
              if (before != null && after == null) {
                signalMakers(before.getMetadata().getName()::equals);
              }
            });
  }

  private void signalMakers(Predicate<String> localQueue) {
    informerCaches
        .clusterQueues()
        .all()
        .forEach(
            queue ->
                QueueAnnotations.localQueue(queue.getMetadata().getAnnotations())
                    .filter(localQueue)
                    .ifPresent(name -> clusterQueueTrigger.signal(queue.getMetadata().getName())));
  }

  private static <U extends HasMetadata> List<String> named(
      @Nullable U before, @Nullable U after, Function<U, List<String>> names) {
    List<String> then = before == null ? List.of() : names.apply(before);
    List<String> now = after == null ? List.of() : names.apply(after);
    return then.stream().filter(name -> !now.contains(name)).toList();
  }

  private static <U extends HasMetadata> void signalIfEnding(
      ObservableItemStore<U> store, ReconcileTrigger<U> reconcileTrigger, String name) {
    store
        .find(name)
        .filter(object -> object.getMetadata().getDeletionTimestamp() != null)
        .ifPresent(object -> reconcileTrigger.signal(name));
  }

  /** Registers all reconcilers; their informers fill the informer caches. */
  public void register(Operator operator) {
    register(operator, "resourceflavor", flavors, informerCaches.flavors(), ResourceFlavor.class);
    register(
        operator,
        "clusterqueue",
        clusterQueues,
        informerCaches.clusterQueues(),
        ClusterQueue.class);
    register(operator, "localqueue", localQueues, informerCaches.localQueues(), LocalQueue.class);
    register(operator, "cohort", cohorts, informerCaches.cohorts(), Cohort.class);
    register(operator, "admissioncheck", checks, informerCaches.checks(), AdmissionCheck.class);
    register(operator, "topology", topologies, informerCaches.topologies(), Topology.class);
    register(
        operator,
        "workloadpriorityclass",
        priorityClasses,
        informerCaches.workloadPriorityClasses(),
        WorkloadPriorityClass.class);
  }

  private <P extends HasMetadata> void register(
      Operator operator,
      String name,
      LeaderAwareReconciler<P> reconciler,
      ObservableItemStore<P> store,
      Class<P> kind) {
    ControllerRegistration.register(operator, name, reconciler, store, concurrency.limit(kind));
  }

  /** Conditions about the quota automation of ClusterQueues. */
  public ExternalConditions quotaNotes() {
    return quotaNotes;
  }

  /** Conditions about the quota by time of day of ClusterQueues. */
  public ExternalConditions scheduleConditions() {
    return scheduleConditions;
  }

  /** Reconciles a ClusterQueue once more, if it exists. */
  public void again(String clusterQueue) {
    clusterQueueTrigger.signal(clusterQueue);
  }

  /** Takes the effective quotas of queues and cohorts from this plan. */
  public void follow(EffectiveQuotasPlan plan) {
    effectiveQuotas = plan;
    clusterQueues.follow(plan);
  }

  /** From now on policies of concurrent admission have an effect, and no event says otherwise. */
  public void honourConcurrentAdmission() {
    clusterQueues.honourConcurrentAdmission();
  }

  /** Reconciles a queue or cohort once more, if it exists. */
  public void again(QuotaReference reference) {
    if (reference.kind().equals("Cohort")) {
      cohortTrigger.signal(reference.name());
    } else {
      clusterQueueTrigger.signal(reference.name());
    }
  }

  /** Listener for new views of the scheduler. */
  public ViewListener viewListener() {
    return viewEventSource;
  }

  /** Listener for changes of Workloads. */
  public WorkloadListener workloadListener() {
    return priorityClasses;
  }

  /** Called when this process is leader and all caches are synced: reconciles every object once. */
  public void leadershipStarted() {
    signalAll(informerCaches.flavors(), flavorTrigger);
    signalAll(informerCaches.checks(), checkTrigger);
    signalAll(informerCaches.topologies(), topologyTrigger);
    signalAll(informerCaches.clusterQueues(), clusterQueueTrigger);
    signalAll(informerCaches.localQueues(), localQueueTrigger);
    signalAll(informerCaches.cohorts(), cohortTrigger);
    signalAll(informerCaches.workloadPriorityClasses(), priorityClassTrigger);
  }

  private static <P extends HasMetadata> void signalAll(
      ObservableItemStore<P> store, ReconcileTrigger<P> reconcileTrigger) {
    store.all().forEach(object -> reconcileTrigger.signal(ResourceID.fromResource(object)));
  }

  /** Stops the rate limiter; the operator stops the reconcilers. */
  @Override
  public void close() {
    viewEventSource.close();
  }

  /** Reconciles an AdmissionCheck: keeps its finalizer while a ClusterQueue uses the check. */
  private final class AdmissionCheckReconciler extends InUseFinalizerReconciler<AdmissionCheck> {

    AdmissionCheckReconciler(
        Leadership leadership,
        ReconcileTrigger<AdmissionCheck> reconcileTrigger,
        ApiClient writer) {
      super(leadership, reconcileTrigger, writer);
    }

    @Override
    boolean inUse(String name) {
      return informerCaches.clusterQueues().all().stream()
          .anyMatch(queue -> ClusterQueueMapper.admissionChecks(queue).contains(name));
    }
  }

  /** Reconciles a Topology: keeps its finalizer while a ResourceFlavor refers to the Topology. */
  private final class TopologyReconciler extends InUseFinalizerReconciler<Topology> {

    TopologyReconciler(
        Leadership leadership, ReconcileTrigger<Topology> reconcileTrigger, ApiClient writer) {
      super(leadership, reconcileTrigger, writer);
    }

    @Override
    boolean inUse(String name) {
      return informerCaches.flavors().all().stream()
          .anyMatch(flavor -> FlavorMapper.topology(flavor).filter(name::equals).isPresent());
    }
  }

  /**
   * Reconciles a ResourceFlavor: keeps its finalizer while a ClusterQueue has quota for the flavor.
   */
  private final class ResourceFlavorReconciler extends InUseFinalizerReconciler<ResourceFlavor> {

    ResourceFlavorReconciler(
        Leadership leadership,
        ReconcileTrigger<ResourceFlavor> reconcileTrigger,
        ApiClient writer) {
      super(leadership, reconcileTrigger, writer);
    }

    @Override
    boolean inUse(String name) {
      return informerCaches.clusterQueues().all().stream()
          .anyMatch(queue -> ClusterQueueMapper.flavors(queue).contains(name));
    }
  }

  /**
   * Reconciles a LocalQueue: writes the status from the scheduler's view. A LocalQueue has no
   * finalizer.
   */
  private static final class LocalQueueReconciler extends LeaderAwareReconciler<LocalQueue> {

    private final SchedulerViews schedulerViews;
    private final StatusWriter<LocalQueueStatus> statuses;
    private final InstantSource clock;
    private final PerGenerationEvents events;

    LocalQueueReconciler(
        Leadership leadership,
        ReconcileTrigger<LocalQueue> reconcileTrigger,
        SchedulerViews schedulerViews,
        ApiClient writer,
        ObjectMapper mapper,
        InstantSource clock,
        EventNotifier eventNotifier) {
      super(leadership, reconcileTrigger);
      this.schedulerViews = schedulerViews;
      this.statuses = new StatusWriter<>(mapper, writer, LocalQueueStatus.class);
      this.clock = clock;
      this.events = new PerGenerationEvents(eventNotifier);
    }

    @Override
    protected Step reconcileObject(LocalQueue queue) {
      if (queue.isMarkedForDeletion()) {
        return new Step.Done();
      }
      events.emit(queue, "Misconfigured", LocalQueueMapper.faults(queue));
      return schedulerViews
          .localQueue(LocalQueueMapper.id(queue))
          .map(view -> writeStatus(queue, view))
          .orElseGet(Step.Done::new);
    }

    private Step writeStatus(LocalQueue queue, LocalQueueView view) {
      return statuses
          .write(
              queue,
              standing ->
                  QueueStatuses.localQueue(view, generation(queue), standing, clock.instant()))
          .map(outcome -> after(queue, outcome))
          .orElseGet(Step.Done::new);
    }

    @Override
    protected void forget(LocalQueue queue) {
      statuses.forget(queue);
      events.forget(queue);
    }
  }

  /**
   * Reconciles a Cohort: reports faults as events, because a Cohort has no condition and no
   * finalizer, and writes its fair share from the scheduler's view into the status.
   */
  private static final class CohortReconciler extends LeaderAwareReconciler<Cohort> {

    private static final String MISCONFIGURED = "Misconfigured";

    private final SchedulerViews schedulerViews;
    private final StatusWriter<CohortStatus> statuses;
    private final PerGenerationEvents events;
    private final EffectiveQuotasPlan effectiveQuotas;

    CohortReconciler(
        Leadership leadership,
        ReconcileTrigger<Cohort> reconcileTrigger,
        SchedulerViews schedulerViews,
        ApiClient writer,
        ObjectMapper mapper,
        EventNotifier eventNotifier,
        EffectiveQuotasPlan effectiveQuotas) {
      super(leadership, reconcileTrigger);
      this.schedulerViews = schedulerViews;
      this.effectiveQuotas = effectiveQuotas;
      this.statuses = new StatusWriter<>(mapper, writer, CohortStatus.class);
      this.events = new PerGenerationEvents(eventNotifier);
    }

    @Override
    protected Step reconcileObject(Cohort cohort) {
      events.emit(cohort, MISCONFIGURED, CohortMapper.translate(cohort).faults());
      return schedulerViews
          .cohort(cohort.getMetadata().getName())
          .map(view -> writeStatus(cohort, view))
          .orElseGet(Step.Done::new);
    }

    private Step writeStatus(Cohort cohort, CohortView view) {
      return statuses
          .write(cohort, standing -> wanted(cohort, view, standing))
          .map(outcome -> after(cohort, outcome))
          .orElseGet(Step.Done::new);
    }

    private CohortStatus wanted(Cohort cohort, CohortView view, @Nullable CohortStatus status) {
      CohortStatus seen = QueueStatuses.cohort(view, status);
      return seen.with(
          effectiveQuotas.wanted(
              new QuotaReference("Cohort", cohort.getMetadata().getName()),
              seen.effectiveQuotas()));
    }

    @Override
    protected void forget(Cohort cohort) {
      statuses.forget(cohort);
      events.forget(cohort);
    }
  }

  /**
   * Reconciles an object that other objects refer to: adds the finalizer, and removes it when the
   * object is deleted and no longer in use.
   *
   * @param <P> the kind
   */
  private abstract static class InUseFinalizerReconciler<P extends HasMetadata>
      extends LeaderAwareReconciler<P> {

    private final ApiClient writer;

    InUseFinalizerReconciler(
        Leadership leadership, ReconcileTrigger<P> reconcileTrigger, ApiClient writer) {
      super(leadership, reconcileTrigger);
      this.writer = writer;
    }

    /** Whether another object refers to this object. */
    abstract boolean inUse(String name);

    @Override
    protected Step reconcileObject(P object) {
      boolean held = FinalizerEditor.present(object);
      if (!object.isMarkedForDeletion()) {
        return held
            ? new Step.Done()
            : after(object, writer.patch(object, FinalizerEditor.add(object)));
      }
      if (held && !inUse(object.getMetadata().getName())) {
        return after(object, writer.patch(object, FinalizerEditor.remove(object)));
      }
      return new Step.Done();
    }
  }
}
