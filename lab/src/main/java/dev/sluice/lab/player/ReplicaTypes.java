package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What the played controllers of Kubeflow's jobs have in common: pods by type of replica. */
final class ReplicaTypes {

  private static final String PREFIX = "training.kubeflow.org/";
  private static final String TYPE = PREFIX + "replica-type";

  private ReplicaTypes() {}

  /** The types of replicas of a job, with what is said of each; {@code field} is in the spec. */
  static Map<String, JsonNode> of(JsonNode object, String field) {
    return JsonFields.at(object, "spec", field)
        .propertyStream()
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static boolean isSuspended(JsonNode object) {
    return JsonFields.at(object, "spec", "runPolicy", "suspend").asBoolean();
  }

  static boolean hasEnded(JsonNode object) {
    return JobConditions.isTrue(object, "Succeeded") || JobConditions.isTrue(object, "Failed");
  }

  /** Whether an ended job keeps its pods, as it does unless its clean-up policy says otherwise. */
  static boolean keepsPods(JsonNode object) {
    String policy = JsonFields.text(object, "spec", "runPolicy", "cleanPodPolicy");
    return !hasEnded(object) || policy.isEmpty() || policy.equals("None");
  }

  /** The pods of a type of replica. */
  static List<ObjectNode> pods(JsonNode object, String type, JsonNode replica) {
    return pods(object, type, replica, 0);
  }

  /**
   * The pods of a type of replica.
   *
   * @param first the place of the first of them, as its label says
   */
  static List<ObjectNode> pods(JsonNode object, String type, JsonNode replica, int first) {
    String lower = type.toLowerCase(Locale.ROOT);
    List<ObjectNode> pods = new ArrayList<>();
    for (int i = 0; i < replica.path("replicas").asInt(1); i++) {
      ObjectNode pod = template(object, type, replica, first + i);
      pod.put("apiVersion", "v1").put("kind", "Pod");
      pod.withObjectProperty("metadata")
          .put("name", object.path("metadata").path("name").asText() + "-" + lower + "-" + i);
      pods.add(pod);
    }
    return pods;
  }

  /** The template of a replica, with the labels that tell its place. */
  static ObjectNode template(JsonNode object, String type, JsonNode replica, int place) {
    ObjectNode pod =
        replica.path("template") instanceof ObjectNode template
            ? template.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    pod.withObjectProperty("metadata")
        .withObjectProperty("labels")
        .put(PREFIX + "job-name", object.path("metadata").path("name").asText())
        .put(TYPE, type.toLowerCase(Locale.ROOT))
        .put(PREFIX + "replica-index", Integer.toString(place));
    if (replica.has("restartPolicy")) {
      pod.withObjectProperty("spec").put("restartPolicy", restartPolicy(replica));
    }
    return pod;
  }

  private static String restartPolicy(JsonNode replica) {
    String policy = replica.path("restartPolicy").asText();
    return policy.equals("ExitCode") ? "Never" : policy;
  }

  /** How many pods of a type are in this phase. */
  static int count(List<ObjectNode> children, String type, String phase) {
    return (int)
        children.stream()
            .filter(it -> it.path("kind").asText().equals("Pod"))
            .filter(it -> type.toLowerCase(Locale.ROOT).equals(JsonFields.labels(it).get(TYPE)))
            .filter(it -> it.path("status").path("phase").asText().equals(phase))
            .count();
  }

  /** Adds a condition with a reason and message in the manner of these controllers. */
  static void condition(
      ArrayNode conditions, JsonNode object, String type, boolean status, String message) {
    String kind = object.path("kind").asText();
    conditions
        .addObject()
        .put("type", type)
        .put("status", status ? "True" : "False")
        .put("reason", kind + type)
        .put(
            "message",
            kind + " " + object.path("metadata").path("name").asText() + " is " + message + ".");
  }
}
