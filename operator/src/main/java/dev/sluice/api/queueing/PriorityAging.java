package dev.sluice.api.queueing;

import java.time.Duration;
import java.time.Instant;

/**
 * How the priority of a Workload grows while it waits (docs/queueing-policies.md#ageing): in steps,
 * so that Workloads of the same age have the same priority.
 *
 * @param interval after which a Workload has one step more, above 0
 * @param step what is added to its priority each time, at least 1
 * @param limit the most that is added, at least the step
 */
public record PriorityAging(Duration interval, int step, int limit) {

  /** What a Workload has that has waited for this long; 0 before the first step. */
  public int boost(Duration waited) {
    return (int) Math.min(limit, Math.min(steps(waited), limit) * step);
  }

  /** When a Workload that waits since {@code begin} has the next step. */
  public Instant next(Instant begin, Instant now) {
    return begin.plus(interval.multipliedBy(steps(Duration.between(begin, now)) + 1));
  }

  private long steps(Duration waited) {
    return Math.max(0, waited.dividedBy(interval));
  }
}
