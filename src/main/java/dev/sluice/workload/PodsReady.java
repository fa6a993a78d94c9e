package dev.sluice.workload;

import dev.sluice.workload.CachedWorkload.Condition;

/**
 * The condition PodsReady: whether the pods of an admitted Workload are all there
 * (docs/workload-semantics.md#reconciliation-of-jobs). It exists only where somebody waits for
 * that.
 */
public final class PodsReady {

  /** The type of the condition. */
  public static final String TYPE = "PodsReady";

  /** False: they never were since admission. */
  public static final String WAIT_FOR_START = "WaitForStart";

  /** False: they were, and are not any more. */
  public static final String WAIT_FOR_RECOVERY = "WaitForRecovery";

  /** True: they are, for the first time since admission. */
  public static final String STARTED = "Started";

  /** True: they are again. */
  public static final String RECOVERED = "Recovered";

  /** Why a Workload is sent back whose pods took too long. */
  public static final String TIMEOUT = "PodsReadyTimeout";

  private PodsReady() {}

  /** Of a Workload that is admitted just now, or is not admitted. */
  public static StatusPatch initial(StatusPatch patch) {
    return patch.condition(
        TYPE, false, WAIT_FOR_START, "Not all pods have been ready or succeeded yet");
  }

  /** Of an admitted Workload, as its job says now. */
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
          again ? "All pods are ready or succeeded again" : "All pods are ready or succeeded");
    }
    return wasReady || reason.equals(WAIT_FOR_RECOVERY)
        ? patch.condition(
            TYPE, false, WAIT_FOR_RECOVERY, "Not all pods are ready or succeeded any more")
        : initial(patch);
  }
}
