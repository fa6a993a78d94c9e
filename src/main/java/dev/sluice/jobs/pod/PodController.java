package dev.sluice.jobs.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.kube.workqueue.WorkQueue;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadListener;
import dev.sluice.workload.WorkloadLister;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The managed pods: their watch, and what wakes a single pod or a group. The client must know
 * {@link PodResource} for the kind Pod.
 */
public final class PodController implements WorkloadListener, AutoCloseable {

  private static final long PAGE = 500;

  private final PodIndex directory;
  private final JobReconciler singles;
  private final PodGroupReconciler groups;
  private final WorkloadLister workloads;
  private final BooleanSupplier leading;
  private final SharedIndexInformer<PodResource> informer;
  private final WorkQueue<PodGroupKey> units;
  private final WorkQueue<PodWorkloadFinalizer.Name> leaving;
  private volatile boolean synced;

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param directory is kept up to date
   * @param singles does what single pods need
   * @param groups does what groups of pods need
   * @param executor runs what must not hold up watches
   * @param later runs a task after a delay
   * @param leading whether this process may write, at the moment of asking
   */
  public PodController(
      KubernetesClient client,
      PodIndex directory,
      JobReconciler singles,
      PodGroupReconciler groups,
      JobReconciler.Dependencies around,
      Executor executor,
      BiConsumer<Duration, Runnable> later,
      BooleanSupplier leading) {
    this.directory = directory;
    this.singles = singles;
    this.groups = groups;
    this.workloads = around.workloads().store();
    this.leading = leading;
    this.informer =
        client
            .resources(PodResource.class)
            .inAnyNamespace()
            .withLabel(KueueConstants.MANAGED, "true")
            .withLimit(PAGE)
            .runnableInformer(0);
    around.informerSupervisor().keep("pods", informer);
    this.units = new WorkQueue<>(this::reconcile, WorkQueueSettings.of(executor, later));
    PodWorkloadFinalizer leavers = new PodWorkloadFinalizer(directory, around);
    this.leaving =
        new WorkQueue<>(
            name -> mayAct() ? leavers.removeFinalizer(name) : Optional.empty(),
            WorkQueueSettings.of(executor, later));
    informer.addEventHandler(new Watch());
    around.workloads().listen(this);
  }

  /** Starts the watch; completes when all managed pods are known. */
  public CompletableFuture<Void> start() {
    return informer.start().toCompletableFuture();
  }

  /** This process leads from now on: looks at every pod once. */
  public void leadershipStarted() {
    triggerAll();
  }

  /** Ends the watch. */
  @Override
  public void close() {
    informer.stop();
    units.close();
    leaving.close();
  }

  @Override
  public void synced() {
    synced = true;
    triggerAll();
  }

  private void triggerAll() {
    directory.all().forEach(pod -> units.enqueue(PodGroupKey.of(pod)));
    workloads.all().forEach(this::record);
  }

  /** Without all Workloads in sight, every running pod would look like one that slipped in. */
  private boolean mayAct() {
    return synced && leading.getAsBoolean();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    record(after == null ? Objects.requireNonNull(before) : after);
  }

  private void record(CachedWorkload workload) {
    String namespace = workload.id().namespace();
    workload
        .owner()
        .filter(PodWorkloadFinalizer::isPod)
        .ifPresent(owner -> units.enqueue(PodGroupKey.single(namespace, owner.name())));
    if (PodWorkloadFinalizer.isOfGroup(workload)
        || directory.hasGroup(namespace, workload.id().name())) {
      units.enqueue(PodGroupKey.group(namespace, workload.id().name()));
    }
    if (PodWorkloadFinalizer.concerns(workload)) {
      leaving.enqueue(
          new PodWorkloadFinalizer.Name(workload.id().namespace(), workload.id().name()));
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
        directory
            .find(unit.namespace(), unit.name())
            .filter(found -> PodGroupKey.of(found).equals(unit));
    return pod.isEmpty() ? Optional.empty() : singles.reconcile(pod.get().job());
  }

  /** What the watch tells. */
  private final class Watch implements ResourceEventHandler<PodResource> {

    @Override
    public void onAdd(PodResource now) {
      seen(now);
    }

    @Override
    public void onUpdate(PodResource before, PodResource now) {
      seen(now);
    }

    @Override
    public void onDelete(PodResource last, boolean lastIsUnknown) {
      directory.remove(last.pod());
      units.enqueue(PodGroupKey.of(last.pod()));
      singles.forget(last.pod().job());
      groups.forget(last.pod().job().ref());
    }

    /** What can't be read stays as it was known. */
    private void seen(PodResource resource) {
      if (!resource.isReadable()) {
        return;
      }
      CachedPod now = resource.pod();
      Optional<CachedPod> before = directory.put(now);
      if (before.filter(now::looksLike).isPresent()) {
        return;
      }
      units.enqueue(PodGroupKey.of(now));
      before
          .map(PodGroupKey::of)
          .filter(unit -> !unit.equals(PodGroupKey.of(now)))
          .ifPresent(units::enqueue);
    }
  }
}
