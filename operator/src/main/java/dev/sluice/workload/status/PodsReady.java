package dev.sluice.workload.status;

import dev.sluice.workload.record.CachedWorkload.Condition;

/**
 * The condition PodsReady: whether all pods of an admitted Workload are ready
 * (docs/workload-semantics.md#reconciliation-of-jobs). It exists only if waiting for pods is
 * enabled.
 */
public final class PodsReady {

  /** The type of the condition. */
  public static final String TYPE = "PodsReady";

  /** Reason with status False: the pods have not been ready since admission. */
  public static final String WAIT_FOR_START = "WaitForStart";

  /** Reason with status False: the pods were ready and are not any more. */
  public static final String WAIT_FOR_RECOVERY = "WaitForRecovery";

  /** Cause of an eviction: pods of the Workload got no node in the time that they have for that. */
  public static final String WAIT_FOR_SCHEDULING = "WorkloadWaitForScheduling";

  /** Reason with status True: the pods are ready for the first time since admission. */
  public static final String STARTED = "Started";

  /** Reason with status True: the pods are ready again. */
  public static final String RECOVERED = "Recovered";

  /** The reason of an eviction after the timeout for ready pods. */
  public static final String TIMEOUT = "PodsReadyTimeout";

  private PodsReady() {}

  /**
   * Whether a condition says no more than that its Workload isn't admitted: people who ask why it
   * waits aren't told of pods that nobody has started.
   *
   * @param admitted whether the Workload is
   */
  public static boolean saysNothing(String type, String reason, boolean admitted) {
    return type.equals(TYPE) && reason.equals(WAIT_FOR_START) && !admitted;
  }

  /** Whether a condition says that the pods are ready for the first time since admission. */
  public static boolean isStarted(Condition condition) {
    return condition.status().equals("True") && condition.reason().equals(STARTED);
  }

  /** Whether a condition says that the pods have not been ready since admission. */
  public static boolean isStarting(Condition condition) {
    return condition.status().equals("False") && condition.reason().equals(WAIT_FOR_START);
  }

  /** The condition of a Workload that is just admitted, or not admitted. */
  public static StatusPatch initial(StatusPatch patch) {
    return patch.condition(
        TYPE, false, WAIT_FOR_START, "Not all pods have been ready or succeeded yet");
  }

  /** The condition of an admitted Workload, from the state of its job. */
  public static StatusPatch synced(StatusPatch patch, boolean ready) {
    String reason = patch.current(TYPE).map(Condition::reason).orElse(WAIT_FOR_START);
    boolean wasReady =
        patch.current(TYPE).filter(condition -> condition.status().equals("True")).isPresent();
    if (ready) {
      boolean again = reason.equals(WAIT_FOR_RECOVERY) || reason.equals(RECOVERED);
      return patch.condition(
          TYPE,
          true,
          again ? RECOVERED : STARTED,
          "All pods reached readiness and the workload is running");
    }
    return wasReady || reason.equals(WAIT_FOR_RECOVERY)
        ? patch.condition(
            TYPE, false, WAIT_FOR_RECOVERY, "Not all pods are ready or succeeded any more")
        : initial(patch);
  }
}
