package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.ray.RayCluster;
import java.util.ArrayList;
import java.util.List;

/**
 * The controller of RayClusters: a pod for the head and the pods of the groups of workers, none
 * while the cluster is suspended.
 *
 * <p>The real controller differs: it replaces pods that ended, adds containers, commands and
 * environment variables to them, makes Services, scales groups, and clears Redis when a cluster
 * with fault tolerance is deleted.
 */
public final class PlayedRayCluster implements PlayedKind {

  private static final String PREFIX = "ray.io/";
  private static final String STATE = "state";

  /** The bound of a group that has none. */
  private static final int MOST = Integer.MAX_VALUE;

  @Override
  public JobKind kind() {
    return RayCluster.KIND;
  }

  /**
   * A RayCluster that another kind's controller creates, with the labels of its owner, as the real
   * controllers give them.
   */
  static ObjectNode of(JsonNode owner, String name, JsonNode spec) {
    ObjectNode cluster = JsonNodeFactory.instance.objectNode();
    cluster.put("apiVersion", RayCluster.KIND.apiVersion()).put("kind", RayCluster.KIND.kind());
    ObjectNode metadata = cluster.putObject("metadata").put("name", name);
    ObjectNode labels = metadata.putObject("labels");
    JsonFields.labels(owner).forEach(labels::put);
    labels.put(PREFIX + "originated-from-cr-name", owner.path("metadata").path("name").asText());
    cluster.set("spec", spec.deepCopy());
    return cluster;
  }

  /** Whether a RayCluster says that all its pods are ready. */
  static boolean isReady(JsonNode cluster) {
    return cluster.path("status").path(STATE).asText().equals("ready");
  }

  private static boolean isSuspended(JsonNode object) {
    return object.path("spec").path("suspend").asBoolean();
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    return isSuspended(object) ? List.of() : pods(object);
  }

  private static List<ObjectNode> pods(JsonNode object) {
    String cluster = object.path("metadata").path("name").asText();
    JsonNode spec = object.path("spec");
    List<ObjectNode> pods = new ArrayList<>();
    pods.add(
        pod(cluster, spec.path("headGroupSpec").path("template"), "headgroup", cluster + "-head"));
    for (JsonNode group : JsonFields.list(spec, "workerGroupSpecs")) {
      String name = group.path("groupName").asText();
      int count = replicas(group) * Math.max(1, group.path("numOfHosts").asInt(1));
      for (int i = 0; i < count; i++) {
        pods.add(pod(cluster, group.path("template"), name, cluster + "-" + name + "-" + i));
      }
    }
    return pods;
  }

  /** No fewer than the least, and no more than the most. */
  private static int replicas(JsonNode group) {
    int most = Math.min(group.path("replicas").asInt(1), group.path("maxReplicas").asInt(MOST));
    return Math.max(most, group.path("minReplicas").asInt());
  }

  private static ObjectNode pod(String cluster, JsonNode template, String group, String name) {
    ObjectNode pod =
        template instanceof ObjectNode object
            ? object.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    pod.put("apiVersion", "v1").put("kind", "Pod");
    pod.withObjectProperty("metadata")
        .put("name", name)
        .withObjectProperty("labels")
        .put(PREFIX + "cluster", cluster)
        .put(PREFIX + "node-type", group.equals("headgroup") ? "head" : "worker")
        .put(PREFIX + "group", group);
    return pod;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    int ready = (int) children.stream().filter(pod -> JobConditions.isTrue(pod, "Ready")).count();
    int wanted = pods(object).size();
    status
        .put("desiredWorkerReplicas", wanted - 1)
        .put("availableWorkerReplicas", Math.max(0, children.size() - 1))
        .put("readyWorkerReplicas", Math.max(0, ready - 1));
    String state = object.path("status").path(STATE).asText();
    if (isSuspended(object)) {
      state = children.isEmpty() ? "suspended" : state;
    } else if (ready >= wanted) {
      state = "ready";
    } else if (state.equals("suspended")) {
      state = "";
    }
    if (!state.isEmpty()) {
      status.put(STATE, state);
    }
    return status;
  }
}
