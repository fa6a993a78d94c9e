package dev.sluice.checks.multikueue.capacity;

import java.util.Map;

/** The nominal quota of the ClusterQueues of a worker, as far as is known. */
public sealed interface NominalQuota {

  /**
   * All ClusterQueues were read.
   *
   * @param amounts the sum over all flavors, by resource, in internal units
   */
  record Known(Map<String, Long> amounts) implements NominalQuota {

    /** Copies the map. */
    public Known {
      amounts = Map.copyOf(amounts);
    }
  }

  /** The ClusterQueues are not read yet. */
  record NotYet() implements NominalQuota {}

  /**
   * The ClusterQueues cannot be read.
   *
   * @param why the reason
   */
  record Unreadable(String why) implements NominalQuota {}
}
