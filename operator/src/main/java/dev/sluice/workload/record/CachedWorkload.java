package dev.sluice.workload.record;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The cached part of a Workload object: only the fields that decisions and writes need.
 *
 * @param id identity of the Workload
 * @param version the resourceVersion as a number
 * @param generation the generation
 * @param createdAt the time of creation
 * @param deleting whether the object has a deletion timestamp
 * @param finalizers the finalizers
 * @param owned whether the object has any owner reference, controlling or not
 * @param owner the controlling owner, if there is one
 * @param coOwners the owners that are not the controller
 * @param labels the labels under the project's API group; all while PreemptionConfigs are turned on
 * @param annotations the annotations under the project's API group
 * @param spec the spec
 * @param status the status
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

  /** A Workload without owners that are not the controller. */
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

  /** An owner of a Workload. */
  public record Owner(String apiVersion, String kind, String name, String uid) {

    /** Whether the owner is a Pod, of whatever version. */
    public boolean isPod() {
      return kind.equals("Pod") && apiVersion.indexOf('/') < 0;
    }
  }

  /** The owner that controls the Workload, if there is one, and then the others. */
  public Stream<Owner> owners() {
    return Stream.concat(owner.stream(), coOwners.stream());
  }

  /**
   * The spec.
   *
   * @param queueName name of the LocalQueue; empty without queue
   * @param podSets the pod sets, in order
   * @param priority the base priority; 0 when absent
   * @param priorityClass the class that the priority comes from
   * @param active whether the Workload may be admitted
   * @param maximumExecutionTimeSeconds the time limit; 0 without limit
   * @param preemptionGates names of the gates that must be open before the Workload may preempt
   */
  public record Spec(
      String queueName,
      List<PodSet> podSets,
      int priority,
      Optional<PriorityClassRef> priorityClass,
      boolean active,
      int maximumExecutionTimeSeconds,
      List<String> preemptionGates) {

    /** A spec without preemption gates. */
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
   * A pod set. Equal templates share one instance.
   *
   * @param minCount the fewest pods that the pod set can start with; empty without partial
   *     admission
   * @param group the pod-set group; empty without group
   * @param topologyRequest the request for a topology, as far as the spec contains one
   * @param topologySpreading the annotation of the template that says how groups of pods are spread
   *     over domains; empty without
   */
  public record PodSet(
      String name,
      int count,
      OptionalInt minCount,
      PodTemplate template,
      String group,
      Optional<RankedTopologyRequest> topologyRequest,
      String topologySpreading) {

    /** A pod set of which nobody says how groups are spread. */
    public PodSet(
        String name,
        int count,
        OptionalInt minCount,
        PodTemplate template,
        String group,
        Optional<RankedTopologyRequest> topologyRequest) {
      this(name, count, minCount, template, group, topologyRequest, "");
    }

    /** The same pod set with another number of pods. */
    public PodSet withCount(int pods) {
      return new PodSet(name, pods, minCount, template, group, topologyRequest, topologySpreading);
    }

    /** The request; that of no topology where the spec contains none. */
    public TopologyRequest topology() {
      return topologyRequest.map(RankedTopologyRequest::request).orElse(TopologyRequest.NONE);
    }
  }

  /**
   * The topology request of a pod set; labels are empty, and the number is 0, where absent.
   *
   * @param request the request
   * @param podIndexLabel the label with the index of a pod
   * @param subGroupIndexLabel the label with the index of a pod's subgroup
   * @param subGroupCount the number of subgroups
   */
  public record RankedTopologyRequest(
      TopologyRequest request,
      String podIndexLabel,
      String subGroupIndexLabel,
      int subGroupCount) {}

  /** The class that a priority comes from: group, kind and name. */
  public record PriorityClassRef(String group, String kind, String name) {}

  /**
   * The status.
   *
   * @param conditions the conditions, in the order of the object
   * @param admission the admission, if quota is reserved
   * @param admissionChecks the state of its admission checks
   * @param reclaimablePods pods that no longer need quota, by pod set
   * @param requeueState the requeue backoff after evictions
   * @param history statistics of earlier admissions
   * @param requestsWritten whether {@code resourceRequests} is written, as it is while the Workload
   *     is pending
   * @param remotePlacement the worker clusters of the Workload
   * @param gates the states of the preemption gates that the status contains
   * @param unhealthyNodes the nodes of the assignment that can't run its pods any more
   */
  public record Status(
      List<Condition> conditions,
      Optional<Admission> admission,
      List<CheckState> admissionChecks,
      Map<String, Integer> reclaimablePods,
      Optional<RequeueState> requeueState,
      History history,
      boolean requestsWritten,
      RemotePlacement remotePlacement,
      List<Gate> gates,
      List<String> unhealthyNodes) {

    /** A status without unhealthy nodes. */
    public Status(
        List<Condition> conditions,
        Optional<Admission> admission,
        List<CheckState> admissionChecks,
        Map<String, Integer> reclaimablePods,
        Optional<RequeueState> requeueState,
        History history,
        boolean requestsWritten,
        RemotePlacement remotePlacement,
        List<Gate> gates) {
      this(
          conditions,
          admission,
          admissionChecks,
          reclaimablePods,
          requeueState,
          history,
          requestsWritten,
          remotePlacement,
          gates,
          List.of());
    }

    /** A status without preemption gates and worker clusters. */
    public Status(
        List<Condition> conditions,
        Optional<Admission> admission,
        List<CheckState> admissionChecks,
        Map<String, Integer> reclaimablePods,
        Optional<RequeueState> requeueState,
        History history,
        boolean requestsWritten) {
      this(
          conditions,
          admission,
          admissionChecks,
          reclaimablePods,
          requeueState,
          history,
          requestsWritten,
          RemotePlacement.NOWHERE,
          List.of());
    }

    /** The status of a new Workload. */
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

    /** The condition of the given type, if it is True. */
    public Optional<Condition> trueCondition(String type) {
      return condition(type).filter(condition -> condition.status().equals("True"));
    }

    /** Whether the condition of the given type is True. */
    public boolean isTrue(String type) {
      return trueCondition(type).isPresent();
    }
  }

  /** The state of a preemption gate, and the time of its last change. */
  public record Gate(String name, boolean open, Instant lastTransitionTime) {}

  /**
   * The worker clusters of a Workload.
   *
   * @param cluster the worker cluster that the Workload runs in; empty if it runs in none
   * @param nominated the worker clusters that the Workload is dispatched to
   */
  public record RemotePlacement(String cluster, List<String> nominated) {

    /** No worker clusters. */
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

  /** The ClusterQueue whose quota is reserved, and the assignment of each pod set. */
  public record Admission(String clusterQueue, List<Assignment> podSetAssignments) {}

  /**
   * The assignment of a pod set.
   *
   * @param flavors the flavors by resource
   * @param resourceUsage the quantities, as written
   * @param count the number of pods
   * @param topology the domains that the pods run in, if the pod set is placed by a topology
   * @param delayedTopology Pending or Ready if the domains are found later than the quota; else
   *     empty
   */
  public record Assignment(
      String name,
      Map<String, String> flavors,
      Map<String, String> resourceUsage,
      int count,
      Optional<TopologyAssignment> topology,
      String delayedTopology) {

    /** The assignment of a pod set that is not placed by a topology. */
    public Assignment(
        String name, Map<String, String> flavors, Map<String, String> resourceUsage, int count) {
      this(name, flavors, resourceUsage, count, Optional.empty(), "");
    }

    /** The same assignment with another number of pods. */
    public Assignment withCount(int pods) {
      return new Assignment(name, flavors, resourceUsage, pods, topology, delayedTopology);
    }
  }

  /**
   * The state of one admission check.
   *
   * @param state Pending, Ready, Retry or Rejected
   * @param requeueAfterSeconds the backoff that the check requests; -1 when absent
   * @param retryCount the number of retries; -1 when absent
   * @param podSetUpdates additions to the pods at the start of the job
   */
  public record CheckState(
      String name,
      String state,
      String message,
      Instant lastTransitionTime,
      int requeueAfterSeconds,
      int retryCount,
      List<PodSetUpdate> podSetUpdates) {

    /** The check is pending. */
    public static final String PENDING = "Pending";

    /** The check has passed. */
    public static final String READY = "Ready";

    /** The check requests a retry: the quota is released, and the Workload is requeued. */
    public static final String RETRY = "Retry";

    /** The check has rejected the Workload. */
    public static final String REJECTED = "Rejected";

    /** Whether the check is in this state. */
    public boolean is(String wanted) {
      return state.equals(wanted);
    }
  }

  /** Additions of a check to the pods of a pod set. */
  public record PodSetUpdate(
      String name,
      Map<String, String> labels,
      Map<String, String> annotations,
      Map<String, String> nodeSelector,
      List<PodToleration> tolerations) {}

  /** A toleration for pods; absent fields are empty. */
  public record PodToleration(
      String key, String operator, String value, String effect, OptionalLong seconds) {}

  /** Requeue backoff after evictions: the number of requeues, and the end of the backoff. */
  public record RequeueState(int count, Optional<Instant> requeueAt) {}

  /**
   * Statistics of earlier admissions.
   *
   * @param executionSeconds the total time of earlier admissions
   * @param evictions the number of evictions, by reason
   */
  public record History(int executionSeconds, List<EvictionCount> evictions) {

    /** The statistics of a Workload that was never admitted. */
    public static final History NONE = new History(0, List.of());
  }

  /** The number of evictions for a reason; {@code underlyingCause} may be empty. */
  public record EvictionCount(String reason, String underlyingCause, int count) {}

  /** Whether the Workload has the finalizer that protects it until its job has stopped. */
  public boolean finalized() {
    return finalizers.contains(KueueConstants.RESOURCE_IN_USE);
  }

  /** Whether the Workload has finished. */
  public boolean finished() {
    return status.isTrue("Finished");
  }

  /** Whether quota is reserved. */
  public boolean quotaReserved() {
    return status.isTrue("QuotaReserved");
  }

  /** Whether the Workload is admitted. */
  public boolean admitted() {
    return status.isTrue("Admitted");
  }

  /** When the Workload was created or last requeued, from which its waits are measured. */
  public Instant queuedSince() {
    return status.trueCondition("Requeued").map(Condition::lastTransitionTime).orElse(createdAt);
  }

  /**
   * How long it ran in all of its admissions.
   *
   * @param until the end of the present admission, or now
   */
  public Duration executed(Instant until) {
    Duration before = Duration.ofSeconds(status.history().executionSeconds());
    return status
        .trueCondition("Admitted")
        .map(admitted -> Duration.between(admitted.lastTransitionTime(), until))
        .filter(present -> !present.isNegative())
        .map(before::plus)
        .orElse(before);
  }

  /** Whether the Workload is a slice of an elastic job. */
  public boolean elastic() {
    return "true".equals(annotations.get(KueueConstants.ELASTIC_JOB));
  }

  /**
   * Name of the slice that the Workload replaces, in its own namespace; empty if it replaces none.
   */
  public String replacedSlice() {
    String replaced = annotations.getOrDefault(KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR, "");
    String namespace = id.namespace() + "/";
    return replaced.startsWith(namespace) ? replaced.substring(namespace.length()) : "";
  }

  /** Name of the first slice of the elastic job; its own name without annotation. */
  public String sliceName() {
    return annotations.getOrDefault(KueueConstants.WORKLOAD_SLICE_NAME, id.name());
  }

  /** The closed preemption gates. */
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

  /** The assignments of its pod sets; empty without quota. */
  public List<Assignment> assignments() {
    return status.admission().map(Admission::podSetAssignments).orElse(List.of());
  }

  /** The same Workload, admitted with these assignments in the same ClusterQueue. */
  public CachedWorkload withAssignments(List<Assignment> assignments) {
    return with(
        new Status(
            status.conditions(),
            status.admission().map(had -> new Admission(had.clusterQueue(), assignments)),
            status.admissionChecks(),
            status.reclaimablePods(),
            status.requeueState(),
            status.history(),
            status.requestsWritten(),
            status.remotePlacement(),
            status.gates(),
            status.unhealthyNodes()));
  }

  /** The same Workload with another status. */
  public CachedWorkload with(Status other) {
    return new CachedWorkload(
        id,
        version,
        generation,
        createdAt,
        deleting,
        finalizers,
        owned,
        owner,
        coOwners,
        labels,
        annotations,
        spec,
        other);
  }

  /** Whether the Workload is evicted and its job has not stopped yet. */
  public boolean evicted() {
    return status.isTrue("Evicted");
  }
}
