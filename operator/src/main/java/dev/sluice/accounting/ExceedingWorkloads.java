package dev.sluice.accounting;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;

/**
 * Evictions of Workloads that run more than they were admitted with. The API has no reason of its
 * own for them: {@code AdmissionCheck} is the one after which a Workload queues again when a
 * back-off is over, and behind those that came meanwhile. The message and the statistics tell
 * {@link #CAUSE}.
 */
public final class ExceedingWorkloads {

  /** The cause, in the message of the condition Evicted, in statistics and in events. */
  public static final String CAUSE = "ExceedsAdmission";

  /** The reason of the condition Evicted. */
  public static final String REASON = "AdmissionCheck";

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(10);
  private static final int MOST_DOUBLINGS = 8;

  private ExceedingWorkloads() {}

  /** Whether a Workload is evicted that ran more than it was admitted with. */
  public static boolean isEvicted(CachedWorkload workload) {
    return times(workload) > 0
        && workload
            .status()
            .trueCondition("Evicted")
            .map(Condition::reason)
            .filter(REASON::equals)
            .isPresent();
  }

  /** How often a Workload was evicted for that, as its statistics say. */
  private static int times(CachedWorkload workload) {
    return workload.status().history().evictions().stream()
        .filter(count -> count.underlyingCause().equals(CAUSE))
        .mapToInt(EvictionCount::count)
        .sum();
  }

  /** The message of the condition and of the events. */
  public static String message(String excess) {
    return CAUSE + ": its pods are more than it was admitted with, " + excess;
  }

  /** The status patch of an eviction; the Workload queues again after a pause that doubles. */
  public static ObjectNode evicted(CachedWorkload workload, String excess, Instant now) {
    StatusPatch patch = StatusPatch.of(workload, now);
    Evictions.evict(patch, workload, now, REASON, CAUSE, message(excess));
    Instant until = now.plus(pause(workload));
    patch
        .fields()
        .putObject("requeueState")
        .put("requeueAt", Instant.ofEpochSecond(until.getEpochSecond() + 1).toString());
    return patch.build();
  }

  private static Duration pause(CachedWorkload workload) {
    return FIRST_PAUSE.multipliedBy(1L << Math.clamp(times(workload), 0, MOST_DOUBLINGS));
  }
}
