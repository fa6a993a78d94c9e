package dev.sluice.forecast.feed;

import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells the engine how long runs of Workloads take at most (docs/backfill.md#bounds), while any
 * queue plans by them: for back-fill, or to wait for a cheaper flavor, or while capacity is
 * reserved. Thread-safe.
 */
public final class RunBoundFeed implements WorkloadListener {

  private final SchedulerEventSink eventSink;
  private final RunBounds runBounds;
  private final BooleanSupplier used;
  private final Map<String, RunBound> told = new HashMap<>();

  /**
   * A feed.
   *
   * @param runBounds how long runs take at most
   * @param used whether any queue plans by bounds, or capacity is reserved
   */
  public RunBoundFeed(SchedulerEventSink eventSink, RunBounds runBounds, BooleanSupplier used) {
    this.eventSink = eventSink;
    this.runBounds = runBounds;
    this.used = used;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null && !after.finished()) {
      if (used.getAsBoolean()) {
        tell(after);
      }
    } else if (before != null) {
      forget(before);
    }
  }

  private synchronized void forget(CachedWorkload workload) {
    told.remove(workload.id().uid());
  }

  /**
   * Tells of all Workloads, after the first queue began to plan by bounds, or something is kept, or
   * more is known of run times.
   *
   * @param isLatest whether nothing newer was read of a Workload
   */
  public void tellAll(Iterable<CachedWorkload> workloads, Predicate<CachedWorkload> isLatest) {
    for (CachedWorkload workload : workloads) {
      if (!workload.finished()) {
        tellLatest(workload, isLatest);
      }
    }
  }

  /** What is newer is told after this, because whoever reads it waits. */
  private synchronized void tellLatest(
      CachedWorkload workload, Predicate<CachedWorkload> isLatest) {
    if (isLatest.test(workload)) {
      tell(workload);
    }
  }

  private synchronized void tell(CachedWorkload workload) {
    RunBound bound = runBounds.of(workload);
    RunBound last = told.put(workload.id().uid(), bound);
    if (!bound.equals(last == null ? RunBound.UNKNOWN : last)) {
      eventSink.submit(new SchedulerEvent.RunBounded(workload.id(), bound));
    }
  }
}
