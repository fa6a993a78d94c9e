package dev.sluice.workload;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.workload.CachedWorkload.CheckState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/** The status patches by which decisions of the engine are carried out. */
public final class AdmissionPatches {

  private AdmissionPatches() {}

  /**
   * The admission checks of a Workload once it has what was decided.
   *
   * @param required knows the checks of the queue; while it doesn't, those in the status stand
   */
  static List<CheckState> checks(
      CachedWorkload workload, Decision.Admit decision, RequiredChecks required, Instant now) {
    Set<String> flavors =
        decision.podSets().stream()
            .flatMap(podSet -> podSet.flavors().values().stream())
            .collect(Collectors.toSet());
    List<CheckState> present = workload.status().admissionChecks();
    return required
        .of(decision.clusterQueue(), Optional.of(flavors))
        .flatMap(names -> CheckStates.synced(present, names, now))
        .orElse(present);
  }

  /**
   * Quota reserved and, unless a check isn't Ready, admitted, in one write.
   *
   * @param checks its admission checks from now on
   * @param readiness whether somebody waits for its pods to be ready
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
    patch.admittedBy(checks);
    if (readiness && workload.owned()) {
      PodsReady.initial(patch);
    }
    ObjectNode status = patch.fields();
    if (!checks.equals(workload.status().admissionChecks())) {
      status.set("admissionChecks", CheckStates.json(checks));
    }
    if (workload.status().requestsTold()) {
      status.putNull("resourceRequests");
    }
    ObjectNode admission = status.putObject("admission");
    admission.put("clusterQueue", decision.clusterQueue());
    ArrayNode assignments = admission.putArray("podSetAssignments");
    decision.podSets().forEach(podSet -> assignment(assignments.addObject(), podSet));
    return patch.build();
  }

  private static void assignment(ObjectNode json, PodSetAssignment podSet) {
    json.put("name", podSet.name());
    ObjectNode flavors = json.putObject("flavors");
    podSet.flavors().forEach(flavors::put);
    quantities(json.putObject("resourceUsage"), podSet.usage());
    json.put("count", podSet.count());
  }

  private static void quantities(ObjectNode json, SortedMap<String, Long> amounts) {
    amounts.forEach((resource, amount) -> json.put(resource, Quantities.format(resource, amount)));
  }

  /**
   * Why it waits, and what it requests meanwhile; empty when that is written already.
   *
   * @param blocked whether it would preempt, but for a preemption gate that is closed
   * @param totals requests by pod set and resource
   * @param readiness whether somebody waits for its pods to be ready, once it is admitted
   */
  public static ObjectNode waiting(
      CachedWorkload workload,
      String reason,
      String message,
      boolean blocked,
      Map<String, SortedMap<String, Long>> totals,
      boolean readiness,
      Instant now) {
    StatusPatch patch =
        StatusPatch.of(workload, now)
            .condition("QuotaReserved", false, reason, message)
            .condition("Admitted", false, "NoReservation", "The workload has no reservation");
    List<String> closed = workload.closedGates();
    if (blocked && !closed.isEmpty()) {
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
