package dev.sluice.reference;

/**
 * A violation of a rule of placement that is planted into the reference, to see whether the
 * comparison finds it.
 */
enum TopologyFlaw {
  /** The rules as they are. */
  NONE,
  /** Nodes that aren't ready count. */
  UNUSABLE_NODES_COUNT,
  /** Nodes without the labels of the flavor count. */
  LABELS_OF_THE_FLAVOR_ARE_IGNORED,
  /** Pods that nobody placed use nothing. */
  OTHER_PODS_USE_NOTHING,
  /** Pods that nobody placed are none of the pods that a node may run. */
  OTHER_PODS_ARE_NOT_COUNTED,
  /** Workloads with quota use nothing of nodes. */
  WORKLOADS_USE_NOTHING,
  /** Placed pods are none of the pods that a node may run. */
  PODS_ARE_NOT_COUNTED,
  /** What one flavor uses of a node is free for the others. */
  HOSTS_ARE_NOT_SHARED,
  /** Pod sets are placed only if they ask for it. */
  NOTHING_IS_IMPLIED,
  /** Whoever asks for no topology may get a flavor that has one. */
  TOPOLOGIES_FOR_EVERYBODY,
  /** Whoever asks for a topology may get a flavor without. */
  FLAVORS_WITHOUT_TOPOLOGY,
  /** A pod set may have two flavors with topologies. */
  TWO_TOPOLOGIES,
  /** A pod set without pods needs a flavor like any other. */
  NO_PODS_NEED_PLACES,
  /** Places that are found later are found at once. */
  NO_DELAY,
  /** Taints of nodes don't matter. */
  TAINTS_ARE_IGNORED,
  /** What the flavor tolerates doesn't matter. */
  TOLERATIONS_OF_THE_FLAVOR_ARE_IGNORED,
  /** The nodes of a domain that is no node are judged as one. */
  NODES_ARE_ONE,
  /** The node selector doesn't matter. */
  SELECTORS_ARE_IGNORED,
  /** The required node affinity doesn't matter. */
  AFFINITY_IS_IGNORED,
  /** Of domains with room for all, the first is taken. */
  FIRST_SUFFICIENT,
  /** The last of several domains is the next in order. */
  LAST_IS_NOT_THE_SMALLEST,
  /** Pods that may be anywhere fill the largest domains first. */
  LARGEST_FIRST_FOR_ALL,
  /** A required level is only preferred. */
  REQUIRED_IS_PREFERRED,
  /** A preferred level is required. */
  PREFERRED_IS_REQUIRED,
  /** Preferred pods don't look at higher levels. */
  PREFERRED_STAYS,
  /** Slices are of one pod. */
  SLICES_ARE_PODS,
  /** Inner layers don't round. */
  LAYERS_DO_NOT_ROUND,
  /** Children of several domains aren't pooled. */
  NO_POOLING,
  /** The leader is placed as if it were alone. */
  LEADERS_ARE_ALONE,
  /** The other template of a group decides where the leader may be. */
  LEADERS_ARE_LIKE_WORKERS,
  /** Earlier groups of the same Workload use nothing. */
  GROUPS_DO_NOT_COUNT,
  /** Whoever has no room on empty nodes preempts. */
  EMPTY_NODES_ARE_NOT_TRIED,
  /** Whoever has no places doesn't preempt for them. */
  NO_PREEMPTION_FOR_PLACES,
  /** Targets suffice when quota does. */
  TARGETS_FOR_QUOTA_ONLY,
  /** Places taken by earlier heads of the cycle are not looked for again. */
  NEVER_RECOMPUTED,
  /** Places are looked for again although those of earlier targets are enough. */
  EARLIER_TARGETS_STAY,
  /** Heads that wait for their targets keep no places. */
  NO_PLACES_ARE_KEPT,
  /** Heads that are admitted take no places from later ones of the cycle. */
  ADMITTED_TAKE_NO_PLACES,
  /** A slice of an elastic job is placed in whole, as if its pods didn't run. */
  SLICES_ARE_PLACED_ANEW,
  /** A slice and its replacement both use what they have in common. */
  SLICES_SHARE_NO_PLACES,
  /** Whoever asks for a level grows, too. */
  ANYBODY_GROWS,
  /** Pods are not spread evenly. */
  NOT_BALANCED,
  /** Pods are spread evenly, and the last domains get what is left. */
  EXTRAS_GO_LAST
}
