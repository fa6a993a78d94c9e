package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.workload.AdmittedRequests;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.Assignment;
import dev.sluice.workload.CachedWorkload.PodSet;
import dev.sluice.workload.WorkloadLister;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares pods that run on quota with the amounts that they were admitted with. Usable from any
 * thread.
 *
 * @param workloads the Workloads
 * @param requests counts requests as quota does
 */
public record PodAdmissionLookup(WorkloadLister workloads, AdmittedRequests requests) {

  /**
   * What a pod would request beyond the amounts that its pod set was admitted with per pod. Empty
   * if it is within them, if it doesn't request more than before, or if it has no Workload with
   * quota.
   */
  public Optional<String> excess(String namespace, JsonNode before, JsonNode pod) {
    if (!requests.isLarger(pod, before)) {
      return Optional.empty();
    }
    return workload(namespace, pod).flatMap(workload -> excess(workload, pod));
  }

  private Optional<String> excess(CachedWorkload workload, JsonNode pod) {
    List<PodSet> podSets = workload.spec().podSets();
    String name = podSets.size() == 1 ? podSets.getFirst().name() : podSet(pod);
    for (PodSet podSet : podSets) {
      for (Assignment assignment :
          workload.status().admission().orElseThrow().podSetAssignments()) {
        if (podSet.name().equals(name) && assignment.name().equals(name)) {
          return requests.excess(pod, podSet, assignment);
        }
      }
    }
    return Optional.empty();
  }

  private static String podSet(JsonNode pod) {
    String role = JsonFields.annotations(pod).getOrDefault(KueueConstants.ROLE_HASH, "");
    return JsonFields.labels(pod).getOrDefault(KueueConstants.PODSET, role);
  }

  /** The Workload of the pod's group, of the pod itself, or of the job that controls the pod. */
  private Optional<CachedWorkload> workload(String namespace, JsonNode pod) {
    List<CachedWorkload> found = new ArrayList<>();
    Map<String, String> labels = JsonFields.labels(pod);
    String group =
        JsonFields.annotations(pod)
            .getOrDefault(
                KueueConstants.POD_GROUP_NAME,
                labels.getOrDefault(KueueConstants.POD_GROUP_NAME, ""));
    workloads.get(namespace, group).ifPresent(found::add);
    found.addAll(workloads.ownedBy(JsonFields.text(pod, "metadata", "uid")));
    for (JsonNode owner : JsonFields.list(pod, "metadata", "ownerReferences")) {
      if (JsonFields.at(owner, "controller").asBoolean()) {
        found.addAll(workloads.ownedBy(JsonFields.text(owner, "uid")));
      }
    }
    return found.stream()
        .filter(workload -> workload.id().namespace().equals(namespace))
        .filter(workload -> workload.status().admission().isPresent() && !workload.finished())
        .findFirst();
  }
}
