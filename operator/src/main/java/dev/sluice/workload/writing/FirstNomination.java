package dev.sluice.workload.writing;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.util.List;
import java.util.Optional;

/**
 * Worker clusters that a Workload is nominated for, or bound to, in the write that reserves its
 * quota, so that no second write is needed for it. Called by any thread.
 */
@FunctionalInterface
public interface FirstNomination {

  /**
   * The worker clusters of a Workload.
   *
   * @param bound the cluster that it is bound to before any worker has admitted it: the replacement
   *     of a slice of an elastic job stays where the job runs
   * @param nominated the clusters that are asked; empty if they are nominated later, or never, and
   *     if the Workload is bound to one
   */
  record Clusters(Optional<String> bound, List<String> nominated) {

    /** No cluster. */
    public static final Clusters NONE = new Clusters(Optional.empty(), List.of());

    /** Copies the list. */
    public Clusters {
      nominated = List.copyOf(nominated);
    }
  }

  /** Nominates none. */
  FirstNomination NONE = (workload, checks) -> Clusters.NONE;

  /**
   * The worker clusters of a Workload with admission checks.
   *
   * @param checks the states of the admission checks after the write
   */
  Clusters of(CachedWorkload workload, List<CheckState> checks);
}
