package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Writes a preemption to the status of its target, and describes it. */
public final class Preemptions {

  /** The reason of the condition Evicted of preempted Workloads. */
  public static final String PREEMPTED = "Preempted";

  private Preemptions() {}

  /** The condition that remembers when a Workload was preempted, for a rule that limits that. */
  public static final String TIMES = "sluice.dev/PreemptedAt";

  /** How many times are remembered at most. */
  private static final int MOST_TIMES = 100;

  private static final int LONGEST = 40 * MOST_TIMES;

  /** The last time that the API server accepts. */
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  /** How much later than the last transition of a condition a remembered time may be. */
  private static final Duration CLOCKS_APART = Duration.ofDays(1);

  /** Sets Evicted and Preempted in one write: the first phase of the target's eviction. */
  public static ObjectNode evicted(
      CachedWorkload workload, Decision.Target target, String message, Instant now) {
    StatusPatch patch = StatusPatch.of(workload, now);
    if (target.reason() == PreemptionReason.FLAVOR_MIGRATION) {
      return Evictions.evict(patch, workload, now, target.reason().apiReason(), "", message)
          .build();
    }
    Evictions.evict(patch, workload, now, PREEMPTED, "", message);
    patch.condition(PREEMPTED, true, target.reason().apiReason(), message);
    target
        .rules()
        .maxPreemptions()
        .ifPresent(
            limit -> patch.condition(TIMES, true, PREEMPTED, timesWith(workload, limit, now)));
    return patch.build();
  }

  /** The times that matter to the limit from now on, the latest of them now. */
  private static String timesWith(CachedWorkload workload, PreemptionLimit limit, Instant now) {
    List<Instant> times = new ArrayList<>(times(workload));
    times.removeIf(time -> !time.plus(limit.window()).isAfter(now));
    times.add(now.truncatedTo(ChronoUnit.SECONDS));
    return times.subList(Math.max(0, times.size() - limit.preemptions()), times.size()).stream()
        .map(Instant::toString)
        .collect(Collectors.joining(", "));
  }

  /**
   * When a Workload was preempted, as far as its status remembers that; the earliest first. What
   * can't be read is left out, and so are times before 1970 and those more than a day after the
   * last transition of any condition: the condition {@code Evicted} is written with each time.
   */
  public static List<Instant> times(CachedWorkload workload) {
    Optional<String> message =
        workload
            .status()
            .trueCondition(TIMES)
            .map(CachedWorkload.Condition::message)
            .filter(text -> text.length() <= LONGEST);
    if (message.isEmpty()) {
      return List.of();
    }
    Instant latest = lastTransition(workload).plus(CLOCKS_APART);
    List<Instant> times = new ArrayList<>();
    for (String text : message.get().split(", ", MOST_TIMES)) {
      try {
        Instant time = Instant.parse(text);
        if (!time.isBefore(Instant.EPOCH) && !time.isAfter(latest)) {
          times.add(time);
        }
      } catch (DateTimeParseException e) {
        continue; // whoever wrote this was not this program
      }
    }
    times.sort(Comparator.naturalOrder());
    return List.copyOf(times);
  }

  private static Instant lastTransition(CachedWorkload workload) {
    return workload.status().conditions().stream()
        .map(CachedWorkload.Condition::lastTransitionTime)
        .filter(LAST::isAfter)
        .max(Comparator.naturalOrder())
        .orElse(Instant.EPOCH);
  }

  /**
   * The message of a preemption: preemptor, reason and paths (docs/workload-semantics.md#events).
   *
   * @param jobUid the UID of the preemptor's job; empty when it has none
   */
  public static String message(Decision.Preempt decision, Decision.Target target, String jobUid) {
    if (target.reason() == PreemptionReason.FLAVOR_MIGRATION) {
      return "Variant " + decision.id().name() + " fits in a flavor that is preferred";
    }
    return "Preempted to accommodate a workload (UID: "
        + decision.id().uid()
        + ", JobUID: "
        + (jobUid.isEmpty() ? "UNKNOWN" : jobUid)
        + ") due to "
        + cause(target.reason())
        + "; preemptor path: "
        + path(decision.path())
        + "; preemptee path: "
        + path(target.path())
        + "; preemptor effective priority: "
        + decision.priority()
        + "; preemptee effective priority: "
        + target.priority();
  }

  private static String cause(PreemptionReason reason) {
    return switch (reason) {
      case IN_CLUSTER_QUEUE -> "prioritization in the ClusterQueue";
      case IN_COHORT_RECLAMATION -> "reclamation within the cohort";
      case IN_COHORT_FAIR_SHARING -> "Fair Sharing within the cohort";
      case IN_COHORT_RECLAIM_WHILE_BORROWING -> "reclamation within the cohort while borrowing";
      case FLAVOR_MIGRATION -> "a flavor that is preferred";
    };
  }

  private static String path(List<String> names) {
    return "/" + String.join("/", names);
  }
}
