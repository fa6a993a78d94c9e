package dev.sluice.checks.multikueue.quota;

import dev.sluice.checks.multikueue.capacity.NominalQuota;

/** How a worker stands when quota is summed up. */
public sealed interface WorkerQuotaState {

  /** It is connected, and has this much. */
  record Connected(NominalQuota quota) implements WorkerQuotaState {}

  /** It isn't connected, or doesn't exist. */
  record Away() implements WorkerQuotaState {}

  /** Nobody knows yet. */
  record Unknown() implements WorkerQuotaState {}
}
