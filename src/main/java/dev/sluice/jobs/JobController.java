package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadFinalizer;
import dev.sluice.workload.WorkloadReader;
import dev.sluice.workload.WorkloadWriter;
import io.javaoperatorsdk.operator.api.config.ControllerConfigurationOverrider;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One kind of jobs in the operator framework: its watch, its cache, what wakes its jobs. The
 * operator that it is registered with must hand out resources from the cache as they are (identity
 * cloner), and its client must know the resource class for the kind. Each kind has a class of its
 * own, because the framework reads the resource from the class.
 *
 * @param <R> the kind's resource
 */
public abstract class JobController<R extends JobResource> implements Reconciler<R> {

  private static final Logger LOG = LoggerFactory.getLogger(JobController.class);
  private static final Duration FIRST_RETRY = Duration.ofMillis(500);
  private static final Duration LONGEST_RETRY = Duration.ofMinutes(1);
  private static final Duration LATER = Duration.ofSeconds(2);
  private static final long PAGE = 500;

  private final JobKind kind;
  private final JobReconciler reconciler;
  private final OwnerChainResolver ownerChainResolver;
  private final WorkloadReader workloads;
  private final WorkloadWriter writer;
  private final JobClient objects;
  private final ExecutorService background;
  private final WorkloadEvents<R> workloadEvents;
  private final BooleanSupplier leading;
  private volatile @Nullable IndexedResourceCache<R> cache;
  private final IntegrationRegistry directory;

  /**
   * The controller of a kind.
   *
   * @param background runs what must not hold up the Workload reader
   * @param leading whether this process may write, at the moment of asking
   */
  protected JobController(
      JobKind kind,
      JobReconciler reconciler,
      OwnerChainResolver ownerChainResolver,
      IntegrationRegistry directory,
      JobReconciler.Dependencies around,
      ExecutorService background,
      BooleanSupplier leading) {
    this.kind = kind;
    this.reconciler = reconciler;
    this.ownerChainResolver = ownerChainResolver;
    this.directory = directory;
    this.workloads = around.workloads();
    this.writer = around.writer();
    this.objects = around.objects();
    this.background = background;
    this.leading = leading;
    this.workloadEvents =
        new WorkloadEvents<>(
            kind,
            workloads.store(),
            workload -> background.execute(() -> removeFinalizers(workload)),
            this::jobs);
    workloads.listen(workloadEvents);
  }

  /** How the controller is to be registered. */
  public void configure(ControllerConfigurationOverrider<R> configuration) {
    configuration
        .withGenerationAware(false)
        .withTriggerReconcilerOnAllEvents(true)
        .withGenericFilter(job -> job.isReadable() && ownerChainResolver.concerns(job.view()))
        .withOnUpdateFilter((now, before) -> !looksTheSame(now.view(), before.view()))
        .withReconciliationMaxInterval(null)
        .withInformerListLimit(PAGE)
        .withRetry(
            new GenericRetry()
                .setInitialInterval(FIRST_RETRY.toMillis())
                .setIntervalMultiplier(2)
                .setMaxInterval(LONGEST_RETRY.toMillis())
                .withoutMaxAttempts());
  }

  private static boolean looksTheSame(CachedJob now, CachedJob before) {
    return now.deleting() == before.deleting()
        && now.state().equals(before.state())
        && now.labels().equals(before.labels())
        && now.annotations().equals(before.annotations())
        && now.controller().equals(before.controller())
        && now.podSets().equals(before.podSets());
  }

  /** This process leads from now on: looks at every job once. */
  public void leadershipStarted() {
    workloadEvents.triggerAll();
  }

  private Stream<R> jobs() {
    IndexedResourceCache<R> jobs = cache;
    return jobs == null ? Stream.of() : jobs.list();
  }

  /** Without all Workloads in sight, every running job would look like one that slipped in. */
  private boolean mayAct() {
    return workloadEvents.isSynced() && leading.getAsBoolean();
  }

  @Override
  public List<EventSource<?, R>> prepareEventSources(EventSourceContext<R> context) {
    IndexedResourceCache<R> jobs = context.getPrimaryCache();
    cache = jobs;
    directory.register(
        kind,
        (namespace, name) -> jobs.get(new ResourceID(name, namespace)).map(JobResource::view));
    return List.of(workloadEvents);
  }

  @Override
  public UpdateControl<R> reconcile(R job, Context<R> context) throws InterruptedException {
    if (!mayAct() || !job.isReadable()) {
      return UpdateControl.noUpdate();
    }
    if (context.isPrimaryResourceDeleted()) {
      reconciler.gone(job.view());
      return UpdateControl.noUpdate();
    }
    Optional<Duration> again = reconciler.reconcile(job.view());
    UpdateControl<R> nothing = UpdateControl.noUpdate();
    return again.map(nothing::rescheduleAfter).orElse(nothing);
  }

  /** Takes the finalizer off a Workload that is being deleted and whose job is gone. */
  private void removeFinalizers(CachedWorkload workload) {
    if (!mayAct()) {
      return;
    }
    CachedWorkload.Owner owner = workload.owner().orElseThrow();
    CachedJob.Controller job =
        new CachedJob.Controller(owner.apiVersion(), owner.kind(), owner.name(), owner.uid());
    if (directory.find(workload.id().namespace(), job).isPresent()) {
      return;
    }
    try {
      removeFinalizersIfUnowned(workload, owner);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      LOG.warn("workload={} not released yet, reason=\"{}\"", workload.id(), e.getMessage());
      CompletableFuture.delayedExecutor(LATER.toMillis(), TimeUnit.MILLISECONDS, background)
          .execute(() -> removeFinalizers(workload));
    }
  }

  private void removeFinalizersIfUnowned(CachedWorkload workload, CachedWorkload.Owner owner)
      throws InterruptedException {
    Optional<ObjectNode> job =
        Futures.forResult(objects.read(kind.path(workload.id().namespace(), owner.name())));
    boolean alive =
        job.filter(found -> found.path("metadata").path("uid").asText().equals(owner.uid()))
            .isPresent();
    if (!alive) {
      Futures.forResult(
          writer.patch(workload.id(), workload.version(), WorkloadFinalizer.removal(workload)));
      LOG.info("workload={} released, reason=\"its {} is gone\"", workload.id(), owner.kind());
    }
  }
}
