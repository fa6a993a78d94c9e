package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobKindController;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.JobResource;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.reflect.GuardedEventHandler;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
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
 * The controller of a kind whose objects create pods that are gated, and that have Workloads of
 * their groups: watches the objects, and those of their pods that don't carry the label of managed
 * pods yet. What is particular to the kind is in its {@link GatedSetHandler}.
 *
 * @param <R> what the watch reads; the client must know it, and {@link PodResource}, for their
 *     kinds
 * @param <S> what is kept of an object
 */
public class GatedSetController<R extends JobResource, S extends GatedSet>
    implements JobKindController, WorkloadListener {

  private static final long PAGE = 500;
  private static final String BY_SET = "set";

  private final GatedSetHandler<R, S> handler;
  private final PodIndex marked;
  private final BooleanSupplier leading;
  private final SharedIndexInformer<R> sets;
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
   * @param resource the class that the watch reads objects as
   */
  protected GatedSetController(
      PodIndex marked,
      JobControllerContext context,
      Class<R> resource,
      GatedSetHandler<R, S> handler) {
    JobReconciler.Dependencies dependencies = context.dependencies();
    this.handler = handler;
    this.marked = marked;
    this.workloads = dependencies.workloads().store();
    this.leading = context.leading();
    this.queue = new WorkQueue<>(this::reconcile, context.queue());
    KubernetesClient client = context.client();
    this.sets = client.resources(resource).inAnyNamespace().withLimit(PAGE).runnableInformer(0);
    // Pods that are on a node already can't be gated any more; the field selector leaves them out.
    this.unmarked =
        client
            .resources(PodResource.class)
            .inAnyNamespace()
            .withoutLabel(KueueConstants.MANAGED)
            .withField("spec.nodeName", "")
            .withLimit(PAGE)
            .runnableInformer(0);
    dependencies.informerSupervisor().keep(handler.kind().plural(), sets);
    dependencies.informerSupervisor().keep("unmarked-pods-of-" + handler.kind().plural(), unmarked);
    unmarked.addIndexers(Map.of(BY_SET, pod -> setOf(pod).map(ObjectKey::toString).toList()));
    GuardedEventHandler.add(sets, new Watch());
    GuardedEventHandler.add(unmarked, new PodWatch());
    context
        .registry()
        .register(
            handler.kind(),
            (namespace, name) -> find(new ObjectKey(namespace, name)).map(GatedSet::job));
    this.unlisten = () -> dependencies.workloads().unlisten(this);
    marked.addRollouts(this::isReplaced);
    dependencies.workloads().listen(this);
  }

  private boolean isReplaced(CachedPod pod) {
    return handler
        .setOf(pod)
        .flatMap(name -> find(new ObjectKey(pod.namespace(), name)))
        .filter(set -> handler.isReplaced(set, pod))
        .isPresent();
  }

  @Override
  public String name() {
    return handler.kind().plural();
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
    sets.getStore().list().forEach(set -> enqueueIfGated(handler.set(set)));
  }

  private void enqueueIfGated(S set) {
    if (!set.gated()) {
      return;
    }
    queue.enqueue(new ObjectKey(set.job().ref().namespace(), set.job().ref().name()));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? Objects.requireNonNull(before) : after;
    if (handler.ownerGvk().equals(either.annotations().get(KueueConstants.JOB_OWNER_GVK))) {
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

  private Optional<S> find(ObjectKey key) {
    return Optional.ofNullable(sets.getStore().getByKey(key.toString()))
        .filter(JobResource::isReadable)
        .map(handler::set);
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    if (!workloadsSynced || !leading.getAsBoolean()) {
      return Optional.empty();
    }
    Optional<S> set = find(key);
    return set.isEmpty()
        ? Optional.empty()
        : handler.reconcile(set.get(), pods(key, set.get()), () -> workloadsOf(key));
  }

  private List<CachedPod> pods(ObjectKey key, S set) {
    List<CachedPod> pods = new ArrayList<>();
    unmarked.getIndexer().byIndex(BY_SET, key.toString()).forEach(pod -> pods.add(pod.pod()));
    pods.addAll(handler.members(set, marked));
    return pods;
  }

  /** The set that a gated pod belongs to, if it belongs to one of this kind. */
  private Stream<ObjectKey> setOf(PodResource pod) {
    return handler
        .setOf(pod.pod())
        .map(name -> new ObjectKey(pod.pod().namespace(), name))
        .stream();
  }

  /** Handles the events of the watch of the kind. */
  private final class Watch implements ResourceEventHandler<R> {

    @Override
    public void onAdd(R now) {
      enqueueIfGated(handler.set(now));
    }

    @Override
    public void onUpdate(R before, R now) {
      enqueueIfGated(handler.set(now));
    }

    @Override
    public void onDelete(R last, boolean lastIsUnknown) {
      handler.forget(handler.set(last));
    }
  }

  /** Handles the events of the watch of pods. */
  private final class PodWatch implements ResourceEventHandler<PodResource> {

    @Override
    public void onAdd(PodResource now) {
      setOf(now).forEach(queue::enqueue);
    }

    @Override
    public void onUpdate(PodResource before, PodResource now) {
      setOf(now).forEach(queue::enqueue);
    }

    @Override
    public void onDelete(PodResource last, boolean lastIsUnknown) {
      // The pod runs, is managed or is deleted: its set has nothing to do.
    }
  }
}
