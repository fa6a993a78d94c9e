package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.JobClient;
import dev.sluice.jobs.controller.JobController.AdmissionCheckEvents;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobControllers.JobKindController;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.controller.JobExecutor;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kinds.pod.Deployments.DeploymentUids;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupAction;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupContext;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controller of managed pods. It watches the pods and reconciles a single pod, or the group of
 * a pod, when a pod or a Workload changes.
 */
public final class PodController implements JobKindController, WorkloadListener {

  private static final Duration UNTIL_LEADING = Duration.ofSeconds(1);
  private static final Duration UNTIL_SEEN = Duration.ofMillis(500);

  /** How long a new pod waits for the watch of its ReplicaSet. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  private final PodIndex index;
  private final JobReconciler singles;
  private final PodGroupReconciler groups;
  private final WorkloadLister workloads;
  private final BooleanSupplier leading;
  private final Reflector<Store.Item<CachedPod>> reflector;
  private final WorkQueue<PodGroupKey> queue;
  private final PodWorkloadFinalizer finalizer;
  private final WorkQueue<ObjectKey> finalizing;
  private final WorkQueue<JobRef> unwatched;
  private final boolean identifierAnnotations;
  private final Optional<DeploymentUids> deployments;
  private final InstantSource clock;
  private volatile boolean workloadsSynced;

  /** Since when this process decides: ReplicaSets may be read later than pods. */
  private volatile Instant deciding = Instant.EPOCH;

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param index is kept up to date with the managed pods
   */
  public PodController(PodIndex index, JobControllerContext context) {
    JobReconciler.Dependencies dependencies = context.dependencies();
    this.index = index;
    this.identifierAnnotations = context.options().on(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS);
    this.clock = dependencies.clock();
    this.deployments =
        context.options().on(FeatureGate.DEPLOYMENT_JOB_UID_LABEL)
                && context.registry().covers(Deployments.KIND)
            ? Optional.of(new DeploymentUids(context.reflectors()))
            : Optional.empty();
    JobOptions options = context.options();
    this.singles =
        new JobReconciler(
            new SinglePod(),
            options.with(options.clusterState().with(this::jobUid)),
            context.ownerChainResolver(),
            context.gatedCheck(),
            dependencies,
            JobControllerContext.WRITES_AT_A_TIME);
    this.groups = new PodGroupReconciler(index, context);
    this.workloads = dependencies.workloads().store();
    this.leading = context.leading();
    SinglePod adapter = new SinglePod();
    Store<CachedPod> pods = new Store<>(object -> CachedPodParser.of(adapter, object));
    this.reflector =
        context
            .reflectors()
            .of(
                SinglePod.KIND.plural(),
                Reflectors.labeled(SinglePod.KIND.collection(), KueueConstants.MANAGED, "true"),
                pods);
    this.queue = new WorkQueue<>(this::reconcile, context.queue(SinglePod.KIND));
    this.finalizer =
        new PodWorkloadFinalizer(
            index,
            dependencies,
            !context.options().on(FeatureGate.SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS));
    this.finalizing =
        new WorkQueue<>(
            workload -> mayAct() ? finalizer.handle(workload) : Optional.empty(),
            context.queue(JobKind.WORKLOAD));
    PodLabelRestorer restorer =
        new PodLabelRestorer(dependencies.objects(), dependencies.events(), this::remove);
    this.unwatched =
        new WorkQueue<>(
            pod -> mayAct() ? restorer.restore(pod) : Optional.of(UNTIL_LEADING),
            context.queue(SinglePod.KIND));
    pods.observe(this::podChanged);
    dependencies.workloads().listen(this);
    dependencies
        .workloads()
        .listen(new AdmissionCheckEvents(SinglePod.KIND, dependencies.events(), leading));
  }

  @Override
  public String name() {
    return SinglePod.KIND.plural();
  }

  @Override
  public CompletableFuture<Void> start() {
    deployments.ifPresent(DeploymentUids::start);
    return reflector.start();
  }

  @Override
  public void leadershipStarted() {
    deciding = clock.instant();
    enqueueAll();
  }

  /** Has a pod reconciled, or the group that the pod belongs to. */
  @Override
  public void enqueue(ObjectKey pod) {
    index
        .find(pod.namespace(), pod.name())
        .ifPresent(found -> queue.enqueue(PodGroupKey.of(found)));
  }

  @Override
  public Duration longestHandling() {
    return Stream.of(queue, finalizing, unwatched)
        .map(WorkQueue::longestHandling)
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    reflector.close();
    deployments.ifPresent(DeploymentUids::close);
    queue.close();
    finalizing.close();
    unwatched.close();
  }

  @Override
  public void synced() {
    workloadsSynced = true;
    enqueueAll();
  }

  private void enqueueAll() {
    index.all().forEach(pod -> queue.enqueue(PodGroupKey.of(pod)));
    workloads.all().forEach(this::enqueueOwners);
  }

  /**
   * Writes need the lease, and all Workloads in the cache: without them every running pod would
   * look like a pod that was started without quota.
   */
  private boolean mayAct() {
    return workloadsSynced && leading.getAsBoolean();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    enqueueOwners(after == null ? Objects.requireNonNull(before) : after);
  }

  private void enqueueOwners(CachedWorkload workload) {
    String namespace = workload.id().namespace();
    workload
        .owner()
        .filter(CachedWorkload.Owner::isPod)
        .ifPresent(owner -> queue.enqueue(PodGroupKey.single(namespace, owner.name())));
    if (PodWorkloadFinalizer.isOfGroup(workload)
        || index.hasGroup(namespace, workload.id().name())) {
      queue.enqueue(PodGroupKey.group(namespace, workload.id().name()));
    }
    if (PodWorkloadFinalizer.concerns(workload)
        || PodWorkloadFinalizer.awaitsEnd(workload) && finalizer.lacksOwner(workload)) {
      finalizing.enqueue(new ObjectKey(workload.id().namespace(), workload.id().name()));
    }
  }

  private Optional<Duration> reconcile(PodGroupKey unit) throws InterruptedException {
    if (!mayAct()) {
      return Optional.empty();
    }
    if (unit.group()) {
      return groups.reconcile(unit.namespace(), unit.name());
    }
    Optional<CachedPod> pod =
        index
            .find(unit.namespace(), unit.name())
            .filter(found -> PodGroupKey.of(found).equals(unit));
    if (pod.filter(found -> found.gated() && awaitsReplicaSet(found.job())).isPresent()) {
      return Optional.of(UNTIL_SEEN);
    }
    return pod.isEmpty() ? Optional.empty() : singles.reconcile(pod.get().job());
  }

  /** The UID by which the Workload of a pod names its job: of a Deployment's pod, that of this. */
  private String jobUid(CachedJob job) {
    return deployments.flatMap(known -> known.of(job)).orElse(job.ref().uid());
  }

  /** Whether the Workload of a pod is to name a Deployment that isn't known yet. */
  private boolean awaitsReplicaSet(CachedJob job) {
    return deployments.filter(known -> known.of(job).isEmpty()).isPresent()
        && DeploymentUids.isAwaited(job)
        && workloads.ownedBy(job.ref().uid()).isEmpty()
        && clock.instant().isBefore(later(job.createdAt(), deciding).plus(LONGEST_WAIT));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  /** Forgets a pod that does not exist any more, unless another one has its name already. */
  private void remove(JobRef ref) {
    singles.forget(ref);
    groups.forget(ref);
    index
        .find(ref.namespace(), ref.name())
        .filter(pod -> pod.job().ref().uid().equals(ref.uid()))
        .ifPresent(
            pod -> {
              index.remove(pod);
              queue.enqueue(PodGroupKey.of(pod));
              workloads.ownedBy(ref.uid()).forEach(this::enqueueOwners);
            });
  }

  /** Called on the reflector's thread. */
  private void podChanged(@Nullable CachedPod before, @Nullable CachedPod after) {
    if (after != null) {
      seen(after);
    } else if (before != null && mayAct() && mayStillRun(before)) {
      unwatched.enqueue(before.job().ref());
    } else if (before != null) {
      remove(before.job().ref());
    }
  }

  /**
   * Whether the watch may have ended for a pod without its deletion, because the pod lost its
   * label. A deleted pod that holds quota has the time of its deletion first.
   */
  private static boolean mayStillRun(CachedPod last) {
    return !last.gated() && !last.ended() && !last.job().deleting();
  }

  private void seen(CachedPod pod) {
    CachedPod now = identifierAnnotations ? pod : pod.namedByLabel();
    Optional<CachedPod> before = index.put(now);
    if (before.filter(now::looksLike).isPresent()) {
      return;
    }
    queue.enqueue(PodGroupKey.of(now));
    before
        .map(PodGroupKey::of)
        .filter(unit -> !unit.equals(PodGroupKey.of(now)))
        .ifPresent(queue::enqueue);
  }

  /**
   * What has one Workload and is looked at by one thread at a time.
   *
   * @param name the pod's, or the group's
   */
  private record PodGroupKey(boolean group, String namespace, String name) {

    /** The unit that a pod belongs to. */
    static PodGroupKey of(CachedPod pod) {
      return pod.group()
          .map(group -> group(pod.namespace(), group.name()))
          .orElseGet(() -> single(pod.namespace(), pod.name()));
    }

    static PodGroupKey single(String namespace, String name) {
      return new PodGroupKey(false, namespace, name);
    }

    static PodGroupKey group(String namespace, String name) {
      return new PodGroupKey(true, namespace, name);
    }

    @Override
    public String toString() {
      return (group ? "pod group " : "Pod ") + namespace + "/" + name;
    }
  }

  /**
   * Puts the label of managed pods back on a started pod that lost it. Without the label the watch
   * ends for the pod as if it were deleted, and its quota would be given to another pod while it
   * runs.
   */
  static final class PodLabelRestorer {

    private static final Logger LOG = LoggerFactory.getLogger(PodLabelRestorer.class);
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final Duration LATER = Duration.ofSeconds(30);

    private final JobClient objects;
    private final JobEvents events;
    private final Consumer<JobRef> gone;

    /**
     * A restorer that writes with {@code objects}.
     *
     * @param gone told of every pod that does not exist any more
     */
    PodLabelRestorer(JobClient objects, JobEvents events, Consumer<JobRef> gone) {
      this.objects = objects;
      this.events = events;
      this.gone = gone;
    }

    /**
     * Looks for a pod whose watch has ended, and puts the label back if the pod exists without it.
     *
     * @return the delay after which to try again; empty if nothing is left to do
     */
    Optional<Duration> restore(JobRef pod) throws InterruptedException {
      Optional<ObjectNode> found =
          Futures.forResult(objects.read(SinglePod.KIND.path(pod.namespace(), pod.name())))
              .filter(it -> it.path("metadata").path("uid").asText().equals(pod.uid()));
      if (found.isEmpty()) {
        gone.accept(pod);
        return Optional.empty();
      }
      JsonNode metadata = found.get().path("metadata");
      return metadata.path("labels").path(KueueConstants.MANAGED).asText().equals("true")
          ? Optional.empty()
          : write(pod, metadata.path("resourceVersion").asLong());
    }

    private Optional<Duration> write(JobRef pod, long version) throws InterruptedException {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch.putObject("metadata").putObject("labels").put(KueueConstants.MANAGED, "true");
      return switch (Futures.forResult(objects.patch(pod, version, new JobPatch(false, patch)))) {
        case ApiOutcome.Written written -> {
          LOG.info("job=\"{}\" has the label {} again", pod, KueueConstants.MANAGED);
          events.warning(
              pod,
              "ManagedLabelRestored",
              "The label %s was removed from the pod, which uses quota"
                  .formatted(KueueConstants.MANAGED));
          yield Optional.empty();
        }
        case ApiOutcome.Conflict conflict -> Optional.of(AGAIN);
        case ApiOutcome.Gone absent -> {
          gone.accept(pod);
          yield Optional.empty();
        }
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
        case ApiOutcome.Refused refused -> {
          LOG.warn("job=\"{}\" not labelled again, reason=\"{}\"", pod, refused.message());
          events.warning(pod, "WriteRefused", "Not labelled again: " + refused.message());
          yield Optional.of(LATER);
        }
      };
    }
  }

  /**
   * Reconciles a group of pods: reads its pods and its Workload, decides, and carries the decision
   * out. It may be called by several threads, but for one group by one thread at a time.
   */
  static final class PodGroupReconciler {

    private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

    private final SinglePod singlePod = new SinglePod();
    private final PodIndex index;
    private final PodGroupPolicy policy;
    private final boolean releasesFast;
    private final JobExecutor executor;
    private final OwnerChainResolver ownerChainResolver;
    private final RemoteExecutionCheck remoteExecutionCheck;
    private final JobReconciler.Dependencies dependencies;
    private final Semaphore writers;

    /** A reconciler of the groups of the pods in {@code index}. */
    PodGroupReconciler(PodIndex index, JobControllerContext context) {
      this.index = index;
      this.ownerChainResolver = context.ownerChainResolver();
      this.remoteExecutionCheck = context.gatedCheck();
      this.dependencies = context.dependencies();
      this.policy = new PodGroupPolicy(context.options());
      this.releasesFast = context.options().on(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION);
      this.executor = new JobExecutor(singlePod, dependencies);
      this.writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
    }

    /**
     * Does what a group needs now.
     *
     * @return the delay after which to reconcile again even without an event; empty if an event
     *     will follow
     * @throws InterruptedException if the thread is asked to stop
     */
    Optional<Duration> reconcile(String namespace, String name) throws InterruptedException {
      if (unseen(namespace, name)) {
        return Optional.of(UNTIL_SEEN);
      }
      List<PodGroupAction> steps = decide(namespace, name, Set.of());
      if (steps.isEmpty()) {
        return Optional.empty();
      }
      writers.acquire();
      try {
        if (takesAway(steps)) {
          Futures.forResult(dependencies.workloads().refresh(namespace, name));
          steps = decide(namespace, name, Set.of());
        }
        Map<String, Duration> failed = execute(steps);
        if (!failed.isEmpty() && !unseen(namespace, name)) {
          execute(decide(namespace, name, Set.copyOf(failed.keySet())), failed);
        }
        return failed.values().stream().min(Comparator.naturalOrder());
      } finally {
        writers.release();
      }
    }

    /** Whether the cache lacks what was written to a pod of the group. */
    private boolean unseen(String namespace, String name) {
      return index.group(namespace, name).stream().anyMatch(pod -> executor.unseen(pod.job()));
    }

    /** Forgets a pod that is deleted. */
    void forget(JobRef ref) {
      executor.forget(ref);
    }

    private List<PodGroupAction> decide(String namespace, String name, Set<String> unwritable)
        throws InterruptedException {
      Instant now = dependencies.clock().instant();
      PodGroup group = group(namespace, name, index.group(namespace, name), now);
      CachedJob job = group.asJob();
      Optional<CachedWorkload> workload = dependencies.workloads().store().get(namespace, name);
      List<PodGroupAction> steps =
          policy.decide(
              new PodGroupContext(
                  group,
                  group.pods().isEmpty()
                      ? new ManagementStatus.Own()
                      : ownerChainResolver.status(job),
                  workload,
                  workload.filter(found -> remoteExecutionCheck.runs(job, found)).isPresent(),
                  dependencies.flavors(),
                  dependencies.priorities(),
                  now,
                  unwritable));
      return givesBack(steps) && mayRun(group, now)
          ? List.of(new PodGroupAction(job, new JobAction.Requeue(UNTIL_SEEN)))
          : steps;
    }

    private PodGroup group(String namespace, String name, List<CachedPod> pods, Instant now) {
      return new PodGroup(namespace, name, pods, now, index::isReplaced, releasesFast);
    }

    /** Whether steps give quota back because no pod holds it any more. */
    private static boolean givesBack(List<PodGroupAction> steps) {
      return steps.stream()
          .map(PodGroupAction::action)
          .anyMatch(
              action ->
                  action instanceof JobAction.RemoveFinalizer remove
                          && !remove.workload().finished()
                      || action instanceof JobAction.PatchStatus patch
                          && patch.workload().quotaReserved()
                          && patch.releasesQuota());
    }

    /**
     * Whether the API server has started a pod that the watch, which may be late, doesn't tell of.
     * A pod that it doesn't tell of at all waits at its gate.
     */
    private boolean mayRun(PodGroup group, Instant now) throws InterruptedException {
      for (CachedPod pod : group.pods()) {
        if (pod.ended()) {
          continue;
        }
        Optional<ObjectNode> found =
            Futures.forResult(
                dependencies.objects().read(SinglePod.KIND.path(pod.namespace(), pod.name())));
        if (found.isPresent()) {
          CachedPod newest = CachedPodParser.of(singlePod, found.get());
          PodGroup alone = group(group.namespace(), group.name(), List.of(newest), now);
          boolean same = newest.group().filter(of -> of.name().equals(group.name())).isPresent();
          if (same && !(alone.active().isEmpty() && alone.startedAndKept().isEmpty())) {
            return true;
          }
        }
      }
      return false;
    }

    /** Whether steps stop or delete pods; such steps are decided again from fresh data. */
    private static boolean takesAway(List<PodGroupAction> steps) {
      return steps.stream()
          .map(PodGroupAction::action)
          .anyMatch(
              action -> action instanceof JobAction.Stop || action instanceof JobAction.DeleteJob);
    }

    private Map<String, Duration> execute(List<PodGroupAction> steps) throws InterruptedException {
      Map<String, Duration> failed = new LinkedHashMap<>();
      execute(steps, failed);
      return failed;
    }

    /**
     * Carries out steps in order. A step that doesn't succeed ends the steps of its target only.
     *
     * @param failed the targets that have failed, and the delays after which to try again; steps of
     *     these are left out, and further ones are added
     */
    private void execute(List<PodGroupAction> steps, Map<String, Duration> failed)
        throws InterruptedException {
      for (PodGroupAction step : steps) {
        if (!failed.containsKey(step.target())) {
          executor
              .execute(step.subject(), List.of(step.action()))
              .ifPresent(again -> failed.put(step.target(), again));
        }
      }
    }
  }
}
