package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.WorkloadFinalizer;
import dev.sluice.workload.writing.DecisionExecutor.DecisionLog;
import dev.sluice.workload.writing.WorkloadWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the decisions of {@link LifecyclePolicy}. A Workload is reconciled when it changes,
 * when the state of one of its queues changes, and at the time that its last reconciliation
 * requested; all Workloads are reconciled when this process becomes the leader. At most one write
 * per Workload is in flight. The precondition of a write is the version that the decision was based
 * on.
 */
public final class WorkloadLifecycle implements WorkloadListener, QueueStateListener {

  private static final Logger LOG = LoggerFactory.getLogger(WorkloadLifecycle.class);
  private static final Logger DECISIONS = LoggerFactory.getLogger(DecisionLog.NAME);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  private final WorkloadLister store;
  private final WorkloadWriter writer;
  private final Function<CachedWorkload, QueueLookup> queueLookup;
  private final LifecycleOptions options;
  private final LifecycleEvents events;
  private final BooleanSupplier leading;
  private final InstantSource clock;
  private final Executor executor;
  private final Delays delays;
  private final Set<String> writing = ConcurrentHashMap.newKeySet();

  /** The Workloads that have replaced slices of elastic jobs, by the UID of the slice. */
  private final Map<String, WorkloadId> replacements = new ConcurrentHashMap<>();

  private final Map<String, Instant> scheduled = new ConcurrentHashMap<>();
  private volatile boolean started;

  /** Schedules tasks. */
  @FunctionalInterface
  public interface Delays {

    /** Runs {@code task} after {@code delay}, on any thread. */
    void after(Duration delay, Runnable task);
  }

  /**
   * Creates a life cycle that writes nothing before {@link #leadershipStarted}.
   *
   * @param queueLookup the current states of the queues of a Workload
   * @param options the options
   * @param events records events after successful writes
   * @param leading whether this process may write now
   * @param executor runs reconciliations outside the threads of the reader and the informers
   * @param delays schedules reconciliations
   */
  public WorkloadLifecycle(
      WorkloadLister store,
      WorkloadWriter writer,
      Function<CachedWorkload, QueueLookup> queueLookup,
      LifecycleOptions options,
      LifecycleEvents events,
      BooleanSupplier leading,
      InstantSource clock,
      Executor executor,
      Delays delays) {
    this.store = store;
    this.writer = writer;
    this.queueLookup = queueLookup;
    this.options = options;
    this.events = events;
    this.leading = leading;
    this.clock = clock;
    this.executor = executor;
    this.delays = delays;
  }

  /** Called when this process leads and all caches are synced: reconciles every Workload. */
  public void leadershipStarted() {
    started = true;
    executor.execute(() -> store.all().forEach(this::reconcileIfNeeded));
  }

  private boolean mayAct() {
    return started && leading.getAsBoolean();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null) {
      reconcileIfNeeded(after);
    } else if (before != null) {
      scheduled.remove(before.id().uid());
      replacements.remove(before.id().uid());
    }
  }

  /** Records the slice that a Workload has replaced, which is then finished. */
  private void replaces(CachedWorkload workload) {
    if (workload.elastic() && !workload.replacedSlice().isEmpty()) {
      store
          .get(workload.id().namespace(), workload.replacedSlice())
          .filter(slice -> LifecyclePolicy.isReplaced(slice, workload, options))
          .ifPresent(
              slice -> {
                replacements.put(slice.id().uid(), workload.id());
                executor.execute(() -> reconcile(slice.id()));
              });
    }
  }

  @Override
  public void localQueueChanged(String namespace, String name) {
    executor.execute(() -> store.inQueue(namespace, name).forEach(this::reconcileIfNeeded));
  }

  @Override
  public void clusterQueueChanged(String clusterQueue) {
    executor.execute(() -> store.reservingIn(clusterQueue).forEach(this::reconcileIfNeeded));
  }

  /**
   * Reconciles the Workloads whose devices may count otherwise now.
   *
   * @param namespace of these Workloads; empty: all namespaces
   * @param mayUseDevices the Workloads that may count otherwise
   */
  public void devicesChanged(String namespace, Predicate<CachedWorkload> mayUseDevices) {
    executor.execute(
        () -> {
          for (CachedWorkload workload :
              namespace.isEmpty() ? store.all() : store.inNamespace(namespace)) {
            if (!workload.quotaReserved() && mayUseDevices.test(workload)) {
              reconcileIfNeeded(workload);
            }
          }
        });
  }

  /** Reconciles a Workload on the executor, unless the policy has no result for it. */
  private void reconcileIfNeeded(CachedWorkload workload) {
    if (!mayAct()) {
      return;
    }
    replaces(workload);
    if (!decide(workload).isNothing()) {
      executor.execute(() -> reconcile(workload.id()));
    }
  }

  private LifecycleAction decide(CachedWorkload workload) {
    WorkloadId id = replacements.get(workload.id().uid());
    Optional<CachedWorkload> replacement =
        id == null
            ? Optional.empty()
            : store
                .get(id.namespace(), id.name())
                .filter(other -> LifecyclePolicy.isReplaced(workload, other, options));
    if (replacement.isPresent()) {
      return LifecyclePolicy.replaced(workload, replacement.get(), clock.instant());
    }
    return LifecyclePolicy.decide(workload, queueLookup.apply(workload), options, clock.instant());
  }

  private void reconcile(WorkloadId id) {
    Optional<CachedWorkload> found = store.get(id);
    if (found.isEmpty() || !mayAct()) {
      return;
    }
    LifecycleAction lifecycleAction = decide(found.get());
    lifecycleAction.reconcileAt().ifPresent(at -> scheduleRequeue(id, at));
    lifecycleAction
        .action()
        .filter(action -> writing.add(id.uid()))
        .ifPresent(a -> act(found.get(), a));
  }

  /**
   * Schedules a reconciliation, unless an earlier one is scheduled: that one will request the next.
   */
  private void scheduleRequeue(WorkloadId id, Instant at) {
    Instant earlier = scheduled.get(id.uid());
    if (earlier != null && !at.isBefore(earlier)) {
      return;
    }
    scheduled.put(id.uid(), at);
    Duration delay = Duration.between(clock.instant(), at);
    delays.after(
        delay.isNegative() ? Duration.ZERO : delay,
        () -> {
          scheduled.remove(id.uid(), at);
          reconcile(id);
        });
  }

  private void act(CachedWorkload workload, LifecycleAction.Action action) {
    CompletableFuture<Outcome> write;
    try {
      write = write(workload, action);
    } catch (RuntimeException e) {
      failed(workload, action, e);
      return;
    }
    var unused =
        write.whenCompleteAsync(
            (outcome, bug) -> {
              if (bug == null) {
                writing.remove(workload.id().uid());
                completed(workload, action, outcome);
              } else {
                failed(workload, action, bug);
              }
            },
            executor);
  }

  private void failed(CachedWorkload workload, LifecycleAction.Action action, Throwable bug) {
    writing.remove(workload.id().uid());
    LOG.error("workload={} not {}", workload.id(), action.change(), bug);
    delays.after(AFTER_FAILURE, () -> reconcile(workload.id()));
  }

  private CompletableFuture<Outcome> write(CachedWorkload workload, LifecycleAction.Action action) {
    return switch (action) {
      case LifecycleAction.PatchStatus patch ->
          writer.patchStatus(workload.id(), workload.version(), patch.status(), Urgency.DECISION);
      case LifecycleAction.Deactivate deactivate -> {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        patch.putObject("spec").put("active", false);
        yield writer.patch(workload.id(), workload.version(), patch);
      }
      case LifecycleAction.Annotate annotate -> {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        annotate.annotations().forEach(patch.withObject("/metadata/annotations")::put);
        yield writer.patch(workload.id(), workload.version(), patch);
      }
      case LifecycleAction.Delete delete -> writer.delete(workload.id());
      case LifecycleAction.RemoveFinalizer remove ->
          writer.patch(workload.id(), workload.version(), WorkloadFinalizer.removal(workload));
    };
  }

  private void completed(CachedWorkload workload, LifecycleAction.Action action, Outcome outcome) {
    switch (outcome) {
      case Outcome.Written written -> {
        DECISIONS.info("workload={} {}", workload.id(), action.change());
        events(action).forEach(each -> events.record(workload.id(), each));
        reconcile(workload.id());
      }
      case Outcome.Conflict conflict -> reconcile(workload.id());
      case Outcome.Gone gone -> scheduled.remove(workload.id().uid());
      case Outcome.Refused refused -> {
        LOG.warn(
            "workload={} not {}, reason=\"{}\"", workload.id(), action.change(), refused.message());
        delays.after(AFTER_FAILURE, () -> reconcile(workload.id()));
      }
    }
  }

  private static List<LifecycleAction.EventSpec> events(LifecycleAction.Action action) {
    return switch (action) {
      case LifecycleAction.PatchStatus patch -> patch.eventSpec();
      case LifecycleAction.Delete delete -> delete.eventSpec();
      case LifecycleAction.Deactivate deactivate -> List.of();
      case LifecycleAction.Annotate annotate -> List.of();
      case LifecycleAction.RemoveFinalizer remove -> List.of();
    };
  }

  /** Records Kubernetes events about what the life cycle did to Workloads. */
  @FunctionalInterface
  public interface LifecycleEvents {

    /** Records an event about the Workload; returns at once. */
    void record(WorkloadId workload, LifecycleAction.EventSpec eventSpec);
  }
}
