package dev.sluice.controllers.kinds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.status.Pacer;
import dev.sluice.controllers.translation.ClusterQueues;
import dev.sluice.controllers.translation.Flavors;
import dev.sluice.controllers.world.ObjectStore;
import dev.sluice.controllers.world.World;
import dev.sluice.engine.ViewListener;
import dev.sluice.engine.Views;
import dev.sluice.workloads.WorkloadListener;
import dev.sluice.workloads.WorkloadStore;
import dev.sluice.workloads.WorkloadWriter;
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
  public record Parts(
      Leadership leadership,
      World world,
      Views views,
      WorkloadStore workloads,
      WorkloadWriter workloadWriter,
      MergePatches patches,
      ObjectMapper mapper,
      Notices notices,
      InstantSource clock,
      Pace pace) {}

  /**
   * How often statuses are written for counters that changed; changes of conditions wait for the
   * interval only.
   *
   * @param interval between two writes of the same object
   * @param perSecond writes of all objects per second
   */
  public record Pace(Duration interval, int perSecond) {

    /**
     * Once a second each, and ten a second together: an admission should not wait for a counter.
     */
    public static final Pace DEFAULT = new Pace(Duration.ofSeconds(1), 10);
  }

  private final World world;
  private final Signals<ResourceFlavor> flavorSignals = new Signals<>("flavors-in-use");
  private final Signals<AdmissionCheck> checkSignals = new Signals<>("checks-in-use");
  private final Signals<Topology> topologySignals = new Signals<>("topologies-in-use");
  private final Signals<ClusterQueue> clusterQueueSignals = new Signals<>("cluster-queue-views");
  private final Signals<LocalQueue> localQueueSignals = new Signals<>("local-queue-views");
  private final Signals<Cohort> cohortSignals = new Signals<>("cohorts");
  private final Signals<WorkloadPriorityClass> priorityClassSignals = new Signals<>("priorities");
  private final ConditionNotes quotaNotes = new ConditionNotes("MultiKueueManagerQuotaAutomation");
  private final ViewSignals viewSignals;
  private final ClusterQueueReconciler clusterQueues;
  private final LocalQueueReconciler localQueues;
  private final CohortReconciler cohorts;
  private final ResourceFlavorReconciler flavors;
  private final AdmissionCheckReconciler checks;
  private final TopologyReconciler topologies;
  private final WorkloadPriorityClassReconciler priorityClasses;

  /** Reconcilers that are not registered yet. */
  public QueueControllers(Parts parts) {
    world = parts.world();
    Leadership leadership = parts.leadership();
    viewSignals =
        new ViewSignals(
            parts.views(),
            new Pacer<>(parts.pace().interval(), parts.pace().perSecond()),
            parts.clock(),
            clusterQueueSignals,
            localQueueSignals,
            cohortSignals);
    clusterQueues =
        new ClusterQueueReconciler(
            leadership,
            clusterQueueSignals,
            parts.views(),
            name ->
                parts.workloads().reservingIn(name).stream()
                    .anyMatch(workload -> !workload.finished()),
            parts.patches(),
            parts.mapper(),
            parts.notices(),
            quotaNotes,
            parts.clock());
    localQueues =
        new LocalQueueReconciler(
            leadership,
            localQueueSignals,
            parts.views(),
            parts.patches(),
            parts.mapper(),
            parts.clock());
    cohorts =
        new CohortReconciler(
            leadership,
            cohortSignals,
            parts.views(),
            parts.patches(),
            parts.mapper(),
            parts.notices());
    flavors =
        new ResourceFlavorReconciler(
            leadership, flavorSignals, world, parts.patches(), parts.notices());
    checks = new AdmissionCheckReconciler(leadership, checkSignals, world, parts.patches());
    topologies = new TopologyReconciler(leadership, topologySignals, world, parts.patches());
    priorityClasses =
        new WorkloadPriorityClassReconciler(
            leadership,
            priorityClassSignals,
            world.workloadPriorityClasses(),
            parts.workloads(),
            parts.workloadWriter());
    world
        .clusterQueues()
        .observe(
            (before, after) -> {
              named(before, after, ClusterQueues::flavors)
                  .forEach(name -> signalIfEnding(world.flavors(), flavorSignals, name));
              named(before, after, ClusterQueues::admissionChecks)
                  .forEach(name -> signalIfEnding(world.checks(), checkSignals, name));
            });
    world
        .flavors()
        .observe(
            (before, after) ->
                named(before, after, flavor -> Flavors.topology(flavor).stream().toList())
                    .forEach(name -> signalIfEnding(world.topologies(), topologySignals, name)));
  }

  private static <U extends HasMetadata> List<String> named(
      @Nullable U before, @Nullable U after, Function<U, List<String>> names) {
    List<String> then = before == null ? List.of() : names.apply(before);
    List<String> now = after == null ? List.of() : names.apply(after);
    return then.stream().filter(name -> !now.contains(name)).toList();
  }

  private static <U extends HasMetadata> void signalIfEnding(
      ObjectStore<U> store, Signals<U> signals, String name) {
    store
        .find(name)
        .filter(object -> object.getMetadata().getDeletionTimestamp() != null)
        .ifPresent(object -> signals.signal(name));
  }

  /** Registers all reconcilers; their informers fill the stores of the world. */
  public void register(Operator operator) {
    Registration.register(operator, "resourceflavor", flavors, world.flavors());
    Registration.register(operator, "clusterqueue", clusterQueues, world.clusterQueues());
    Registration.register(operator, "localqueue", localQueues, world.localQueues());
    Registration.register(operator, "cohort", cohorts, world.cohorts());
    Registration.register(operator, "admissioncheck", checks, world.checks());
    Registration.register(operator, "topology", topologies, world.topologies());
    Registration.register(
        operator, "workloadpriorityclass", priorityClasses, world.workloadPriorityClasses());
  }

  /** Where it is said who keeps the quota of ClusterQueues. */
  public ConditionNotes quotaNotes() {
    return quotaNotes;
  }

  /** Looks at a ClusterQueue once more, if it exists. */
  public void again(String clusterQueue) {
    clusterQueueSignals.signal(clusterQueue);
  }

  /** To be told of new views by the engine. */
  public ViewListener viewListener() {
    return viewSignals;
  }

  /** To be told of Workloads by their reader. */
  public WorkloadListener workloadListener() {
    return priorityClasses;
  }

  /** This process leads from now on, and everything is known: looks at every object once. */
  public void leadershipStarted() {
    signalAll(world.flavors(), flavorSignals);
    signalAll(world.checks(), checkSignals);
    signalAll(world.topologies(), topologySignals);
    signalAll(world.clusterQueues(), clusterQueueSignals);
    signalAll(world.localQueues(), localQueueSignals);
    signalAll(world.cohorts(), cohortSignals);
    signalAll(world.workloadPriorityClasses(), priorityClassSignals);
  }

  private static <P extends HasMetadata> void signalAll(ObjectStore<P> store, Signals<P> signals) {
    store.all().forEach(object -> signals.signal(ResourceID.fromResource(object)));
  }

  /** Stops pacing; the reconcilers stop with their operator. */
  @Override
  public void close() {
    viewSignals.close();
  }
}
