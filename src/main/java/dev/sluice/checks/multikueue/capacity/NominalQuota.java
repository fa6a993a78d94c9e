package dev.sluice.checks.multikueue.capacity;

import java.util.Map;

/** The quota that a worker guarantees behind some queues, as far as is known. */
public sealed interface NominalQuota {

  /**
   * All of its queues were read.
   *
   * @param amounts the sum over all flavors, by resource, as quota is counted
   */
  record Known(Map<String, Long> amounts) implements NominalQuota {

    /** With a copy of the map. */
    public Known {
      amounts = Map.copyOf(amounts);
    }
  }

  /** Its queues aren't read yet. */
  record NotYet() implements NominalQuota {}

  /** Its queues can't be read, for this reason. */
  record Unreadable(String why) implements NominalQuota {}
}
