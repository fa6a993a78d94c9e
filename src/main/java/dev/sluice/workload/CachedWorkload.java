package dev.sluice.workload;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What is kept in memory of a Workload object: what someone decides by or writes back, no more.
 *
 * @param id which
 * @param version its resourceVersion as a number
 * @param generation its generation
 * @param createdAt when it was created
 * @param deleting whether it has a deletion timestamp
 * @param finalizers its finalizers
 * @param owned whether anything at all owns it, as controller or not
 * @param owner its controller, if it has one
 * @param coOwners those that own it without controlling it
 * @param labels its labels under the project's API group
 * @param annotations its annotations under the project's API group
 * @param spec what is asked for
 * @param status what became of it
 */
public record CachedWorkload(
    WorkloadId id,
    long version,
    long generation,
    Instant createdAt,
    boolean deleting,
    List<String> finalizers,
    boolean owned,
    Optional<Owner> owner,
    List<Owner> coOwners,
    Map<String, String> labels,
    Map<String, String> annotations,
    Spec spec,
    Status status) {

  /** Of one that nobody owns without controlling it. */
  public CachedWorkload(
      WorkloadId id,
      long version,
      long generation,
      Instant createdAt,
      boolean deleting,
      List<String> finalizers,
      boolean owned,
      Optional<Owner> owner,
      Map<String, String> labels,
      Map<String, String> annotations,
      Spec spec,
      Status status) {
    this(
        id,
        version,
        generation,
        createdAt,
        deleting,
        finalizers,
        owned,
        owner,
        List.of(),
        labels,
        annotations,
        spec,
        status);
  }

  /** An object that owns a Workload. */
  public record Owner(String apiVersion, String kind, String name, String uid) {}

  /**
   * What is asked for.
   *
   * @param queueName its LocalQueue; empty when it has none
   * @param podSets its pod sets, in order
   * @param priority its base priority; 0 when absent
   * @param priorityClass where the priority came from
   * @param active whether it may run at all
   * @param maximumExecutionTimeSeconds its time limit; 0 when it has none
   * @param preemptionGates names of the gates that have to be open before it may preempt
   */
  public record Spec(
      String queueName,
      List<PodSet> podSets,
      int priority,
      Optional<PriorityClassRef> priorityClass,
      boolean active,
      int maximumExecutionTimeSeconds,
      List<String> preemptionGates) {

    /** Of one without gates. */
    public Spec(
        String queueName,
        List<PodSet> podSets,
        int priority,
        Optional<PriorityClassRef> priorityClass,
        boolean active,
        int maximumExecutionTimeSeconds) {
      this(
          queueName,
          podSets,
          priority,
          priorityClass,
          active,
          maximumExecutionTimeSeconds,
          List.of());
    }
  }

  /**
   * A pod set. Templates alike share one.
   *
   * @param minCount the least number of pods it can start with; 0 when it must be all
   * @param group the pod-set group it asks for; empty when none
   * @param topologyRequested whether it asks for a topology
   */
  public record PodSet(
      String name,
      int count,
      int minCount,
      PodTemplate template,
      String group,
      boolean topologyRequested) {}

  /** Where a priority came from: group, kind and name of a class. */
  public record PriorityClassRef(String group, String kind, String name) {}

  /**
   * What became of it.
   *
   * @param conditions its conditions, in the order of the object
   * @param admission what it was given, if it holds quota
   * @param admissionChecks the state of its admission checks
   * @param reclaimablePods pods that no longer need quota, by pod set
   * @param requeueState back-off after evictions
   * @param history what earlier admissions left behind
   * @param requestsTold whether {@code resourceRequests} is written, as it is while it waits
   * @param elsewhere which other clusters have to do with it
   * @param gates how its preemption gates stand, as far as that is written
   */
  public record Status(
      List<Condition> conditions,
      Optional<Admission> admission,
      List<CheckState> admissionChecks,
      Map<String, Integer> reclaimablePods,
      Optional<RequeueState> requeueState,
      History history,
      boolean requestsTold,
      RemotePlacement remotePlacement,
      List<Gate> gates) {

    /** Of a Workload without gates that no other cluster has to do with. */
    public Status(
        List<Condition> conditions,
        Optional<Admission> admission,
        List<CheckState> admissionChecks,
        Map<String, Integer> reclaimablePods,
        Optional<RequeueState> requeueState,
        History history,
        boolean requestsTold) {
      this(
          conditions,
          admission,
          admissionChecks,
          reclaimablePods,
          requeueState,
          history,
          requestsTold,
          RemotePlacement.NOWHERE,
          List.of());
    }

    /** Of a Workload that nothing happened to yet. */
    public static final Status NEW =
        new Status(
            List.of(),
            Optional.empty(),
            List.of(),
            Map.of(),
            Optional.empty(),
            History.NONE,
            false);

    /** The condition of the given type, if present. */
    public Optional<Condition> condition(String type) {
      for (Condition condition : conditions) {
        if (condition.type().equals(type)) {
          return Optional.of(condition);
        }
      }
      return Optional.empty();
    }

    /** Whether the condition of the given type is True. */
    public boolean isTrue(String type) {
      return condition(type).filter(condition -> condition.status().equals("True")).isPresent();
    }
  }

  /** How a preemption gate stands, and since when. */
  public record Gate(String name, boolean open, Instant lastTransitionTime) {}

  /**
   * Which other clusters have to do with it.
   *
   * @param cluster the worker cluster that it runs in; empty when it runs in none
   * @param nominated the worker clusters that it is offered to
   */
  public record RemotePlacement(String cluster, List<String> nominated) {

    /** None. */
    public static final RemotePlacement NOWHERE = new RemotePlacement("", List.of());
  }

  /** A condition of the API; {@code status} is True, False or Unknown. */
  public record Condition(
      String type,
      String status,
      String reason,
      String message,
      Instant lastTransitionTime,
      long observedGeneration) {}

  /** The ClusterQueue whose quota it holds, and what each pod set was assigned. */
  public record Admission(String clusterQueue, List<Assignment> podSetAssignments) {}

  /** What a pod set was assigned: flavors by resource, quantities as written, count. */
  public record Assignment(
      String name, Map<String, String> flavors, Map<String, String> resourceUsage, int count) {}

  /**
   * The state of one admission check.
   *
   * @param state Pending, Ready, Retry or Rejected
   * @param requeueAfterSeconds back-off that it asks for; -1 when absent
   * @param retryCount how often it was retried; -1 when absent
   * @param podSetUpdates what it adds to pods when the job starts
   */
  public record CheckState(
      String name,
      String state,
      String message,
      Instant lastTransitionTime,
      int requeueAfterSeconds,
      int retryCount,
      List<PodSetUpdate> podSetUpdates) {

    /** Nobody knows yet. */
    public static final String PENDING = "Pending";

    /** It says yes. */
    public static final String READY = "Ready";

    /** It says no for now: the quota goes back, and it is tried again. */
    public static final String RETRY = "Retry";

    /** It says no for good. */
    public static final String REJECTED = "Rejected";

    /** Whether it is in this state. */
    public boolean is(String wanted) {
      return state.equals(wanted);
    }
  }

  /** What a check adds to the pods of a pod set. */
  public record PodSetUpdate(
      String name,
      Map<String, String> labels,
      Map<String, String> annotations,
      Map<String, String> nodeSelector,
      List<PodToleration> tolerations) {}

  /** A toleration for pods; absent fields are empty. */
  public record PodToleration(
      String key, String operator, String value, String effect, OptionalLong seconds) {}

  /** Back-off after evictions: how many, and until when. */
  public record RequeueState(int count, Optional<Instant> requeueAt) {}

  /**
   * What earlier admissions left behind.
   *
   * @param executionSeconds how long it was admitted before
   * @param evictions how often it was sent back, by reason
   */
  public record History(int executionSeconds, List<EvictionCount> evictions) {

    /** Never admitted. */
    public static final History NONE = new History(0, List.of());
  }

  /** How often it was sent back for a reason; {@code underlyingCause} may be empty. */
  public record EvictionCount(String reason, String underlyingCause, int count) {}

  /** Whether it carries the finalizer that keeps it until its job has stopped. */
  public boolean finalized() {
    return finalizers.contains(KueueConstants.RESOURCE_IN_USE);
  }

  /** Whether it has finished. */
  public boolean finished() {
    return status.isTrue("Finished");
  }

  /** Whether it holds quota. */
  public boolean quotaReserved() {
    return status.isTrue("QuotaReserved");
  }

  /** Whether it is admitted. */
  public boolean admitted() {
    return status.isTrue("Admitted");
  }

  /** The preemption gates that are not open. */
  public List<String> closedGates() {
    return spec.preemptionGates().isEmpty()
        ? List.of()
        : spec.preemptionGates().stream()
            .filter(
                name ->
                    status.gates().stream()
                        .noneMatch(gate -> gate.open() && gate.name().equals(name)))
            .toList();
  }

  /** Whether it was sent back and still has to stop. */
  public boolean evicted() {
    return status.isTrue("Evicted");
  }
}
