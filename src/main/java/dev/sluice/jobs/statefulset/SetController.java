package dev.sluice.jobs.statefulset;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobDirectory;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.pods.PodDirectory;
import dev.sluice.jobs.pods.PodResource;
import dev.sluice.jobs.pods.PodView;
import dev.sluice.jobs.pods.UnitQueue;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadListener;
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
 * them. The client must know {@link SetResource} and {@link PodResource} for their kinds.
 */
public final class SetController implements WorkloadListener, AutoCloseable {

  private static final long PAGE = 500;
  private static final String BY_SET = "set";

  private final SetReconciler reconciler;
  private final PodDirectory marked;
  private final BooleanSupplier leading;
  private final SharedIndexInformer<SetResource> sets;
  private final SharedIndexInformer<PodResource> unmarked;
  private final UnitQueue<Unit> units;
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
  public SetController(
      KubernetesClient client,
      SetReconciler reconciler,
      PodDirectory marked,
      JobDirectory directory,
      JobReconciler.Surroundings around,
      Executor executor,
      BiConsumer<Duration, Runnable> later,
      BooleanSupplier leading) {
    this.reconciler = reconciler;
    this.marked = marked;
    this.leading = leading;
    this.units = new UnitQueue<>(this::reconcile, executor, later::accept);
    this.sets =
        client.resources(SetResource.class).inAnyNamespace().withLimit(PAGE).runnableInformer(0);
    // Pods that are on a node already can't be held back; those of others cost nothing there.
    this.unmarked =
        client
            .resources(PodResource.class)
            .inAnyNamespace()
            .withoutLabel(Keys.MANAGED)
            .withField("spec.nodeName", "")
            .withLimit(PAGE)
            .runnableInformer(0);
    around.informers().keep("statefulsets", sets);
    around.informers().keep("unmarked-pods", unmarked);
    unmarked.addIndexers(Map.of(BY_SET, pod -> setOf(pod.pod()).map(Unit::toString).toList()));
    sets.addEventHandler(new Watch());
    unmarked.addEventHandler(new PodWatch());
    directory.register(
        StatefulSets.KIND, (namespace, name) -> find(namespace, name).map(SetView::job));
    around.workloads().listen(this);
  }

  /** Starts the watches; completes when all StatefulSets and all their pods are known. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        sets.start().toCompletableFuture(), unmarked.start().toCompletableFuture());
  }

  /** This process leads from now on: looks at every set once. */
  public void leadershipStarted() {
    wakeAll();
  }

  /** Ends the watches. */
  @Override
  public void close() {
    sets.stop();
    unmarked.stop();
  }

  @Override
  public void synced() {
    synced = true;
    wakeAll();
  }

  private void wakeAll() {
    sets.getStore().list().forEach(set -> wake(set.set()));
  }

  private void wake(SetView set) {
    if (!set.heldBack()) {
      return;
    }
    units.wake(new Unit(set.job().ref().namespace(), set.job().ref().name()));
  }

  @Override
  public void changed(@Nullable Workload before, @Nullable Workload after) {
    Workload either = after == null ? Objects.requireNonNull(before) : after;
    if (SetDecisions.OWNER_GVK.equals(either.annotations().get(Keys.JOB_OWNER_GVK))) {
      units.wake(
          new Unit(
              either.id().namespace(), either.annotations().getOrDefault(Keys.JOB_OWNER_NAME, "")));
    }
  }

  private Optional<SetView> find(String namespace, String name) {
    return Optional.ofNullable(sets.getStore().getByKey(namespace + "/" + name))
        .filter(SetResource::isReadable)
        .map(SetResource::set);
  }

  private Optional<Duration> reconcile(Unit unit) throws InterruptedException {
    if (!synced || !leading.getAsBoolean()) {
      return Optional.empty();
    }
    Optional<SetView> set = find(unit.namespace(), unit.name());
    return set.isEmpty()
        ? Optional.empty()
        : reconciler.reconcile(set.get(), pods(unit, set.get()));
  }

  private List<PodView> pods(Unit unit, SetView set) {
    List<PodView> pods = new ArrayList<>();
    unmarked.getIndexer().byIndex(BY_SET, unit.toString()).forEach(pod -> pods.add(pod.pod()));
    pods.addAll(marked.group(unit.namespace(), reconciler.workloadOf(set)));
    return pods;
  }

  /** The StatefulSet for which a pod is held back. */
  private static Stream<Unit> setOf(PodView pod) {
    boolean heldBack =
        StatefulSets.KIND
            .framework()
            .equals(pod.job().annotations().get(Keys.POD_SUSPENDING_PARENT));
    return pod
        .job()
        .controller()
        .filter(owner -> heldBack && StatefulSets.KIND.is(owner.apiVersion(), owner.kind()))
        .map(owner -> new Unit(pod.namespace(), owner.name()))
        .stream();
  }

  /** What the watch of StatefulSets tells. */
  private final class Watch implements ResourceEventHandler<SetResource> {

    @Override
    public void onAdd(SetResource now) {
      wake(now.set());
    }

    @Override
    public void onUpdate(SetResource before, SetResource now) {
      wake(now.set());
    }

    @Override
    public void onDelete(SetResource last, boolean lastIsUnknown) {
      reconciler.forget(last.set());
    }
  }

  /** What the watch of pods tells. */
  private final class PodWatch implements ResourceEventHandler<PodResource> {

    @Override
    public void onAdd(PodResource now) {
      setOf(now.pod()).forEach(units::wake);
    }

    @Override
    public void onUpdate(PodResource before, PodResource now) {
      setOf(now.pod()).forEach(units::wake);
    }

    @Override
    public void onDelete(PodResource last, boolean lastIsUnknown) {
      // it runs, is marked, or is gone: nothing that the set has to see to
    }
  }
}
