package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.List;

/**
 * Tells an owner reference that the controller of the owner wrote from one that somebody else made
 * up. A controller ignores pods that it didn't create and that its selector doesn't match, so such
 * a pod would run without its job's quota.
 */
final class PodOwners {

  private static final List<String> UID_LABELS =
      List.of("batch.kubernetes.io/controller-uid", "controller-uid");

  private PodOwners() {}

  /**
   * Whether the pod names a Job or an object of group apps as its controller that didn't create it.
   */
  static boolean isMadeUp(AdmissionRequest request) {
    return request.isCreate()
        && !isClusterController(request.user())
        && JsonFields.list(request.object(), "metadata", "ownerReferences").stream()
            .filter(owner -> JsonFields.at(owner, "controller").asBoolean())
            .anyMatch(owner -> isBuiltIn(owner) && !isSelected(request.object(), owner));
  }

  /** The controllers of built-in kinds, in one process or each with an account of its own. */
  private static boolean isClusterController(String user) {
    return user.equals("system:kube-controller-manager")
        || user.startsWith("system:serviceaccount:kube-system:");
  }

  private static boolean isBuiltIn(JsonNode owner) {
    String apiVersion = JsonFields.text(owner, "apiVersion");
    return apiVersion.startsWith("batch/") || apiVersion.startsWith("apps/");
  }

  /** Whether the Job counts the pod as its own, and deletes it if it has too many. */
  private static boolean isSelected(JsonNode pod, JsonNode owner) {
    String uid = JsonFields.text(owner, "uid");
    return JsonFields.text(owner, "kind").equals("Job")
        && UID_LABELS.stream().anyMatch(key -> uid.equals(JsonFields.labels(pod).get(key)));
  }
}
