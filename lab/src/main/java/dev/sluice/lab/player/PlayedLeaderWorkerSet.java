package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The controller of LeaderWorkerSets: the pods of each group, named and labelled as the real ones.
 *
 * <p>The real controller makes a StatefulSet of leaders, and for each leader a StatefulSet of its
 * workers; here the pods belong to the LeaderWorkerSet itself, so none of them waits for another. A
 * rollout replaces all pods of the old revision at once, without {@code partition}, {@code
 * maxUnavailable} and {@code maxSurge}, and a pod that fails does not take its group with it.
 */
public final class PlayedLeaderWorkerSet implements PlayedKind {

  private static final String PREFIX = "leaderworkerset.sigs.k8s.io/";
  private static final String REVISION = PREFIX + "template-revision-hash";

  @Override
  public JobKind kind() {
    return LeaderWorkerSets.KIND;
  }

  private static JsonNode templates(JsonNode object) {
    return object.path("spec").path("leaderWorkerTemplate");
  }

  private static int replicas(JsonNode object) {
    return object.path("spec").path("replicas").asInt(1);
  }

  private static int size(JsonNode object) {
    return templates(object).path("size").asInt(1);
  }

  private static String revision(JsonNode object) {
    return Integer.toHexString(templates(object).toString().hashCode());
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> pods = new ArrayList<>();
    for (int group = 0; group < replicas(object); group++) {
      for (int index = 0; index < size(object); index++) {
        pods.add(pod(object, group, index));
      }
    }
    return pods;
  }

  private static ObjectNode pod(JsonNode object, int group, int index) {
    boolean leader = index == 0 && templates(object).hasNonNull("leaderTemplate");
    JsonNode template = templates(object).path(leader ? "leaderTemplate" : "workerTemplate");
    ObjectNode pod = JsonNodeFactory.instance.objectNode();
    pod.put("apiVersion", "v1").put("kind", "Pod");
    ObjectNode metadata =
        template.path("metadata") instanceof ObjectNode given
            ? given.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    pod.set("metadata", metadata);
    pod.set("spec", template.path("spec").deepCopy());
    String set = object.path("metadata").path("name").asText();
    metadata.put("name", set + "-" + group + (index == 0 ? "" : "-" + index));
    metadata
        .withObjectProperty("labels")
        .put(PREFIX + "name", set)
        .put(PREFIX + "group-index", Integer.toString(group))
        .put(PREFIX + "worker-index", Integer.toString(index))
        .put(REVISION, revision(object));
    return pod;
  }

  @Override
  public boolean replaces(ObjectNode present, ObjectNode wanted) {
    return !Objects.equals(
        JsonFields.labels(present).get(REVISION), JsonFields.labels(wanted).get(REVISION));
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    int present = 0;
    int ready = 0;
    int updated = 0;
    for (int group = 0; group < replicas(object); group++) {
      Map.Entry<String, String> of = Map.entry(PREFIX + "group-index", Integer.toString(group));
      List<ObjectNode> pods =
          children.stream()
              .filter(pod -> of.getValue().equals(JsonFields.labels(pod).get(of.getKey())))
              .toList();
      boolean all = pods.size() == size(object);
      present += pods.isEmpty() ? 0 : 1;
      ready += all && pods.stream().allMatch(pod -> JobConditions.isTrue(pod, "Ready")) ? 1 : 0;
      updated += all && pods.stream().allMatch(pod -> isUpdated(object, pod)) ? 1 : 0;
    }
    status.put("replicas", present).put("readyReplicas", ready).put("updatedReplicas", updated);
    ArrayNode conditions = status.putArray("conditions");
    boolean available = ready == replicas(object);
    conditions
        .addObject()
        .put("type", "Available")
        .put("status", available ? "True" : "False")
        .put("reason", available ? "AllGroupsReady" : "GroupsProgressing")
        .put("message", "");
    return status;
  }

  private static boolean isUpdated(JsonNode object, JsonNode pod) {
    return revision(object).equals(JsonFields.labels(pod).get(REVISION));
  }
}
