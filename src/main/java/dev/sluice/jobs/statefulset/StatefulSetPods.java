package dev.sluice.jobs.statefulset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.JobPatch;
import dev.sluice.jobs.WorkloadNames;
import dev.sluice.jobs.pod.CachedPod;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the pods of a StatefulSet are told so that they make a group: a pure function. It concerns
 * them only as long as they wait at their gates.
 */
final class StatefulSetPods {

  private static final String REVISION = "controller-revision-hash";
  private static final Set<String> GATES =
      Set.of(KueueConstants.ADMISSION_GATE, KueueConstants.TOPOLOGY_GATE);

  private StatefulSetPods() {}

  /** Whether this is a pod that the StatefulSet made and that is held back for it. */
  static boolean isOf(CachedStatefulSet set, CachedPod pod) {
    return pod.job()
            .controller()
            .filter(owner -> owner.uid().equals(set.job().ref().uid()))
            .isPresent()
        && StatefulSets.KIND
            .framework()
            .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
  }

  /**
   * The write that a pod of the set needs; empty when it needs none.
   *
   * @param workload name of the Workload that the pod belongs to
   * @param role the pod set of that Workload
   * @param total the number of pods of that Workload
   * @param waitsHere whether that is not admitted, and nothing of the set runs in another cluster
   * @param byAnnotation whether the Workload and the group are named by annotations, else by labels
   *     where the name is short enough
   */
  static Optional<JobPatch> needed(
      CachedStatefulSet set,
      String workload,
      String role,
      int total,
      boolean waitsHere,
      boolean byAnnotation,
      CachedPod pod) {
    int index = index(pod);
    if (!pod.gated() || pod.job().deleting() || pod.ended() || !set.wants(index)) {
      return Optional.empty();
    }
    boolean leaving = set.replaces(pod.job().labels().getOrDefault(REVISION, ""), index);
    return leaving && waitsHere
        ? Optional.of(removeGate(pod))
        : annotate(set, workload, role, total, byAnnotation, pod);
  }

  /** Whether a pod waits in a group that isn't the one of this Workload; it can't change groups. */
  static boolean isInAnotherGroup(String workload, CachedPod pod) {
    return pod.gated()
        && !pod.job().deleting()
        && !pod.ended()
        && pod.group().filter(group -> !group.name().equals(workload)).isPresent();
  }

  /** The index of a pod: the number at the end of its name. */
  static int index(CachedPod pod) {
    try {
      return Integer.parseInt(pod.name().substring(pod.name().lastIndexOf('-') + 1));
    } catch (NumberFormatException notMadeByTheController) {
      return 0;
    }
  }

  /**
   * A rollout waits for pods of the old revision to run. Without a Workload that is admitted they
   * would be stopped again as members of a group, so they are none.
   */
  private static JobPatch removeGate(CachedPod pod) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode gates = JsonNodeFactory.instance.arrayNode();
    for (JsonNode gate : pod.job().object().path("spec").path("schedulingGates")) {
      if (!GATES.contains(gate.path("name").asText())) {
        gates.add(gate);
      }
    }
    patch.putObject("spec").set("schedulingGates", gates);
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

  private static Optional<JobPatch> annotate(
      CachedStatefulSet set,
      String workload,
      String role,
      int total,
      boolean byAnnotation,
      CachedPod pod) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    Map<String, String> labels = labels(set);
    Map<String, String> annotations = annotations(total, role);
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

  private static Map<String, String> labels(CachedStatefulSet set) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(KueueConstants.MANAGED, "true");
    if (!set.job().queueName().isEmpty()) {
      labels.put(KueueConstants.QUEUE_NAME, set.job().queueName());
    }
    if (!set.job().workloadPriorityClass().isEmpty()) {
      labels.put(KueueConstants.PRIORITY_CLASS, set.job().workloadPriorityClass());
    }
    String origin = set.job().labels().get(KueueConstants.MULTIKUEUE_ORIGIN);
    if (origin != null) {
      labels.put(KueueConstants.MULTIKUEUE_ORIGIN, origin);
      labels.put(KueueConstants.MULTIKUEUE_WORKER_POD, "true");
    }
    return labels;
  }

  private static Map<String, String> annotations(int total, String role) {
    Map<String, String> annotations = new LinkedHashMap<>();
    annotations.put(KueueConstants.POD_GROUP_TOTAL_COUNT, Integer.toString(total));
    annotations.put(KueueConstants.POD_GROUP_FAST_ADMISSION, "true");
    annotations.put(KueueConstants.POD_GROUP_SERVING, "true");
    annotations.put(KueueConstants.ROLE_HASH, role);
    annotations.put(KueueConstants.POD_GROUP_POD_INDEX_LABEL, StatefulSets.INDEX_LABEL);
    return annotations;
  }
}
