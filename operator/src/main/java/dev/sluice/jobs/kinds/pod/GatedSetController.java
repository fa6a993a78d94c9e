package dev.sluice.jobs.kinds.pod;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobController.AdmissionCheckEvents;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobControllers.JobKindController;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The controller of a kind whose objects create pods that are gated, and that have Workloads of
 * their groups: watches the objects, and those of their pods that don't carry the label of managed
 * pods yet. What is particular to the kind is in its {@link GatedSetHandler}.
 *
 * @param <S> what is kept of an object
 */
public class GatedSetController<S extends GatedSet> implements JobKindController, WorkloadListener {

  /** Pods that are on a node can't be gated any more. */
  private static final String UNMARKED =
      "?labelSelector="
          + URLEncoder.encode("!" + KueueConstants.MANAGED, UTF_8)
          + "&fieldSelector=spec.nodeName%3D";

  private final GatedSetHandler<S> handler;
  private final PodIndex marked;
  private final BooleanSupplier leading;
  private final Store<S> sets;
  private final Store<CachedPod> unmarked;
  private final List<Reflector<?>> reflectors;
  private final WorkQueue<ObjectKey> queue;
  private final Map<ObjectKey, Set<String>> workloadNames = new ConcurrentHashMap<>();
  private final WorkloadLister workloads;
  private final Runnable unlisten;
  private volatile boolean workloadsSynced;

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   * @param parser what is kept of an object
   */
  protected GatedSetController(
      PodIndex marked,
      JobControllerContext context,
      Function<JsonNode, S> parser,
      GatedSetHandler<S> handler) {
    JobReconciler.Dependencies dependencies = context.dependencies();
    this.handler = handler;
    this.marked = marked;
    this.workloads = dependencies.workloads().store();
    this.leading = context.leading();
    this.queue = new WorkQueue<>(this::reconcile, context.queue(handler.kind()));
    SinglePod adapter = new SinglePod();
    this.sets = new Store<>(parser);
    this.unmarked =
        new Store<>(
            object -> CachedPodParser.of(adapter, object),
            pod -> setOf(handler, pod).map(ObjectKey::toString).orElse(""));
    String plural = handler.kind().plural();
    this.reflectors =
        List.of(
            context.reflectors().of(plural, handler.kind().collection(), sets),
            context
                .reflectors()
                .of(
                    "unmarked-pods-of-" + plural,
                    SinglePod.KIND.collection() + UNMARKED,
                    unmarked));
    sets.observe(this::setChanged);
    unmarked.observe(this::podChanged);
    context
        .registry()
        .register(
            handler.kind(),
            (namespace, name) -> find(new ObjectKey(namespace, name)).map(GatedSet::job));
    AdmissionCheckEvents checkEvents =
        new AdmissionCheckEvents(handler.kind(), dependencies.events(), leading);
    Predicate<CachedPod> rollouts = this::isReplaced;
    this.unlisten =
        () -> {
          marked.removeRollouts(rollouts);
          dependencies.workloads().unlisten(this);
          dependencies.workloads().unlisten(checkEvents);
        };
    marked.addRollouts(rollouts);
    dependencies.workloads().listen(this);
    dependencies.workloads().listen(checkEvents);
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
        reflectors.stream().map(Reflector::start).toArray(CompletableFuture[]::new));
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
    reflectors.forEach(Reflector::close);
    queue.close();
  }

  @Override
  public void synced() {
    workloadsSynced = true;
    enqueueAll();
  }

  private void enqueueAll() {
    sets.all().forEach(this::enqueueIfGated);
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
          // not copied: a set may have very many, and this is called for each of their changes
          Set<String> names = known == null ? new ConcurrentSkipListSet<>() : known;
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
    return sets.find(key.namespace(), key.name());
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
    List<CachedPod> pods = new ArrayList<>(unmarked.with(key.toString()));
    pods.addAll(handler.members(set, workloadNames.getOrDefault(key, Set.of()), marked));
    return pods;
  }

  /** The set that a gated pod belongs to, if it belongs to one of this kind. */
  private static Optional<ObjectKey> setOf(GatedSetHandler<?> handler, CachedPod pod) {
    return handler.setOf(pod).map(name -> new ObjectKey(pod.namespace(), name));
  }

  /** Called on the reflector's thread. */
  private void setChanged(@Nullable S before, @Nullable S after) {
    if (after != null) {
      enqueueIfGated(after);
    } else if (before != null) {
      handler.forget(before);
    }
  }

  /** A pod that is gone runs, is managed or is deleted: its set has nothing to do. */
  private void podChanged(@Nullable CachedPod before, @Nullable CachedPod after) {
    if (after != null) {
      setOf(handler, after).ifPresent(queue::enqueue);
    }
  }

  /**
   * What a {@link GatedSetController} has to know of a kind.
   *
   * @param <S> what is kept of an object
   */
  public interface GatedSetHandler<S extends GatedSet> {

    /** The kind. */
    JobKind kind();

    /** How the Workloads of the kind name it in {@code kueue.x-k8s.io/job-owner-gvk}. */
    String ownerGvk();

    /**
     * The name of the set that a gated pod belongs to; empty if it belongs to none of this kind.
     */
    Optional<String> setOf(CachedPod pod);

    /**
     * The managed pods of a set; pods of others may be among them.
     *
     * @param workloads the names of the Workloads that name the set as their job
     */
    List<CachedPod> members(S set, Set<String> workloads, PodIndex marked);

    /**
     * Whether a rollout is about to replace a member of a set, and waits for it to run until then.
     * Of kinds whose rollouts let pods leave their group, no member is such a pod.
     */
    default boolean isReplaced(S set, CachedPod pod) {
      return false;
    }

    /**
     * Does what a set and its pods need now.
     *
     * @param pods its pods, as far as they are managed or gated; pods of others may be among them
     * @param own the Workloads that name the set as their job
     * @return the delay after which to reconcile again even without an event; empty if an event
     *     will follow
     */
    Optional<Duration> reconcile(S set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException;

    /** Forgets a set that is deleted. */
    void forget(S set);
  }
}
