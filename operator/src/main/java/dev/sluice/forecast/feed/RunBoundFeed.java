package dev.sluice.forecast.feed;

import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
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
  private final Map<String, RunBound> told = new ConcurrentHashMap<>();

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
      told.remove(before.id().uid());
    }
  }

  /**
   * Tells of all Workloads, after the first queue began to plan by bounds, or something is kept.
   */
  public void tellAll(Iterable<CachedWorkload> workloads) {
    for (CachedWorkload workload : workloads) {
      if (!workload.finished()) {
        tell(workload);
      }
    }
  }

  private void tell(CachedWorkload workload) {
    RunBound bound = runBounds.of(workload);
    RunBound last = told.put(workload.id().uid(), bound);
    if (!bound.equals(last == null ? RunBound.UNKNOWN : last)) {
      eventSink.submit(new SchedulerEvent.RunBounded(workload.id(), bound));
    }
  }
}
