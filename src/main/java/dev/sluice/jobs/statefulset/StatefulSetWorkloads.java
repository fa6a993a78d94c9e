package dev.sluice.jobs.statefulset;

import dev.sluice.jobs.WorkloadNames;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadLister;
import java.util.Optional;

/**
 * Where the Workloads of StatefulSets are found.
 *
 * @param store the Workloads
 * @param longestName how long the name of a Workload may become
 */
public record StatefulSetWorkloads(WorkloadLister store, int longestName) {

  private static final String KIND = "StatefulSet";
  private static final String GROUP = "apps";

  /**
   * The name of the Workload of a StatefulSet.
   *
   * @param uid its UID; of one that a manager sent, the UID of the manager's
   */
  public String name(String statefulSet, String uid) {
    return WorkloadNames.of(KIND, GROUP, statefulSet, uid, "", longestName);
  }

  /** The Workload of a StatefulSet, if it is there; {@code uid} as for its name. */
  public Optional<CachedWorkload> find(String namespace, String statefulSet, String uid) {
    return store.get(namespace, name(statefulSet, uid));
  }

  /** Whether a StatefulSet has a Workload that is not on hold; {@code uid} as for its name. */
  public boolean isInUse(String namespace, String statefulSet, String uid) {
    return find(namespace, statefulSet, uid).filter(workload -> !isOnHold(workload)).isPresent();
  }

  /** Whether a Workload holds nothing because there is nothing to run. */
  static boolean isOnHold(CachedWorkload workload) {
    return workload
        .status()
        .condition("QuotaReserved")
        .filter(it -> it.status().equals("False") && it.reason().equals("OnHold"))
        .isPresent();
  }
}
