package dev.sluice.checks.multikueue.quota;

import dev.sluice.checks.multikueue.capacity.NominalQuota;

/** State of a worker when quotas are summed up. */
public sealed interface WorkerQuotaState {

  /**
   * The worker is connected.
   *
   * @param quota its nominal quota
   */
  record Connected(NominalQuota quota) implements WorkerQuotaState {}

  /** The worker is not connected, or does not exist. */
  record Away() implements WorkerQuotaState {}

  /** The state is not known yet. */
  record Unknown() implements WorkerQuotaState {}
}
