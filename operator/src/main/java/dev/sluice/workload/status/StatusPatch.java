package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Builds the merge patch of a Workload's status. A merge patch replaces lists whole, so all
 * conditions are sent, those that don't change as they were. What would change nothing is left out.
 */
public final class StatusPatch {

  /** The reason of a Workload that has no quota because its job would not run. */
  public static final String ON_HOLD = "OnHold";

  private static final int LONGEST_MESSAGE = 32768;
  private static final String ADMITTED = "Admitted";

  private final CachedWorkload workload;
  private final Instant now;
  private final Map<String, Condition> conditions = new LinkedHashMap<>();
  private final ObjectNode status = JsonNodeFactory.instance.objectNode();
  private boolean conditionsChanged;

  private StatusPatch(CachedWorkload workload, Instant now) {
    this.workload = workload;
    this.now = now.truncatedTo(ChronoUnit.SECONDS);
    for (Condition condition : workload.status().conditions()) {
      conditions.put(condition.type(), condition);
    }
  }

  /** Begins a patch of {@code workload} as it is known; transitions happen at {@code now}. */
  public static StatusPatch of(CachedWorkload workload, Instant now) {
    return new StatusPatch(workload, now);
  }

  /**
   * Sets a condition. Its transition time moves only when its status changes; nothing changes when
   * status, reason and message are what they were.
   */
  public StatusPatch condition(String type, boolean value, String reason, String message) {
    String word = value ? "True" : "False";
    String text = cut(message);
    Condition old = conditions.get(type);
    if (old != null
        && old.status().equals(word)
        && old.reason().equals(reason)
        && old.message().equals(text)) {
      return this;
    }
    boolean moves = old == null || !old.status().equals(word);
    if (moves && type.equals(ADMITTED) && !value && old != null) {
      addExecutionTime();
    }
    conditions.put(
        type,
        new Condition(
            type,
            word,
            reason,
            text,
            moves || old == null ? now : old.lastTransitionTime(),
            workload.generation()));
    conditionsChanged = true;
    return this;
  }

  private void addExecutionTime() {
    long sum = workload.executed(now).toSeconds();
    if (sum > workload.status().history().executionSeconds()) {
      putExecutionTime(status, sum);
    }
  }

  /** Sets how long a Workload ran in admissions that have ended, in a status. */
  public static void putExecutionTime(ObjectNode status, long seconds) {
    status.put("accumulatedPastExecutionTimeSeconds", (int) Math.min(Integer.MAX_VALUE, seconds));
  }

  /** Sets a condition to True as of now, even if it is True since an earlier time. */
  public StatusPatch renewed(String type, String reason, String message) {
    return without(type).condition(type, true, reason, message);
  }

  /** Sets a condition to False with {@code reason}, its old message kept, if it is True now. */
  public StatusPatch reset(String type, String reason) {
    Condition old = conditions.get(type);
    return old != null && old.status().equals("True")
        ? condition(type, false, reason, "Previously: " + old.message())
        : this;
  }

  /** Removes a condition. */
  public StatusPatch without(String type) {
    conditionsChanged |= conditions.remove(type) != null;
    return this;
  }

  /** The condition of this type as it will be. */
  public Optional<Condition> current(String type) {
    return Optional.ofNullable(conditions.get(type));
  }

  /**
   * Releases the quota: removes the admission, sets QuotaReserved=False for the given reason, and
   * derives Admitted. All pods of a Workload that was in a worker cluster need quota again, since
   * its next copy begins with all of them.
   */
  public StatusPatch dropReservation(String reason, String message) {
    if (workload.status().admission().isPresent()) {
      status.putNull("admission");
    }
    if (!workload.status().reclaimablePods().isEmpty() && wasElsewhere()) {
      status.putArray("reclaimablePods");
    }
    return condition("QuotaReserved", false, reason, message)
        .condition(ADMITTED, false, "NoReservation", "The workload has no reservation");
  }

  private boolean wasElsewhere() {
    return !workload.status().remotePlacement().cluster().isEmpty()
        || Evictions.lastCluster(workload).isPresent();
  }

  /**
   * Derives Admitted from the checks of a Workload with reserved quota.
   *
   * @param delayed whether places of its pods are not found yet
   */
  public StatusPatch admittedBy(List<CheckState> checks, boolean delayed) {
    if (!CheckStates.allReady(checks)) {
      return condition(
          ADMITTED, false, "UnsatisfiedAdmissionChecks", "Not all admission checks are ready");
    }
    return delayed
        ? condition(
            ADMITTED,
            false,
            "PendingDelayedTopologyRequests",
            "The places of its pods are not found yet")
        : condition(ADMITTED, true, ADMITTED, "The workload is admitted");
  }

  /** Removes the requeue backoff, if there is one. */
  public StatusPatch withoutRequeueState() {
    if (workload.status().requeueState().isPresent()) {
      status.putNull("requeueState");
    }
    return this;
  }

  /** The status patch, for fields other than conditions. */
  public ObjectNode fields() {
    return status;
  }

  /** Whether the patch changes nothing. */
  public boolean isEmpty() {
    return !conditionsChanged && status.isEmpty();
  }

  /** The merge patch of {@code .status}; an empty object when nothing changes. */
  public ObjectNode build() {
    ObjectNode result = status.deepCopy();
    if (conditionsChanged) {
      ArrayNode list = result.putArray("conditions");
      conditions.values().forEach(condition -> list.add(json(condition)));
    }
    return result;
  }

  private static ObjectNode json(Condition condition) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("type", condition.type());
    json.put("status", condition.status());
    if (condition.observedGeneration() > 0) {
      json.put("observedGeneration", condition.observedGeneration());
    }
    json.put("lastTransitionTime", condition.lastTransitionTime().toString());
    json.put("reason", condition.reason());
    return json.put("message", condition.message());
  }

  /** A message of a condition or an admission check, as long as the API lets it be. */
  static String cut(String message) {
    return message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE);
  }

  /** Builds the status patches that carry out decisions of the engine. */
  public static final class AdmissionPatches {

    private AdmissionPatches() {}

    /**
     * The admission checks of a Workload after the decided reservation.
     *
     * @param required the required checks of the queue; while they are unknown, the checks in the
     *     status are kept
     */
    public static List<CheckState> checks(
        CachedWorkload workload, Decision.Admit decision, RequiredChecks required, Instant now) {
      Set<String> flavors =
          decision.podSets().stream()
              .flatMap(podSet -> podSet.flavors().values().stream())
              .collect(Collectors.toSet());
      List<CheckState> present = workload.status().admissionChecks();
      return required
          .of(decision.clusterQueue(), Optional.of(flavors), workload.labels())
          .flatMap(names -> CheckStates.synced(present, names, now))
          .orElse(present);
    }

    /**
     * Sets QuotaReserved and, unless a check isn't Ready, Admitted, in one write.
     *
     * @param checks the admission checks after the write
     * @param readiness whether admission waits for ready pods
     */
    public static ObjectNode admitted(
        CachedWorkload workload,
        Decision.Admit decision,
        List<CheckState> checks,
        boolean readiness,
        Instant now) {
      StatusPatch patch =
          StatusPatch.of(workload, now)
              .condition(
                  "QuotaReserved",
                  true,
                  "QuotaReserved",
                  "Quota reserved in ClusterQueue " + decision.clusterQueue())
              .reset("Evicted", "QuotaReserved")
              .reset("Preempted", "QuotaReserved")
              .reset(PreemptionGates.BLOCKED, "QuotaReserved");
      patch.admittedBy(checks, isDelayed(decision));
      if (readiness && workload.owned()) {
        PodsReady.initial(patch);
      }
      ObjectNode status = patch.fields();
      if (!checks.equals(workload.status().admissionChecks())) {
        status.set("admissionChecks", CheckStates.json(checks));
      }
      if (workload.status().requestsWritten()) {
        status.putNull("resourceRequests");
      }
      ObjectNode admission = status.putObject("admission");
      admission.put("clusterQueue", decision.clusterQueue());
      ArrayNode assignments = admission.putArray("podSetAssignments");
      decision.podSets().forEach(podSet -> assignment(assignments.addObject(), podSet));
      return patch.build();
    }

    /**
     * Gives a parent the admission of its variant (docs/concurrent-admission.md).
     *
     * @param readiness whether admission waits for ready pods
     */
    public static ObjectNode copied(
        CachedWorkload parent, CachedWorkload other, boolean readiness, Instant now) {
      CachedWorkload.Admission admission = other.status().admission().orElseThrow();
      List<CheckState> checks = other.status().admissionChecks();
      StatusPatch patch =
          StatusPatch.of(parent, now)
              .condition(
                  "QuotaReserved",
                  true,
                  "QuotaReserved",
                  "Quota reserved in ClusterQueue " + admission.clusterQueue())
              .reset("Evicted", "QuotaReserved")
              .reset("Preempted", "QuotaReserved")
              .admittedBy(checks, false);
      if (readiness && parent.owned()) {
        PodsReady.initial(patch);
      }
      ObjectNode status = patch.fields();
      if (!checks.equals(parent.status().admissionChecks())) {
        status.set("admissionChecks", CheckStates.json(checks));
      }
      ObjectNode json = status.putObject("admission");
      json.put("clusterQueue", admission.clusterQueue());
      ArrayNode assignments = json.putArray("podSetAssignments");
      for (CachedWorkload.Assignment each : admission.podSetAssignments()) {
        ObjectNode assignment =
            assignments.addObject().put("name", each.name()).put("count", each.count());
        ObjectNode flavors = assignment.putObject("flavors");
        each.flavors().forEach(flavors::put);
        ObjectNode usage = assignment.putObject("resourceUsage");
        each.resourceUsage().forEach(usage::put);
        places(
            assignment,
            new PodSetTopology(
                DelayedTopology.of(each.delayedTopology()), each.topology(), new TreeMap<>()));
      }
      return patch.build();
    }

    /** Whether places are found later than the quota. */
    public static boolean isDelayed(Decision.Admit decision) {
      return decision.podSets().stream()
          .anyMatch(podSet -> podSet.topology().delay() == PodSetTopology.Delay.PENDING);
    }

    private static void assignment(ObjectNode json, PodSetAssignment podSet) {
      json.put("name", podSet.name());
      ObjectNode flavors = json.putObject("flavors");
      podSet.flavors().forEach(flavors::put);
      quantities(json.putObject("resourceUsage"), podSet.usage());
      json.put("count", podSet.count());
      places(json, podSet.topology());
    }

    private static void places(ObjectNode json, PodSetTopology places) {
      places
          .assignment()
          .ifPresent(
              assignment ->
                  json.set("topologyAssignment", TopologyAssignmentCodec.encode(assignment)));
      String delayed = DelayedTopology.text(places.delay());
      if (!delayed.isEmpty()) {
        json.put("delayedTopologyRequest", delayed);
      }
    }

    /** Sets the places that a second pass found; the nodes that it replaced are listed no more. */
    public static ObjectNode placed(CachedWorkload workload, PlacementDecision.Place decision) {
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      if (!workload.status().unhealthyNodes().isEmpty()) {
        NodeFailures.list(
            status,
            workload.status().unhealthyNodes().stream()
                .filter(node -> !decision.lostNodes().contains(node))
                .toList());
      }
      List<PodSetTopology> places =
          decision.podSets().stream().map(PodSetAssignment::topology).toList();
      status.set("admission", withPlaces(workload, places));
      return status;
    }

    /** The patch of the status that gives some pod sets other places, by name of the pod set. */
    public static ObjectNode placed(
        CachedWorkload workload, Map<String, TopologyAssignment> changed) {
      List<PodSetTopology> places =
          workload.assignments().stream()
              .map(
                  assignment ->
                      new PodSetTopology(
                          DelayedTopology.of(assignment.delayedTopology()),
                          Optional.ofNullable(changed.get(assignment.name()))
                              .or(assignment::topology),
                          new TreeMap<>()))
              .toList();
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      status.set("admission", withPlaces(workload, places));
      return status;
    }

    /** The admission with the same quota and other places. */
    static ObjectNode withPlaces(CachedWorkload workload, List<PodSetTopology> places) {
      ObjectNode admission = JsonNodeFactory.instance.objectNode();
      ArrayNode assignments = admission.putArray("podSetAssignments");
      List<CachedWorkload.Assignment> before = workload.assignments();
      for (int i = 0; i < before.size(); i++) {
        CachedWorkload.Assignment assignment = before.get(i);
        ObjectNode json = assignments.addObject().put("name", assignment.name());
        ObjectNode flavors = json.putObject("flavors");
        assignment.flavors().forEach(flavors::put);
        ObjectNode usage = json.putObject("resourceUsage");
        assignment.resourceUsage().forEach(usage::put);
        json.put("count", assignment.count());
        places(json, places.get(i));
      }
      return admission;
    }

    private static void quantities(ObjectNode json, SortedMap<String, Long> amounts) {
      amounts.forEach(
          (resource, amount) -> json.put(resource, Quantities.format(resource, amount)));
    }

    /**
     * Why a Workload waits.
     *
     * @param reason the reason in one word
     * @param message the reason for people
     * @param blocked whether the Workload would preempt, but a preemption gate is closed
     */
    public record WaitingReason(String reason, String message, boolean blocked) {}

    /**
     * Sets the reason for waiting and the requested resources; empty when the status contains both
     * already.
     *
     * @param why why the Workload waits
     * @param totals requests by pod set and resource
     * @param readiness whether admission waits for ready pods
     */
    public static ObjectNode waiting(
        CachedWorkload workload,
        WaitingReason why,
        Map<String, SortedMap<String, Long>> totals,
        boolean readiness,
        Instant now) {
      StatusPatch patch =
          StatusPatch.of(workload, now)
              .condition("QuotaReserved", false, why.reason(), why.message())
              .condition("Admitted", false, "NoReservation", "The workload has no reservation");
      List<String> closed = workload.closedGates();
      if (why.blocked() && !closed.isEmpty()) {
        patch.condition(
            PreemptionGates.BLOCKED, true, "PreemptionGated", PreemptionGates.blockedBy(closed));
      }
      if (patch.isEmpty()) {
        return patch.build();
      }
      if (readiness && workload.owned()) {
        PodsReady.initial(patch);
      }
      ArrayNode requests = patch.fields().putArray("resourceRequests");
      totals.forEach(
          (podSet, amounts) ->
              quantities(requests.addObject().put("name", podSet).putObject("resources"), amounts));
      return patch.build();
    }
  }

  /** The admission checks that ClusterQueues require. Usable from any thread. */
  @FunctionalInterface
  public interface RequiredChecks {

    /** Requirements that know no queues. */
    RequiredChecks UNKNOWN = (clusterQueue, assigned, labels) -> Optional.empty();

    /**
     * The names of the checks that a Workload requires.
     *
     * @param assigned the assigned flavors; empty before an assignment
     * @param labels those of the Workload
     * @return empty if the ClusterQueue is not known
     */
    Optional<SortedSet<String>> of(
        String clusterQueue,
        Optional<? extends Collection<String>> assigned,
        Map<String, String> labels);
  }

  /** Evictions of Workloads that lost nodes (docs/topology.md#failed-nodes). */
  public static final class NodeFailures {

    /** The reason of the evictions. */
    public static final String REASON = "NodeFailures";

    private NodeFailures() {}

    /** Sets the nodes that a status lists as failed. */
    public static ObjectNode list(ObjectNode status, List<String> nodes) {
      ArrayNode unhealthy = status.putArray("unhealthyNodes");
      nodes.forEach(node -> unhealthy.addObject().put("name", node));
      return status;
    }

    /** The status patch of an eviction. */
    public static ObjectNode evicted(CachedWorkload workload, String message, Instant now) {
      StatusPatch patch = StatusPatch.of(workload, now);
      return Evictions.evict(patch, workload, now, REASON, "", message).build();
    }
  }
}
