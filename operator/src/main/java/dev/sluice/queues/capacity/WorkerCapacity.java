package dev.sluice.queues.capacity;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the worker clusters of MultiKueue have, as far as their queues were read. */
public interface WorkerCapacity {

  /** The names of all worker clusters. */
  List<String> clusters();

  /** The names of the clusters of a MultiKueueConfig; empty if it doesn't exist. */
  Optional<List<String>> clustersOf(String config);

  /** What a cluster has. */
  ClusterQuota of(String cluster);

  /** The quota of a cluster. */
  sealed interface ClusterQuota {

    /**
     * All its ClusterQueues were read.
     *
     * @param byFlavor the sum of their nominal quotas, by flavor and resource, in amounts of quota
     */
    record Known(Map<String, Map<String, Long>> byFlavor) implements ClusterQuota {

      /** Copies the outer map. */
      public Known {
        byFlavor = Map.copyOf(byFlavor);
      }
    }

    /**
     * They were not.
     *
     * @param why for people
     */
    record Unknown(String why) implements ClusterQuota {}
  }
}
