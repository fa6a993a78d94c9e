package dev.sluice.jobs.leaderworkerset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.JobControllerContext;
import dev.sluice.jobs.JobKindController;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.ObjectKey;
import dev.sluice.jobs.pod.CachedPod;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.PodResource;
import dev.sluice.kube.reading.GuardedEventHandler;
import dev.sluice.kube.workqueue.WorkQueue;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadListener;
import dev.sluice.workload.WorkloadLister;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The controller of LeaderWorkerSets. It watches the LeaderWorkerSets, and those of their pods that
 * don't carry the label of managed pods yet. The client must know {@link LeaderWorkerSetResource}
 * and {@link PodResource} for their kinds.
 */
public final class LeaderWorkerSetController implements JobKindController, WorkloadListener {

  private static final long PAGE = 500;
  private static final String BY_SET = "set";

  private final LeaderWorkerSetReconciler reconciler;
  private final PodIndex marked;
  private final BooleanSupplier leading;
  private final SharedIndexInformer<LeaderWorkerSetResource> sets;
  private final SharedIndexInformer<PodResource> unmarked;
  private final WorkQueue<ObjectKey> queue;
  private final Map<ObjectKey, Set<String>> workloadNames = new ConcurrentHashMap<>();
  private final WorkloadLister workloads;
  private final Runnable unlisten;
  private volatile boolean workloadsSynced;

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   */
  public LeaderWorkerSetController(PodIndex marked, JobControllerContext context) {
    JobReconciler.Dependencies dependencies = context.dependencies();
    this.reconciler = new LeaderWorkerSetReconciler(context);
    this.marked = marked;
    this.workloads = dependencies.workloads().store();
    this.leading = context.leading();
    this.queue = new WorkQueue<>(this::reconcile, context.queue());
    KubernetesClient client = context.client();
    this.sets =
        client
            .resources(LeaderWorkerSetResource.class)
            .inAnyNamespace()
            .withLimit(PAGE)
            .runnableInformer(0);
    // Pods that are on a node already can't be gated any more; the field selector leaves them out.
    this.unmarked =
        client
            .resources(PodResource.class)
            .inAnyNamespace()
            .withoutLabel(KueueConstants.MANAGED)
            .withField("spec.nodeName", "")
            .withLimit(PAGE)
            .runnableInformer(0);
    dependencies.informerSupervisor().keep(name(), sets);
    dependencies.informerSupervisor().keep("unmarked-pods-of-groups", unmarked);
    unmarked.addIndexers(Map.of(BY_SET, pod -> setOf(pod.pod()).map(ObjectKey::toString).toList()));
    GuardedEventHandler.add(sets, new Watch());
    GuardedEventHandler.add(unmarked, new PodWatch());
    context
        .registry()
        .register(
            LeaderWorkerSets.KIND,
            (namespace, name) ->
                find(new ObjectKey(namespace, name)).map(CachedLeaderWorkerSet::job));
    this.unlisten = () -> dependencies.workloads().unlisten(this);
    dependencies.workloads().listen(this);
  }

  @Override
  public String name() {
    return LeaderWorkerSets.KIND.plural();
  }

  @Override
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        sets.start().toCompletableFuture(), unmarked.start().toCompletableFuture());
  }

  @Override
  public void leadershipStarted() {
    enqueueAll();
  }

  @Override
  public void enqueue(ObjectKey set) {
    queue.enqueue(set);
  }

  @Override
  public Duration longestHandling() {
    return queue.longestHandling();
  }

  @Override
  public void close() {
    unlisten.run();
    sets.stop();
    unmarked.stop();
    queue.close();
  }

  @Override
  public void synced() {
    workloadsSynced = true;
    enqueueAll();
  }

  private void enqueueAll() {
    sets.getStore().list().forEach(set -> enqueueIfGated(set.set()));
  }

  private void enqueueIfGated(CachedLeaderWorkerSet set) {
    if (!set.gated()) {
      return;
    }
    queue.enqueue(new ObjectKey(set.job().ref().namespace(), set.job().ref().name()));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? Objects.requireNonNull(before) : after;
    if (LeaderWorkerSetPolicy.OWNER_GVK.equals(
        either.annotations().get(KueueConstants.JOB_OWNER_GVK))) {
      ObjectKey set =
          new ObjectKey(
              either.id().namespace(),
              either.annotations().getOrDefault(KueueConstants.JOB_OWNER_NAME, ""));
      note(set, either.id().name(), after != null);
      queue.enqueue(set);
    }
  }

  private void note(ObjectKey set, String workload, boolean exists) {
    workloadNames.compute(
        set,
        (same, known) -> {
          Set<String> names = new TreeSet<>(known == null ? Set.of() : known);
          if (exists) {
            names.add(workload);
          } else {
            names.remove(workload);
          }
          return names.isEmpty() ? null : names;
        });
  }

  /** The Workloads that name a set as their job. */
  private List<CachedWorkload> workloadsOf(ObjectKey set) {
    return workloadNames.getOrDefault(set, Set.of()).stream()
        .flatMap(name -> workloads.get(set.namespace(), name).stream())
        .toList();
  }

  private Optional<CachedLeaderWorkerSet> find(ObjectKey key) {
    return Optional.ofNullable(sets.getStore().getByKey(key.toString()))
        .filter(LeaderWorkerSetResource::isReadable)
        .map(LeaderWorkerSetResource::set);
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    if (!workloadsSynced || !leading.getAsBoolean()) {
      return Optional.empty();
    }
    Optional<CachedLeaderWorkerSet> set = find(key);
    return set.isEmpty()
        ? Optional.empty()
        : reconciler.reconcile(set.get(), pods(key, set.get()), () -> workloadsOf(key));
  }

  private List<CachedPod> pods(ObjectKey key, CachedLeaderWorkerSet set) {
    List<CachedPod> pods = new ArrayList<>();
    unmarked.getIndexer().byIndex(BY_SET, key.toString()).forEach(pod -> pods.add(pod.pod()));
    for (int group = 0; group < set.groups(); group++) {
      pods.addAll(marked.group(key.namespace(), reconciler.nameOf(set, group)));
    }
    return pods;
  }

  /** The LeaderWorkerSet that a gated pod belongs to, if it belongs to one. */
  private static Stream<ObjectKey> setOf(CachedPod pod) {
    return GroupPlace.setOf(pod).map(name -> new ObjectKey(pod.namespace(), name)).stream();
  }

  /** Handles the events of the watch of LeaderWorkerSets. */
  private final class Watch implements ResourceEventHandler<LeaderWorkerSetResource> {

    @Override
    public void onAdd(LeaderWorkerSetResource now) {
      enqueueIfGated(now.set());
    }

    @Override
    public void onUpdate(LeaderWorkerSetResource before, LeaderWorkerSetResource now) {
      enqueueIfGated(now.set());
    }

    @Override
    public void onDelete(LeaderWorkerSetResource last, boolean lastIsUnknown) {
      reconciler.forget(last.set());
    }
  }

  /** Handles the events of the watch of pods. */
  private final class PodWatch implements ResourceEventHandler<PodResource> {

    @Override
    public void onAdd(PodResource now) {
      setOf(now.pod()).forEach(queue::enqueue);
    }

    @Override
    public void onUpdate(PodResource before, PodResource now) {
      setOf(now.pod()).forEach(queue::enqueue);
    }

    @Override
    public void onDelete(PodResource last, boolean lastIsUnknown) {
      // The pod runs, is managed or is deleted: its LeaderWorkerSet has nothing to do.
    }
  }
}
