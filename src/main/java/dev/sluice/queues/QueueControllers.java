package dev.sluice.queues;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.engine.ViewListener;
import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reconcile.ControllerRegistration;
import dev.sluice.kube.reconcile.ObservableItemStore;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.queues.status.StatusRateLimiter;
import dev.sluice.workload.WorkloadListener;
import dev.sluice.workload.WorkloadLister;
import dev.sluice.workload.WorkloadWriter;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of all queue kinds, and what has them act: their objects' changes, changes of
 * those who name them, new views of the engine, and the beginning of leadership.
 */
public final class QueueControllers implements AutoCloseable {

  /**
   * What the reconcilers stand on.
   *
   * @param leadership only the leader writes
   * @param world the informers' stores, shared with whoever else reads them
   * @param views what the engine says
   * @param workloads the Workloads that were read
   * @param workloadWriter writes priorities of Workloads
   * @param patches writes everything else
   * @param mapper how statuses are written and read
   * @param notices what is said beside conditions
   * @param clock the time of transitions, and the pace of statuses
   * @param pace how often statuses are written
   */
  public record Dependencies(
      Leadership leadership,
      InformerCaches informerCaches,
      SchedulerViews schedulerViews,
      WorkloadLister workloads,
      WorkloadWriter workloadWriter,
      ApiPatcher patches,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      InstantSource clock,
      StatusRate statusRate) {}

  /**
   * How often statuses are written for counters that changed; changes of conditions wait for the
   * interval only.
   *
   * @param interval between two writes of the same object
   * @param perSecond writes of all objects per second
   */
  public record StatusRate(Duration interval, int perSecond) {

    /**
     * Once a second each, and ten a second together: an admission should not wait for a counter.
     */
    public static final StatusRate DEFAULT = new StatusRate(Duration.ofSeconds(1), 10);
  }

  private final InformerCaches informerCaches;
  private final ReconcileTrigger<ResourceFlavor> flavorSignals =
      new ReconcileTrigger<>("flavors-in-use");
  private final ReconcileTrigger<AdmissionCheck> checkSignals =
      new ReconcileTrigger<>("checks-in-use");
  private final ReconcileTrigger<Topology> topologySignals =
      new ReconcileTrigger<>("topologies-in-use");
  private final ReconcileTrigger<ClusterQueue> clusterQueueSignals =
      new ReconcileTrigger<>("cluster-queue-views");
  private final ReconcileTrigger<LocalQueue> localQueueSignals =
      new ReconcileTrigger<>("local-queue-views");
  private final ReconcileTrigger<Cohort> cohortSignals = new ReconcileTrigger<>("cohorts");
  private final ReconcileTrigger<WorkloadPriorityClass> priorityClassSignals =
      new ReconcileTrigger<>("priorities");
  private final ExternalConditions quotaNotes =
      new ExternalConditions("MultiKueueManagerQuotaAutomation");
  private final ViewEventSource viewEventSource;
  private final ClusterQueueReconciler clusterQueues;
  private final LocalQueueReconciler localQueues;
  private final CohortReconciler cohorts;
  private final ResourceFlavorReconciler flavors;
  private final AdmissionCheckReconciler checks;
  private final TopologyReconciler topologies;
  private final WorkloadPriorityClassReconciler priorityClasses;

  /** Reconcilers that are not registered yet. */
  public QueueControllers(Dependencies dependencies) {
    informerCaches = dependencies.informerCaches();
    Leadership leadership = dependencies.leadership();
    viewEventSource =
        new ViewEventSource(
            dependencies.schedulerViews(),
            new StatusRateLimiter<>(
                dependencies.statusRate().interval(), dependencies.statusRate().perSecond()),
            dependencies.clock(),
            clusterQueueSignals,
            localQueueSignals,
            cohortSignals);
    clusterQueues =
        new ClusterQueueReconciler(
            leadership,
            clusterQueueSignals,
            dependencies.schedulerViews(),
            name ->
                dependencies.workloads().reservingIn(name).stream()
                    .anyMatch(workload -> !workload.finished()),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.eventNotifier(),
            quotaNotes,
            dependencies.clock());
    localQueues =
        new LocalQueueReconciler(
            leadership,
            localQueueSignals,
            dependencies.schedulerViews(),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.clock());
    cohorts =
        new CohortReconciler(
            leadership,
            cohortSignals,
            dependencies.schedulerViews(),
            dependencies.patches(),
            dependencies.mapper(),
            dependencies.eventNotifier());
    flavors =
        new ResourceFlavorReconciler(
            leadership,
            flavorSignals,
            informerCaches,
            dependencies.patches(),
            dependencies.eventNotifier());
    checks =
        new AdmissionCheckReconciler(
            leadership, checkSignals, informerCaches, dependencies.patches());
    topologies =
        new TopologyReconciler(leadership, topologySignals, informerCaches, dependencies.patches());
    priorityClasses =
        new WorkloadPriorityClassReconciler(
            leadership,
            priorityClassSignals,
            informerCaches.workloadPriorityClasses(),
            dependencies.workloads(),
            dependencies.workloadWriter());
    informerCaches
        .clusterQueues()
        .observe(
            (before, after) -> {
              named(before, after, ClusterQueueMapper::flavors)
                  .forEach(name -> signalIfEnding(informerCaches.flavors(), flavorSignals, name));
              named(before, after, ClusterQueueMapper::admissionChecks)
                  .forEach(name -> signalIfEnding(informerCaches.checks(), checkSignals, name));
            });
    informerCaches
        .flavors()
        .observe(
            (before, after) ->
                named(before, after, flavor -> FlavorMapper.topology(flavor).stream().toList())
                    .forEach(
                        name ->
                            signalIfEnding(informerCaches.topologies(), topologySignals, name)));
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

  /** Registers all reconcilers; their informers fill the stores of the world. */
  public void register(Operator operator) {
    ControllerRegistration.register(operator, "resourceflavor", flavors, informerCaches.flavors());
    ControllerRegistration.register(
        operator, "clusterqueue", clusterQueues, informerCaches.clusterQueues());
    ControllerRegistration.register(
        operator, "localqueue", localQueues, informerCaches.localQueues());
    ControllerRegistration.register(operator, "cohort", cohorts, informerCaches.cohorts());
    ControllerRegistration.register(operator, "admissioncheck", checks, informerCaches.checks());
    ControllerRegistration.register(operator, "topology", topologies, informerCaches.topologies());
    ControllerRegistration.register(
        operator,
        "workloadpriorityclass",
        priorityClasses,
        informerCaches.workloadPriorityClasses());
  }

  /** Where it is said who keeps the quota of ClusterQueues. */
  public ExternalConditions quotaNotes() {
    return quotaNotes;
  }

  /** Looks at a ClusterQueue once more, if it exists. */
  public void again(String clusterQueue) {
    clusterQueueSignals.signal(clusterQueue);
  }

  /** To be told of new views by the engine. */
  public ViewListener viewListener() {
    return viewEventSource;
  }

  /** To be told of Workloads by their reader. */
  public WorkloadListener workloadListener() {
    return priorityClasses;
  }

  /** This process leads from now on, and everything is known: looks at every object once. */
  public void leadershipStarted() {
    signalAll(informerCaches.flavors(), flavorSignals);
    signalAll(informerCaches.checks(), checkSignals);
    signalAll(informerCaches.topologies(), topologySignals);
    signalAll(informerCaches.clusterQueues(), clusterQueueSignals);
    signalAll(informerCaches.localQueues(), localQueueSignals);
    signalAll(informerCaches.cohorts(), cohortSignals);
    signalAll(informerCaches.workloadPriorityClasses(), priorityClassSignals);
  }

  private static <P extends HasMetadata> void signalAll(
      ObservableItemStore<P> store, ReconcileTrigger<P> reconcileTrigger) {
    store.all().forEach(object -> reconcileTrigger.signal(ResourceID.fromResource(object)));
  }

  /** Stops pacing; the reconcilers stop with their operator. */
  @Override
  public void close() {
    viewEventSource.close();
  }
}
