package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.TemplatedJob.Index;
import dev.sluice.jobs.kind.TemplatedJob.PodSetSlot;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The pods of a Ray cluster whose spec is somewhere in an object: a head, and groups of workers.
 *
 * @param path path of the spec
 */
record RayPods(List<String> path) implements MultiKueueRules.RemoteScaling {

  /** Annotations that tell a manager's job what a worker made of it; no worker gets them. */
  static final List<String> OF_THE_MANAGER =
      List.of(KueueConstants.RAYCLUSTER_GENERATION, KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES);

  /** The pod set of the head. */
  static final String HEAD = "head";

  private static final String GROUPS = "workerGroupSpecs";
  private static final String LEAST = "minReplicas";
  private static final String GREATEST = "maxReplicas";
  private static final String GROUP_NAME = "groupName";
  private static final String AUTOSCALING = "enableInTreeAutoscaling";
  private static final String MANAGED_BY = "managedBy";
  private static final String HEAD_CONTAINERS = "/headGroupSpec/template/spec/containers";
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
    return group.path(GROUP_NAME).asText().toLowerCase(Locale.ROOT);
  }

  /**
   * The head and the groups, in the order of the object. Where the job follows the size of its
   * cluster, the groups have as many replicas as there, or as many pods as an annotation says that
   * they have in another cluster.
   */
  List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    String at = "/" + String.join("/", path);
    slots.add(PodSetSlot.of(object, HEAD, 1, at + "/headGroupSpec/template", NO_INDEX));
    List<JsonNode> groups = JsonFields.list(spec(object), GROUPS);
    Map<String, JsonNode> namesakes = byName(JobReference.specOf(object));
    Map<String, Long> told = scalesRemotely(object) ? told(object) : Map.of();
    for (int i = 0; i < groups.size(); i++) {
      JsonNode group = groups.get(i);
      slots.add(
          PodSetSlot.of(
              object,
              podSet(group),
              told.getOrDefault(podSet(group), count(group, namesakes)),
              at + "/" + GROUPS + "/" + i + "/template",
              NO_INDEX));
    }
    return slots;
  }

  /**
   * The pod sets whose number of pods isn't that of the job's own spec, because the job follows the
   * size of its cluster.
   */
  ArrayNode followed(JsonNode object) {
    ArrayNode followed = JsonNodeFactory.instance.arrayNode();
    Map<String, JsonNode> namesakes = byName(JobReference.specOf(object));
    for (JsonNode group : JsonFields.list(spec(object), GROUPS)) {
      long count = count(group, namesakes);
      if (count != count(group, Map.of())) {
        followed.addObject().put("name", podSet(group)).put("count", count);
      }
    }
    return followed;
  }

  /** Whether the cluster is scaled by the worker cluster that it is sent to. */
  @Override
  public boolean scalesRemotely(JsonNode object) {
    return scalesItself(object) && isSentElsewhere(object) && isElastic(object);
  }

  private static boolean isElastic(JsonNode object) {
    return "true".equals(JsonFields.annotations(object).get(KueueConstants.ELASTIC_JOB));
  }

  /**
   * The numbers of pods of the groups in a worker: those that an annotation there tells of the
   * cluster of a job, else those of the spec.
   */
  @Override
  public Map<String, Integer> remoteCounts(JsonNode local, JsonNode remote) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    Map<String, JsonNode> namesakes = byName(spec(remote));
    Map<String, Long> told = told(remote);
    for (JsonNode group : JsonFields.list(spec(local), GROUPS)) {
      long count = told.getOrDefault(podSet(group), count(group, namesakes));
      counts.put(podSet(group), (int) Math.clamp(count, 0, bound(group)));
    }
    return counts;
  }

  /** How many pods a group may have at most. */
  private static int bound(JsonNode group) {
    int replicas =
        Math.max(group.path(GREATEST).asInt(Integer.MAX_VALUE), replicas(group, Map.of()));
    return (int) Math.min(workers(replicas, group), Integer.MAX_VALUE);
  }

  @Override
  public Map<String, String> sizeAnnotations(Map<String, Integer> counts) {
    ArrayNode sizes = JsonNodeFactory.instance.arrayNode();
    counts.forEach((podSet, count) -> sizes.addObject().put("name", podSet).put("count", count));
    return Map.of(KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES, sizes.toString());
  }

  /** The numbers of pods that the annotation of a job tells; without what can't be read. */
  private static Map<String, Long> told(JsonNode object) {
    String text =
        JsonFields.annotations(object)
            .getOrDefault(KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES, "[]");
    Map<String, Long> counts = new HashMap<>();
    try {
      for (JsonNode size : JsonMappers.JSON.readTree(text)) {
        if (size.path("count").isIntegralNumber()) {
          counts.put(size.path("name").asText(), Math.max(0, size.path("count").asLong()));
        }
      }
    } catch (JsonProcessingException notWrittenByAnOperator) {
      return Map.of();
    }
    return counts;
  }

  /** The groups in the spec of a cluster, by name. */
  private static Map<String, JsonNode> byName(JsonNode cluster) {
    Map<String, JsonNode> groups = new HashMap<>();
    for (JsonNode group : JsonFields.list(cluster, GROUPS)) {
      groups.putIfAbsent(group.path(GROUP_NAME).asText(), group);
    }
    return groups;
  }

  /** The number of pods of a group, or of its namesake in the spec of a cluster. */
  private static long count(JsonNode group, Map<String, JsonNode> namesakes) {
    return workers(replicas(group, namesakes), group);
  }

  /** The number of pods of a group of workers whose spec stands alone. */
  static long workers(JsonNode group) {
    return workers(replicas(group, Map.of()), group);
  }

  private static long workers(int replicas, JsonNode group) {
    return Math.max(0, replicas) * (long) Math.max(1, group.path("numOfHosts").asInt(1));
  }

  /** What the spec of a cluster says of its size. */
  static JsonNode sizes(JsonNode cluster) {
    ObjectNode sizes = JsonNodeFactory.instance.objectNode();
    ArrayNode groups = sizes.putArray(GROUPS);
    for (JsonNode group : JsonFields.list(cluster, GROUPS)) {
      ObjectNode size = groups.addObject();
      for (String field : List.of(GROUP_NAME, "replicas", LEAST)) {
        if (group.has(field)) {
          size.set(field, group.get(field));
        }
      }
    }
    return sizes;
  }

  /** Gives the groups of a cluster in another object the replicas that they have in this one. */
  void resize(JsonNode object, ObjectNode other) {
    Map<String, JsonNode> namesakes = byName(spec(object));
    for (JsonNode group : JsonFields.list(spec(other), GROUPS)) {
      if (group instanceof ObjectNode resized) {
        resized.put("replicas", Math.max(0, replicas(group, namesakes)));
      }
    }
  }

  /**
   * The replicas of a group, or those of its namesake in the spec of a cluster. KubeRay makes
   * minReplicas of a group that says fewer.
   */
  private static int replicas(JsonNode group, Map<String, JsonNode> namesakes) {
    JsonNode size = namesakes.getOrDefault(group.path(GROUP_NAME).asText(), group);
    return Math.max(size.path("replicas").asInt(1), size.path(LEAST).asInt());
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

  /** Whether the cluster changes its own size. */
  boolean scalesItself(JsonNode object) {
    return spec(object).path(AUTOSCALING).asBoolean();
  }

  private boolean isSentElsewhere(JsonNode object) {
    return object.path("spec").path(MANAGED_BY).asText().equals(KueueConstants.MULTIKUEUE)
        || spec(object).path(MANAGED_BY).asText().equals(KueueConstants.MULTIKUEUE);
  }

  /** Whether the cluster survives the loss of its head; then its state is in a Redis database. */
  boolean keepsStateInRedis(JsonNode object) {
    return spec(object).path("gcsFaultToleranceOptions").isObject()
        || "true".equals(JsonFields.annotations(object).get("ray.io/ft-enabled"));
  }

  /** The container that submits a Ray job, as KubeRay makes it: with the image of the head. */
  ObjectNode submitter(JsonNode object) {
    ObjectNode container = JsonNodeFactory.instance.objectNode().put("name", "ray-job-submitter");
    String image = image(object);
    if (!image.isEmpty()) {
      container.put("image", image);
    }
    container.set("resources", resources("500m", "200Mi", "1", "1Gi"));
    return container;
  }

  /** The image of the head's Ray container; empty if there is none. */
  private String image(JsonNode object) {
    return spec(object).at(HEAD_CONTAINERS + "/0/image").asText();
  }

  /** Adds a container to a pod template. */
  static void addContainer(ObjectNode template, ObjectNode container) {
    ObjectNode spec = JsonFields.child(template, "spec");
    ArrayNode containers = JsonFields.array(spec.get("containers"));
    containers.add(container);
    spec.set("containers", containers);
  }

  /** The resources of a container. */
  private static ObjectNode resources(
      String cpu, String memory, String cpuLimit, String memoryLimit) {
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

  /** What is wrong with an elastic cluster where those that scale themselves may not be sent. */
  List<InvalidField> validateScaling(JsonNode object) {
    return scalesItself(object) && isSentElsewhere(object)
        ? List.of(
            new InvalidField(
                field(AUTOSCALING),
                spec(object).path(AUTOSCALING),
                "an elastic job that is sent to worker clusters can't scale itself without the"
                    + " feature gate MultiKueueRayInTreeAutoscaling"))
        : List.of();
  }

  /**
   * What breaks the rules of a cluster in a queue.
   *
   * @param more how many pod sets there are besides those of the cluster
   * @param elastic whether the job may change its size while it runs
   */
  List<InvalidField> validate(JsonNode object, int more, boolean elastic) {
    List<InvalidField> invalid = new ArrayList<>();
    if (scalesItself(object) && !elastic) {
      invalid.add(
          new InvalidField(
              field(AUTOSCALING),
              spec(object).path(AUTOSCALING),
              "a job in a queue can't scale itself unless it is elastic: annotation "
                  + KueueConstants.ELASTIC_JOB
                  + "=true"));
    }
    JsonNode head = spec(object).at(HEAD_CONTAINERS);
    if (head.isEmpty()) {
      invalid.add(
          new InvalidField(
              field("headGroupSpec.template.spec.containers"),
              head,
              "the head of a cluster in a queue must have a container"));
    }
    List<JsonNode> groups = JsonFields.list(spec(object), GROUPS);
    int most = PodSetTemplate.MOST - 1 - more;
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
                groups.get(i).path(GROUP_NAME),
                "is the name of the pod set of the head"));
      }
    }
    return invalid;
  }
}
