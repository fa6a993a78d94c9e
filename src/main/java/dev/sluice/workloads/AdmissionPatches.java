package dev.sluice.workloads;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.model.Decision;
import dev.sluice.model.PodSetAssignment;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;

/** The status patches by which decisions of the engine are carried out. */
public final class AdmissionPatches {

  private AdmissionPatches() {}

  /** Quota reserved and admitted, in one write. */
  public static ObjectNode admitted(Workload workload, Decision.Admit decision, Instant now) {
    StatusPatch patch =
        StatusPatch.of(workload, now)
            .condition(
                "QuotaReserved",
                true,
                "QuotaReserved",
                "Quota reserved in ClusterQueue " + decision.clusterQueue())
            .condition("Admitted", true, "Admitted", "The workload is admitted")
            .reset("Evicted", "QuotaReserved")
            .reset("Preempted", "QuotaReserved")
            .reset("BlockedOnPreemptionGates", "QuotaReserved");
    ObjectNode status = patch.fields();
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
   * @param totals requests by pod set and resource
   */
  public static ObjectNode waiting(
      Workload workload,
      String reason,
      String message,
      Map<String, SortedMap<String, Long>> totals,
      Instant now) {
    StatusPatch patch =
        StatusPatch.of(workload, now)
            .condition("QuotaReserved", false, reason, message)
            .condition("Admitted", false, "NoReservation", "The workload has no reservation");
    if (patch.isEmpty()) {
      return patch.build();
    }
    ArrayNode requests = patch.fields().putArray("resourceRequests");
    totals.forEach(
        (podSet, amounts) ->
            quantities(requests.addObject().put("name", podSet).putObject("resources"), amounts));
    return patch.build();
  }
}
