package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.WorkloadLifecycle.LifecycleEvents;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.writing.DecisionExecutor.DecisionLog;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits a Workload in the same write that makes its last admission check Ready. The rules are
 * those of {@link LifecyclePolicy}, by which {@link WorkloadLifecycle} would admit it in a second
 * write after that one. Thread-safe.
 */
public final class CheckedAdmission {

  private static final Logger DECISIONS = LoggerFactory.getLogger(DecisionLog.NAME);

  private final Function<CachedWorkload, QueueLookup> queueLookup;
  private final LifecycleOptions options;
  private final LifecycleEvents events;
  private final InstantSource clock;

  /**
   * Creates an admission.
   *
   * @param queueLookup the current states of the queues of a Workload
   * @param options the options
   * @param events records events after successful writes
   */
  public CheckedAdmission(
      Function<CachedWorkload, QueueLookup> queueLookup,
      LifecycleOptions options,
      LifecycleEvents events,
      InstantSource clock) {
    this.queueLookup = queueLookup;
    this.options = options;
    this.events = events;
    this.clock = clock;
  }

  /**
   * Adds the admission to a patch of the status, if the Workload is to be admitted after it.
   *
   * @param after the Workload as the patch makes it
   * @param status the patch; receives the fields of the admission
   * @return what was added, for {@link #written}
   */
  public Optional<PatchStatus> add(CachedWorkload after, ObjectNode status) {
    Optional<PatchStatus> admission =
        LifecyclePolicy.decide(after, queueLookup.apply(after), options, clock.instant())
            .action()
            .filter(action -> action.change().equals(ReservedWorkloadPolicy.ADMITTED))
            .filter(PatchStatus.class::isInstance)
            .map(PatchStatus.class::cast);
    admission.ifPresent(it -> status.setAll(it.status()));
    return admission;
  }

  /** Called when the write with the admission succeeded: records its events. */
  public void written(CachedWorkload workload, PatchStatus admission) {
    DECISIONS.info("workload={} {}", workload.id(), admission.change());
    admission.eventSpec().forEach(each -> events.record(workload.id(), each));
  }
}
