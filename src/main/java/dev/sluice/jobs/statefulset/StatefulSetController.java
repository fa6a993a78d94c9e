package dev.sluice.jobs.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.pod.CachedPod;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.PodResource;
import dev.sluice.kube.workqueue.WorkQueue;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadListener;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The StatefulSets: their watch, that of their pods which nobody has marked yet, and what wakes
 * them. The client must know {@link StatefulSetResource} and {@link PodResource} for their kinds.
 */
public final class StatefulSetController implements WorkloadListener, AutoCloseable {

  private static final long PAGE = 500;
  private static final String BY_SET = "set";

  private final StatefulSetReconciler reconciler;
  private final PodIndex marked;
  private final BooleanSupplier leading;
  private final SharedIndexInformer<StatefulSetResource> sets;
  private final SharedIndexInformer<PodResource> unmarked;
  private final WorkQueue<Unit> units;
  private volatile boolean synced;

  private record Unit(String namespace, String name) {

    @Override
    public String toString() {
      return "StatefulSet " + namespace + "/" + name;
    }
  }

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the managed pods
   * @param directory is told where StatefulSets are found
   * @param executor runs what must not hold up watches
   * @param later runs a task after a delay
   * @param leading whether this process may write, at the moment of asking
   */
  public StatefulSetController(
      KubernetesClient client,
      StatefulSetReconciler reconciler,
      PodIndex marked,
      IntegrationRegistry directory,
      JobReconciler.Dependencies around,
      Executor executor,
      BiConsumer<Duration, Runnable> later,
      BooleanSupplier leading) {
    this.reconciler = reconciler;
    this.marked = marked;
    this.leading = leading;
    this.units = new WorkQueue<>(this::reconcile, WorkQueueSettings.of(executor, later));
    this.sets =
        client
            .resources(StatefulSetResource.class)
            .inAnyNamespace()
            .withLimit(PAGE)
            .runnableInformer(0);
    // Pods that are on a node already can't be held back; those of others cost nothing there.
    this.unmarked =
        client
            .resources(PodResource.class)
            .inAnyNamespace()
            .withoutLabel(KueueConstants.MANAGED)
            .withField("spec.nodeName", "")
            .withLimit(PAGE)
            .runnableInformer(0);
    around.informerSupervisor().keep("statefulsets", sets);
    around.informerSupervisor().keep("unmarked-pods", unmarked);
    unmarked.addIndexers(Map.of(BY_SET, pod -> setOf(pod.pod()).map(Unit::toString).toList()));
    sets.addEventHandler(new Watch());
    unmarked.addEventHandler(new PodWatch());
    directory.register(
        StatefulSets.KIND, (namespace, name) -> find(namespace, name).map(CachedStatefulSet::job));
    around.workloads().listen(this);
  }

  /** Starts the watches; completes when all StatefulSets and all their pods are known. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        sets.start().toCompletableFuture(), unmarked.start().toCompletableFuture());
  }

  /** This process leads from now on: looks at every set once. */
  public void leadershipStarted() {
    triggerAll();
  }

  /** Ends the watches. */
  @Override
  public void close() {
    sets.stop();
    unmarked.stop();
    units.close();
  }

  @Override
  public void synced() {
    synced = true;
    triggerAll();
  }

  private void triggerAll() {
    sets.getStore().list().forEach(set -> trigger(set.set()));
  }

  private void trigger(CachedStatefulSet set) {
    if (!set.gated()) {
      return;
    }
    units.enqueue(new Unit(set.job().ref().namespace(), set.job().ref().name()));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? Objects.requireNonNull(before) : after;
    if (StatefulSetPolicy.OWNER_GVK.equals(
        either.annotations().get(KueueConstants.JOB_OWNER_GVK))) {
      units.enqueue(
          new Unit(
              either.id().namespace(),
              either.annotations().getOrDefault(KueueConstants.JOB_OWNER_NAME, "")));
    }
  }

  private Optional<CachedStatefulSet> find(String namespace, String name) {
    return Optional.ofNullable(sets.getStore().getByKey(namespace + "/" + name))
        .filter(StatefulSetResource::isReadable)
        .map(StatefulSetResource::set);
  }

  private Optional<Duration> reconcile(Unit unit) throws InterruptedException {
    if (!synced || !leading.getAsBoolean()) {
      return Optional.empty();
    }
    Optional<CachedStatefulSet> set = find(unit.namespace(), unit.name());
    return set.isEmpty()
        ? Optional.empty()
        : reconciler.reconcile(set.get(), pods(unit, set.get()));
  }

  private List<CachedPod> pods(Unit unit, CachedStatefulSet set) {
    List<CachedPod> pods = new ArrayList<>();
    unmarked.getIndexer().byIndex(BY_SET, unit.toString()).forEach(pod -> pods.add(pod.pod()));
    pods.addAll(marked.group(unit.namespace(), reconciler.workloadOf(set)));
    return pods;
  }

  /** The StatefulSet for which a pod is held back. */
  private static Stream<Unit> setOf(CachedPod pod) {
    boolean heldBack =
        StatefulSets.KIND
            .framework()
            .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
    return pod
        .job()
        .controller()
        .filter(owner -> heldBack && StatefulSets.KIND.is(owner.apiVersion(), owner.kind()))
        .map(owner -> new Unit(pod.namespace(), owner.name()))
        .stream();
  }

  /** What the watch of StatefulSets tells. */
  private final class Watch implements ResourceEventHandler<StatefulSetResource> {

    @Override
    public void onAdd(StatefulSetResource now) {
      trigger(now.set());
    }

    @Override
    public void onUpdate(StatefulSetResource before, StatefulSetResource now) {
      trigger(now.set());
    }

    @Override
    public void onDelete(StatefulSetResource last, boolean lastIsUnknown) {
      reconciler.forget(last.set());
    }
  }

  /** What the watch of pods tells. */
  private final class PodWatch implements ResourceEventHandler<PodResource> {

    @Override
    public void onAdd(PodResource now) {
      setOf(now.pod()).forEach(units::enqueue);
    }

    @Override
    public void onUpdate(PodResource before, PodResource now) {
      setOf(now.pod()).forEach(units::enqueue);
    }

    @Override
    public void onDelete(PodResource last, boolean lastIsUnknown) {
      // it runs, is marked, or is gone: nothing that the set has to see to
    }
  }
}
