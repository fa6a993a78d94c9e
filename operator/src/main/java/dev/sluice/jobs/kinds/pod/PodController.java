package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.AdmissionCheckEvents;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobKindController;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kube.reflect.Store;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
}
