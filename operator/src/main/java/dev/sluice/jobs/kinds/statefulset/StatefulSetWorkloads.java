package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRange;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where the Workloads of StatefulSets are found.
 *
 * @param store the Workloads
 * @param longestName how long the name of a Workload may become
 */
public record StatefulSetWorkloads(WorkloadLister store, int longestName) {

  /**
   * The annotation of a Workload for added replicas: how many pods of the set come before its pods.
   */
  static final String FIRST_REPLICA = "sluice.dev/first-replica";

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

  /**
   * The name under which a StatefulSet has its Workload, or is to get it. Workloads of an earlier
   * form of the name, which has no UID in it, are kept; {@code uid} as for its name.
   */
  public String nameInUse(String namespace, String statefulSet, String uid) {
    String name = name(statefulSet, uid);
    String earlier = name(statefulSet, "");
    return store.get(namespace, name).isEmpty()
            && store
                .get(namespace, earlier)
                .filter(workload -> mayBelongTo(uid, workload))
                .isPresent()
        ? earlier
        : name;
  }

  /** Whether a Workload was made for a group of pods, and not for another StatefulSet. */
  private static boolean mayBelongTo(String uid, CachedWorkload workload) {
    return "true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD))
        && workload
            .owners()
            .filter(owner -> StatefulSets.KIND.is(owner.apiVersion(), owner.kind()))
            .allMatch(owner -> owner.uid().equals(uid));
  }

  /** The Workload of a StatefulSet, if it is there; {@code uid} as for its name. */
  public Optional<CachedWorkload> find(String namespace, String statefulSet, String uid) {
    return store.get(namespace, nameInUse(namespace, statefulSet, uid));
  }

  /** The name of a Workload for the pods of a StatefulSet from {@code first} on. */
  String nameFrom(CachedStatefulSet set, int first) {
    return WorkloadNames.of(
        KIND,
        GROUP,
        set.job().ref().name(),
        set.uidOfOrigin(),
        Integer.toString(first),
        longestName);
  }

  /**
   * The ranges that follow each other from the first pod on. A Workload without quota is the last
   * one: it is for all pods that the ones before it don't hold quota for.
   */
  List<ReplicaRange> ranges(CachedStatefulSet set, CachedWorkload base) {
    List<ReplicaRange> ranges = new ArrayList<>();
    ranges.add(ReplicaRange.of(0, base));
    while (true) {
      ReplicaRange last = ranges.getLast();
      boolean endless = ranges.size() > 1 && last.count() == 0;
      if (endless || !last.isReserved() || last.end() >= set.replicas()) {
        return ranges;
      }
      Optional<CachedWorkload> next =
          store
              .get(set.job().ref().namespace(), nameFrom(set, last.end()))
              .filter(workload -> isForAddedReplicas(set, workload));
      if (next.isEmpty()) {
        return ranges;
      }
      ranges.add(ReplicaRange.of(last.end(), next.get()));
    }
  }

  /** Whether a Workload was made for replicas that were added to this StatefulSet. */
  static boolean isForAddedReplicas(CachedStatefulSet set, CachedWorkload workload) {
    return workload.annotations().containsKey(FIRST_REPLICA)
        && workload.coOwners().stream()
            .anyMatch(owner -> owner.uid().equals(set.job().ref().uid()));
  }

  /** The name of the only pod set of a Workload; empty if it has several. */
  static Optional<String> podSet(CachedWorkload workload) {
    return workload.spec().podSets().size() == 1
        ? Optional.of(workload.spec().podSets().getFirst().name())
        : Optional.empty();
  }

  /** How many pods a Workload is for. */
  static int count(CachedWorkload workload) {
    return workload.spec().podSets().stream().mapToInt(CachedWorkload.PodSet::count).sum();
  }

  /** Whether a StatefulSet has a Workload that is not on hold; {@code uid} as for its name. */
  public boolean isInUse(String namespace, String statefulSet, String uid) {
    return find(namespace, statefulSet, uid)
        .filter(workload -> !WorkloadStatuses.isOnHold(workload))
        .isPresent();
  }
}
