package dev.sluice.queues;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles a WorkloadPriorityClass: copies its value to the priority of every unfinished Workload
 * that names it, including Workloads that were created from an older value. Workloads that a
 * manager cluster sent have the priority that they have there.
 */
final class WorkloadPriorityClassReconciler extends LeaderAwareReconciler<WorkloadPriorityClass>
    implements WorkloadListener {

  private static final Logger LOG = LoggerFactory.getLogger(WorkloadPriorityClassReconciler.class);
  private static final String KIND = "WorkloadPriorityClass";
  private static final int BATCH_SIZE = 16;
  private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

  private final ReconcileTrigger<WorkloadPriorityClass> reconcileTrigger;
  private final ObservableItemStore<WorkloadPriorityClass> classes;
  private final WorkloadLister workloads;
  private final WorkloadWriter writer;

  WorkloadPriorityClassReconciler(
      Leadership leadership,
      ReconcileTrigger<WorkloadPriorityClass> reconcileTrigger,
      ObservableItemStore<WorkloadPriorityClass> classes,
      WorkloadLister workloads,
      WorkloadWriter writer) {
    super(leadership, reconcileTrigger);
    this.reconcileTrigger = reconcileTrigger;
    this.classes = classes;
    this.workloads = workloads;
    this.writer = writer;
  }

  @Override
  protected Step reconcileObject(WorkloadPriorityClass priorityClass) {
    String name = priorityClass.getMetadata().getName();
    AtomicInteger written = new AtomicInteger();
    AtomicInteger left = new AtomicInteger();
    Semaphore free = new Semaphore(BATCH_SIZE);
    for (CachedWorkload workload : workloads.all()) {
      if (className(workload).filter(name::equals).isPresent()
          && workload.spec().priority() != priorityClass.getValue()) {
        free.acquireUninterruptibly();
        writer
            .patch(workload.id(), workload.version(), priority(priorityClass.getValue()))
            .whenComplete(
                (outcome, failure) -> {
                  free.release();
                  (stands(workload, outcome, failure) ? written : left).incrementAndGet();
                });
      }
    }
    free.acquireUninterruptibly(BATCH_SIZE);
    if (written.get() + left.get() > 0) {
      LOG.info(
          "WorkloadPriorityClass {} value={} workloads={} left={}",
          name,
          priorityClass.getValue(),
          written,
          left);
    }
    return left.get() == 0 ? new Step.Done() : new Step.Requeue(RETRY_DELAY);
  }

  private static boolean stands(
      CachedWorkload workload,
      WorkloadWriter.@Nullable Outcome outcome,
      @Nullable Throwable failure) {
    if (outcome == null) {
      LOG.debug(
          "Workload {} priority not written reason=\"{}\"",
          workload.id(),
          failure instanceof CompletionException ? failure.getCause() : failure);
      return false;
    }
    return switch (outcome) {
      case WorkloadWriter.Outcome.Written standing -> true;
      case WorkloadWriter.Outcome.Gone gone -> true;
      case WorkloadWriter.Outcome.Conflict conflict -> false;
      case WorkloadWriter.Outcome.Refused refused -> {
        LOG.warn(
            "Workload {} priority refused code={} reason=\"{}\"",
            workload.id(),
            refused.code(),
            refused.message());
        yield true;
      }
    };
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before == null && after != null) {
      className(after)
          .flatMap(classes::find)
          .filter(priorityClass -> priorityClass.getValue() != after.spec().priority())
          .ifPresent(
              priorityClass -> reconcileTrigger.signal(priorityClass.getMetadata().getName()));
    }
  }

  /**
   * The WorkloadPriorityClass that an unfinished Workload names; empty for one that a manager
   * cluster sent, whose class of the same name may have another value
   * (docs/multikueue.md#the-way-of-a-job).
   */
  private static Optional<String> className(CachedWorkload workload) {
    return workload.finished() || workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN)
        ? Optional.empty()
        : workload
            .spec()
            .priorityClass()
            .filter(ref -> ref.group().equals(KueueConstants.GROUP) && ref.kind().equals(KIND))
            .map(CachedWorkload.PriorityClassRef::name);
  }

  private static ObjectNode priority(int value) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").put("priority", value);
    return patch;
  }
}
