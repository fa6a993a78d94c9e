package dev.sluice.workload.lifecycle;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.RequeueState;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Decides about an admitted Workload whose pods take too long to be ready: it is evicted with a
 * backoff, or deactivated after too many evictions (docs/scheduling-semantics.md#waiting-for-pods).
 */
final class PodsReadyPolicy {

  private static final String LIMIT_EXCEEDED = "RequeuingLimitExceeded";
  private static final int LARGEST_EXPONENT = 31;

  private final CachedWorkload workload;
  private final WaitForPodsReady rules;
  private final Instant now;

  private PodsReadyPolicy(CachedWorkload workload, WaitForPodsReady rules, Instant now) {
    this.workload = workload;
    this.rules = rules;
    this.now = now;
  }

  /** The eviction if the timeout has passed; otherwise the time at which it passes. */
  static LifecycleAction decide(
      CachedWorkload workload, Optional<WaitForPodsReady> rules, Instant now) {
    return rules
        .map(present -> new PodsReadyPolicy(workload, present, now).decide())
        .orElse(LifecycleAction.NOTHING);
  }

  private LifecycleAction decide() {
    Optional<Condition> ready = workload.status().condition(PodsReady.TYPE);
    if (ready.filter(condition -> condition.status().equals("True")).isPresent()) {
      return LifecycleAction.NOTHING;
    }
    boolean recovering =
        ready
            .filter(condition -> condition.reason().equals(PodsReady.WAIT_FOR_RECOVERY))
            .isPresent();
    Duration patience = recovering ? rules.recoveryTimeout() : rules.timeout();
    Optional<Instant> since =
        (recovering ? ready : workload.status().condition("Admitted"))
            .map(Condition::lastTransitionTime);
    if (patience.isZero() || since.isEmpty()) {
      return LifecycleAction.NOTHING;
    }
    Instant end = since.get().plus(patience);
    if (now.isBefore(end)) {
      return new LifecycleAction(Optional.empty(), Optional.of(end));
    }
    return tooLate(
        recovering ? PodsReady.WAIT_FOR_RECOVERY : PodsReady.WAIT_FOR_START,
        "Its pods were not ready within " + patience.toSeconds() + "s");
  }

  private LifecycleAction tooLate(String cause, String message) {
    int before = workload.status().requeueState().map(RequeueState::count).orElse(0);
    if (rules.backoffLimitCount().filter(limit -> before + 1 > limit).isPresent()) {
      return LifecycleAction.of(
          new PatchStatus(
              StatusPatch.of(workload, now)
                  .condition(
                      "DeactivationTarget",
                      true,
                      LIMIT_EXCEEDED,
                      "It was sent back " + before + " times already; " + message)
                  .build(),
              "to be deactivated, reason=" + LIMIT_EXCEEDED,
              List.of()));
    }
    StatusPatch patch = StatusPatch.of(workload, now);
    patch
        .fields()
        .putObject("requeueState")
        .put("count", before + 1)
        .put("requeueAt", now.plus(pause(before)).truncatedTo(ChronoUnit.SECONDS).toString());
    Evictions.evict(patch, workload, now, PodsReady.TIMEOUT, cause, message);
    return LifecycleAction.of(
        new PatchStatus(
            patch.build(),
            LifecyclePolicy.evicted(PodsReady.TIMEOUT, "") + " cause=" + cause,
            LifecyclePolicy.evictionEvent(workload, PodsReady.TIMEOUT, "", message)));
  }

  /** The backoff: doubled with each earlier eviction, up to the longest backoff. */
  private Duration pause(int before) {
    long seconds = rules.backoffBase().toSeconds() << Math.min(before, LARGEST_EXPONENT);
    return Duration.ofSeconds(Math.min(seconds, rules.backoffMax().toSeconds()));
  }
}
