package dev.sluice.checks.multikueue.quota;

import dev.sluice.checks.multikueue.capacity.NominalQuota;

/** How a worker stands when quota is summed up. */
public sealed interface Worker {

  /** It is connected, and has this much. */
  record Connected(NominalQuota quota) implements Worker {}

  /** It isn't connected, or doesn't exist. */
  record Away() implements Worker {}

  /** Nobody knows yet. */
  record Unknown() implements Worker {}
}
