package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Builds the status patches that carry out decisions of the engine. */
public final class AdmissionPatches {

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
    amounts.forEach((resource, amount) -> json.put(resource, Quantities.format(resource, amount)));
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
