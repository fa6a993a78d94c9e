package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.Set;

/** The phases of QueueUnits, as {@code status.phase} writes them. */
final class UnitPhase {

  static final String ENQUEUED = "Enqueued";
  static final String RESERVED = "Reserved";
  static final String DEQUEUED = "Dequeued";
  static final String RUNNING = "Running";
  static final String TIMEOUT_BACKOFF = "TimeoutBackoff";
  static final String PREEMPTED = "Preempted";
  static final String SUCCEED = "Succeed";
  static final String FAILED = "Failed";

  private static final Set<String> BACKOFF = Set.of(TIMEOUT_BACKOFF, "Backoff");

  private UnitPhase() {}

  /** The phase of a unit; Enqueued if it says none. */
  static String of(JsonNode unit) {
    String phase = JsonFields.text(unit, "status", "phase");
    return phase.isEmpty() ? ENQUEUED : phase;
  }

  /** Whether the extension of the unit's kind pauses after a start that took too long. */
  static boolean isBackoff(String phase) {
    return BACKOFF.contains(phase);
  }

  /** Whether a job in this phase is told not to run. Unknown phases are those of running jobs. */
  static boolean isSuspended(String phase) {
    return phase.equals(ENQUEUED)
        || phase.equals(RESERVED)
        || phase.equals(PREEMPTED)
        || isBackoff(phase);
  }

  /** Whether the unit's job has ended. */
  static boolean isEnd(String phase) {
    return phase.equals(SUCCEED) || phase.equals(FAILED);
  }
}
