package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a pod is told that another object makes, such as a StatefulSet, so that it is a member of
 * the group of a Workload. It concerns pods only as long as they wait at their gates.
 *
 * @param workload name of the Workload, and of the group
 * @param role the pod set of that Workload
 * @param total the number of pods of that Workload
 * @param further annotations that the kind of the object needs besides
 * @param byAnnotation whether the Workload and the group are named by annotations, else by labels
 *     where the name is short enough
 */
public record GroupMembership(
    String workload, String role, int total, Map<String, String> further, boolean byAnnotation) {

  private static final Set<String> GATES =
      Set.of(KueueConstants.ADMISSION_GATE, KueueConstants.TOPOLOGY_GATE);

  /** Copies the map. */
  public GroupMembership {
    further = Map.copyOf(further);
  }

  /** Whether a pod waits in a group that isn't the one of this Workload; it can't change groups. */
  public static boolean isInAnotherGroup(String workload, CachedPod pod) {
    return pod.gated()
        && !pod.job().deleting()
        && !pod.ended()
        && pod.group().filter(group -> !group.name().equals(workload)).isPresent();
  }

  /**
   * The write that removes the gates from a pod, and what makes it managed. A rollout waits for
   * pods of the old revision to run. Without a Workload that is admitted they would be stopped
   * again as members of a group, so they are none.
   */
  public static JobPatch leave(CachedPod pod) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    removeGates(pod, patch);
    if (pod.job().labels().containsKey(KueueConstants.MANAGED)) {
      patch
          .withObjectProperty("metadata")
          .withObjectProperty("labels")
          .putNull(KueueConstants.MANAGED);
    }
    if (pod.job().finalizers().contains(KueueConstants.MANAGED)) {
      ArrayNode rest = patch.withObjectProperty("metadata").withArrayProperty("finalizers");
      pod.job().finalizers().stream()
          .filter(name -> !name.equals(KueueConstants.MANAGED))
          .forEach(rest::add);
    }
    return new JobPatch(false, patch);
  }

  private static void removeGates(CachedPod pod, ObjectNode patch) {
    ArrayNode gates = JsonNodeFactory.instance.arrayNode();
    for (JsonNode gate : pod.job().object().path("spec").path("schedulingGates")) {
      if (!GATES.contains(gate.path("name").asText())) {
        gates.add(gate);
      }
    }
    patch.putObject("spec").set("schedulingGates", gates);
  }

  /**
   * The write that removes the gates from a pod that a rollout is about to replace, and makes it a
   * member: the label of managed pods and the finalizer stay.
   *
   * @param parent the object that makes the pod
   */
  public JobPatch release(CachedJob parent, CachedPod pod) {
    ObjectNode patch =
        join(parent, pod).map(JobPatch::body).orElseGet(JsonNodeFactory.instance::objectNode);
    removeGates(pod, patch);
    return new JobPatch(false, patch);
  }

  /**
   * The write that makes a pod a member; empty if it is one.
   *
   * @param parent the object that makes the pod
   */
  public Optional<JobPatch> join(CachedJob parent, CachedPod pod) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    Map<String, String> labels = labels(parent);
    Map<String, String> annotations = new LinkedHashMap<>(further);
    annotations.put(KueueConstants.POD_GROUP_TOTAL_COUNT, Integer.toString(total));
    annotations.put(KueueConstants.POD_GROUP_SERVING, "true");
    annotations.put(KueueConstants.ROLE_HASH, role);
    Map<String, String> names =
        byAnnotation || workload.length() > WorkloadNames.SHORT ? annotations : labels;
    names.put(KueueConstants.PREBUILT_WORKLOAD_NAME, workload);
    names.put(KueueConstants.POD_GROUP_NAME, workload);
    differences(labels, pod.job().labels(), "labels", patch);
    differences(annotations, pod.job().annotations(), "annotations", patch);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }

  private static void differences(
      Map<String, String> wanted, Map<String, String> known, String field, ObjectNode patch) {
    wanted.forEach(
        (key, value) -> {
          if (!value.equals(known.get(key))) {
            patch.withObjectProperty("metadata").withObjectProperty(field).put(key, value);
          }
        });
  }

  private static Map<String, String> labels(CachedJob parent) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(KueueConstants.MANAGED, "true");
    if (!parent.queueName().isEmpty()) {
      labels.put(KueueConstants.QUEUE_NAME, parent.queueName());
    }
    if (!parent.workloadPriorityClass().isEmpty()) {
      labels.put(KueueConstants.PRIORITY_CLASS, parent.workloadPriorityClass());
    }
    String origin = parent.labels().get(KueueConstants.MULTIKUEUE_ORIGIN);
    if (origin != null) {
      labels.put(KueueConstants.MULTIKUEUE_ORIGIN, origin);
      labels.put(KueueConstants.MULTIKUEUE_WORKER_POD, "true");
    }
    return labels;
  }
}
