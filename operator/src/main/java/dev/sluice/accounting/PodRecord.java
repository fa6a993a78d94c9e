package dev.sluice.accounting;

import dev.sluice.workload.record.CachedWorkload.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What is kept of a pod that has not ended. Values that pods of one job have in common are shared.
 *
 * @param uid the UID
 * @param namespace the namespace
 * @param name the name
 * @param node the node that the pod is bound to; empty while it is bound to none
 * @param amounts what it requests
 * @param owners its controllers: as a rule one, or none; those that it named earlier, too; behind a
 *     controller that is a pod the job that it is believed to be a part of
 * @param eligibility whether it may run, and what held it
 * @param deletion its deletion, if it is being deleted
 */
public record PodRecord(
    UUID uid,
    String namespace,
    String name,
    String node,
    Amounts amounts,
    List<Owner> owners,
    PodEligibility eligibility,
    Optional<Deletion> deletion) {

  /**
   * What a pod requests, by resource: in thousandths for cpu, in whole units otherwise.
   *
   * @param requested as it is written, as nodes count it, without the pod itself
   * @param counted as quota counts it, without devices of resource claims
   * @param claims the names of its ResourceClaims as far as they exist
   */
  public record Amounts(
      SortedMap<String, Long> requested, SortedMap<String, Long> counted, List<String> claims) {}

  /**
   * Whether a pod may run.
   *
   * @param gated whether a scheduling gate keeps it from any node
   * @param held whether it was to be held for a queue: it has, or had, the gate or the label of a
   *     managed pod
   * @param graceSeconds the grace period of its spec
   * @param leftBy the UID of the Job that left it behind, as its labels say: it has no controller,
   *     and has the label of a pod that a Workload started
   */
  public record PodEligibility(
      boolean gated, boolean held, long graceSeconds, Optional<String> leftBy) {}

  /**
   * The deletion of a pod.
   *
   * @param due the end of its grace period
   * @param graceSeconds the grace period of the deletion
   */
  public record Deletion(Instant due, long graceSeconds) {}

  /**
   * Whether the pod runs, or may be bound to a node at any moment. The API server binds none that
   * is being deleted, however long somebody's finalizer keeps it.
   */
  public boolean runs() {
    return !eligibility.gated() && (deletion.isEmpty() || !node.isEmpty());
  }

  /**
   * Whether the pod runs although it was to be held for a queue, unless what made it has let it go:
   * of those that make pods only a ReplicaSet never does.
   */
  boolean isStray() {
    return runs()
        && eligibility.held()
        && owners.stream().allMatch(owner -> owner.kind().equals("ReplicaSet"));
  }

  /** Whether nothing but its labels says whose it is. */
  boolean isOnlyLabelled() {
    return owners.isEmpty() && eligibility.leftBy().isPresent();
  }

  /** The UIDs of what controls it, or did so. */
  List<String> parents() {
    return Stream.concat(owners.stream().map(Owner::uid), eligibility.leftBy().stream())
        .distinct()
        .toList();
  }

  /**
   * Of all owners that a pod or an object had so many are remembered: the first ones, since what
   * makes it is the first, and the last one. Who may change it may give it another one any number
   * of times.
   */
  static final int MOST_OWNERS = 16;

  /** This version of the pod, with what an earlier one said of owners and queues. */
  PodRecord after(PodRecord earlier) {
    boolean held = eligibility.held() || earlier.eligibility.held();
    Optional<String> leftBy = eligibility.leftBy().or(earlier.eligibility::leftBy);
    if (owners.containsAll(earlier.owners)
        && held == eligibility.held()
        && leftBy.equals(eligibility.leftBy())) {
      return this;
    }
    List<Owner> added = owners.stream().filter(owner -> !earlier.owners.contains(owner)).toList();
    List<Owner> all = new ArrayList<>(earlier.owners);
    while (all.size() + added.size() > MOST_OWNERS) {
      all.removeLast();
    }
    all.addAll(added);
    return new PodRecord(
        uid,
        namespace,
        name,
        node,
        amounts,
        List.copyOf(all),
        new PodEligibility(eligibility.gated(), held, eligibility.graceSeconds(), leftBy),
        deletion);
  }
}
