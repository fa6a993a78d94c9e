package dev.sluice.jobs.ray;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.InvalidField;
import dev.sluice.jobs.TemplatedJob.Index;
import dev.sluice.jobs.TemplatedJob.PodSetSlot;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The pods of a Ray cluster whose spec is somewhere in an object: a head, and groups of workers.
 *
 * @param path path of the spec
 */
record RayPods(List<String> path) {

  /** The pod set of the head. */
  static final String HEAD = "head";

  private static final int MOST_POD_SETS = 18;
  private static final String GROUPS = "workerGroupSpecs";
  private static final Index NO_INDEX = Index.of("");

  /** Copies the path. */
  RayPods {
    path = List.copyOf(path);
  }

  private JsonNode spec(JsonNode object) {
    return JsonFields.at(object, path.toArray(String[]::new));
  }

  private String field(String name) {
    return String.join(".", path) + "." + name;
  }

  private static String podSet(JsonNode group) {
    return group.path("groupName").asText().toLowerCase(Locale.ROOT);
  }

  /** The head and the groups, in the order of the object. */
  List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    String at = "/" + String.join("/", path);
    slots.add(PodSetSlot.of(object, HEAD, 1, at + "/headGroupSpec/template", NO_INDEX));
    List<JsonNode> groups = JsonFields.list(spec(object), GROUPS);
    for (int i = 0; i < groups.size(); i++) {
      JsonNode group = groups.get(i);
      long hosts = Math.max(1, group.path("numOfHosts").asInt(1));
      slots.add(
          PodSetSlot.of(
              object,
              podSet(group),
              Math.max(0, group.path("replicas").asInt(1)) * hosts,
              at + "/" + GROUPS + "/" + i + "/template",
              NO_INDEX));
    }
    return slots;
  }

  /**
   * The head's template with what the cluster's controller runs besides: a container that scales
   * the cluster, and, after the cluster, a Job that clears its Redis database, for which the head's
   * quota has to suffice.
   */
  JsonNode accountedHead(JsonNode object, JsonNode template) {
    if (!(template.deepCopy() instanceof ObjectNode accounted)) {
      return template;
    }
    if (keepsStateInRedis(object)
        && accounted.at("/spec/containers/0") instanceof ObjectNode container) {
      atLeast(container, "cpu", "200m");
      atLeast(container, "memory", "256Mi");
    }
    if (scalesItself(object)) {
      JsonNode resources = spec(object).path("autoscalerOptions").path("resources");
      ObjectNode autoscaler = JsonNodeFactory.instance.objectNode().put("name", "autoscaler");
      autoscaler.set(
          "resources",
          resources.isObject()
              ? resources.deepCopy()
              : resources("500m", "512Mi", "500m", "512Mi"));
      addContainer(accounted, autoscaler);
    }
    return accounted;
  }

  private boolean scalesItself(JsonNode object) {
    return spec(object).path("enableInTreeAutoscaling").asBoolean();
  }

  /** Whether the cluster survives the loss of its head; then its state is in a Redis database. */
  boolean keepsStateInRedis(JsonNode object) {
    return spec(object).path("gcsFaultToleranceOptions").isObject()
        || "true".equals(JsonFields.annotations(object).get("ray.io/ft-enabled"));
  }

  /** The image of the head's Ray container; empty if there is none. */
  String image(JsonNode object) {
    return spec(object).at("/headGroupSpec/template/spec/containers/0/image").asText();
  }

  /** Adds a container to a pod template. */
  static void addContainer(ObjectNode template, ObjectNode container) {
    ObjectNode spec = JsonFields.child(template, "spec");
    ArrayNode containers = JsonFields.array(spec.get("containers"));
    containers.add(container);
    spec.set("containers", containers);
  }

  /** The resources of a container. */
  static ObjectNode resources(String cpu, String memory, String cpuLimit, String memoryLimit) {
    ObjectNode resources = JsonNodeFactory.instance.objectNode();
    resources.putObject("requests").put("cpu", cpu).put("memory", memory);
    resources.putObject("limits").put("cpu", cpuLimit).put("memory", memoryLimit);
    return resources;
  }

  /** A limit below the least amount is raised with the request, which it may not be below. */
  private static void atLeast(ObjectNode container, String resource, String least) {
    ObjectNode resources = JsonFields.child(container, "resources");
    JsonNode request = resources.path("requests").path(resource);
    JsonNode limit = resources.path("limits").path(resource);
    if (isLess(request.isMissingNode() ? limit : request, least)) {
      JsonFields.child(resources, "requests").put(resource, least);
      if (!limit.isMissingNode() && isLess(limit, least)) {
        JsonFields.child(resources, "limits").put(resource, least);
      }
    }
  }

  private static boolean isLess(JsonNode amount, String other) {
    return amount.isMissingNode() || parsed(amount).compareTo(Quantities.parse(other)) < 0;
  }

  private static BigDecimal parsed(JsonNode amount) {
    try {
      return Quantities.parse(amount.asText());
    } catch (IllegalArgumentException refusedByTheApiServer) {
      return BigDecimal.ZERO;
    }
  }

  /**
   * What breaks the rules of a cluster in a queue.
   *
   * @param more how many pod sets there are besides those of the cluster
   */
  List<InvalidField> validate(JsonNode object, int more) {
    List<InvalidField> invalid = new ArrayList<>();
    if (scalesItself(object)) {
      invalid.add(
          new InvalidField(
              field("enableInTreeAutoscaling"),
              spec(object).path("enableInTreeAutoscaling"),
              "a job in a queue can't scale itself unless it is elastic, and elastic jobs are not"
                  + " supported yet"));
    }
    List<JsonNode> groups = JsonFields.list(spec(object), GROUPS);
    int most = MOST_POD_SETS - 1 - more;
    if (groups.size() > most) {
      invalid.add(
          new InvalidField(
              field(GROUPS),
              IntNode.valueOf(groups.size()),
              "a job in a queue must have at most " + most + " groups of workers"));
    }
    for (int i = 0; i < groups.size(); i++) {
      if (podSet(groups.get(i)).equals(HEAD)) {
        invalid.add(
            new InvalidField(
                field(GROUPS) + "[" + i + "].groupName",
                groups.get(i).path("groupName"),
                "is the name of the pod set of the head"));
      }
    }
    return invalid;
  }
}
