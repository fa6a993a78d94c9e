package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import java.util.List;
import java.util.Map;

/**
 * What the admission checks of a slice add to its pods when their gate is opened: the template that
 * a pod was made from has what the first slice was given (docs/elastic-jobs.md#pods).
 */
final class PodUpdates {

  /** Prefix of the annotations that name a slice's own ProvisioningRequest. */
  private static final String PROVISIONING = "autoscaling.x-k8s.io/";

  private PodUpdates() {}

  /**
   * The patch of a pod; empty if it has all.
   *
   * @throws StartConflictException if the pod contradicts a check
   */
  static ObjectNode of(CachedWorkload slice, String podSet, JsonNode pod)
      throws StartConflictException {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    List<CheckState> checks = slice.status().admissionChecks();
    for (CheckState check : checks) {
      for (PodSetUpdate update : check.podSetUpdates()) {
        if (check.is(CheckState.READY) && update.name().equals(podSet)) {
          merge(patch, pod, check, "metadata", "annotations", update.annotations());
          merge(patch, pod, check, "spec", "nodeSelector", update.nodeSelector());
        }
      }
    }
    return patch;
  }

  private static void merge(
      ObjectNode patch,
      JsonNode pod,
      CheckState check,
      String parent,
      String field,
      Map<String, String> wanted)
      throws StartConflictException {
    for (Map.Entry<String, String> entry : wanted.entrySet()) {
      String key = entry.getKey();
      JsonNode planned = patch.path(parent).path(field).path(key);
      JsonNode present = planned.isMissingNode() ? pod.path(parent).path(field).path(key) : planned;
      boolean refreshed =
          planned.isMissingNode() && field.equals("annotations") && key.startsWith(PROVISIONING);
      if (!present.isMissingNode() && !present.asText().equals(entry.getValue()) && !refreshed) {
        throw new StartConflictException(
            "admission check %s sets %s.%s[%s] of pod %s to \"%s\", which is \"%s\" already"
                .formatted(
                    check.name(),
                    parent,
                    field,
                    key,
                    pod.path("metadata").path("name").asText(),
                    entry.getValue(),
                    present.asText()));
      }
      if (!present.asText().equals(entry.getValue())) {
        patch.withObjectProperty(parent).withObjectProperty(field).put(key, entry.getValue());
      }
    }
  }
}
