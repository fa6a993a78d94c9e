package dev.sluice.checks;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.checks.AdmissionCheckController.Answer;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.workqueue.WorkQueue;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import dev.sluice.workload.WorkloadListener;
import dev.sluice.workload.WorkloadLister;
import dev.sluice.workload.WorkloadWriter.Outcome;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what a controller of AdmissionChecks answers for Workloads that hold quota, for
 * controllers whose answer depends on the Workload and what they know themselves. A Workload is
 * reconciled by one thread at a time.
 */
public final class CheckStateReconciler implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CheckStateReconciler.class);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  private final AdmissionCheckController controller;
  private final Function<String, Optional<AdmissionCheck>> checks;
  private final WorkloadLister workloads;
  private final CheckStateWriter states;
  private final BooleanSupplier leading;
  private final InstantSource clock;
  private final WorkQueue<Key> queue;

  private record Key(String namespace, String name) {

    static Key of(WorkloadId id) {
      return new Key(id.namespace(), id.name());
    }
  }

  /**
   * A reconciler; the caller has it listen to the reader of Workloads.
   *
   * @param checks finds an AdmissionCheck by name
   * @param leading whether this process may write, at the moment of asking
   */
  public CheckStateReconciler(
      AdmissionCheckController controller,
      Function<String, Optional<AdmissionCheck>> checks,
      WorkloadLister workloads,
      CheckStateWriter states,
      BooleanSupplier leading,
      InstantSource clock,
      WorkQueueSettings queue) {
    this.controller = controller;
    this.checks = checks;
    this.workloads = workloads;
    this.states = states;
    this.leading = leading;
    this.clock = clock;
    this.queue = new WorkQueue<>(this::reconcile, queue);
  }

  /** Reconciles every Workload; to be called when this process becomes the leader. */
  public void leadershipStarted() {
    enqueueAll();
  }

  /**
   * Reconciles every Workload; to be called when the controller may answer otherwise than before.
   */
  public void enqueueAll() {
    workloads.all().forEach(workload -> changed(null, workload));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null && waits(after)) {
      queue.enqueue(Key.of(after.id()));
    }
  }

  private static boolean waits(CachedWorkload workload) {
    return workload.quotaReserved()
        && !workload.finished()
        && !workload.evicted()
        && !workload.status().admissionChecks().isEmpty();
  }

  private Optional<Duration> reconcile(Key key) throws InterruptedException {
    Optional<CachedWorkload> workload =
        workloads.get(key.namespace(), key.name()).filter(CheckStateReconciler::waits);
    if (workload.isEmpty() || !leading.getAsBoolean()) {
      return Optional.empty();
    }
    for (CheckState state : workload.get().status().admissionChecks()) {
      Optional<Answer> answer =
          checks
              .apply(state.name())
              .filter(controller.description()::isOf)
              .flatMap(check -> controller.answer(workload.get(), state))
              .filter(it -> !it.equals(new Answer(state.state(), state.message())));
      if (answer.isPresent()) {
        return write(workload.get(), state.name(), answer.get());
      }
    }
    return Optional.empty();
  }

  /** One check at a time: the write makes a new version of the Workload, which is seen again. */
  private Optional<Duration> write(CachedWorkload workload, String check, Answer answer)
      throws InterruptedException {
    Outcome outcome =
        Futures.forResult(
            states.write(
                workload, CheckStateWriter.patch(workload, check, answer, clock.instant())));
    return switch (outcome) {
      case Outcome.Written written -> {
        LOG.info(
            "workload={} check={} state={} reason=\"{}\"",
            workload.id(),
            check,
            answer.state(),
            answer.message());
        yield Optional.empty();
      }
      case Outcome.Gone gone -> Optional.empty();
      case Outcome.Conflict conflict -> Optional.of(SOON);
      case Outcome.Refused refused -> {
        LOG.warn(
            "workload={} check={} not written, reason=\"{}\"",
            workload.id(),
            check,
            refused.message());
        yield Optional.of(AFTER_REFUSAL);
      }
    };
  }

  @Override
  public void close() {
    queue.close();
  }
}
