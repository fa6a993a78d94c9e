package dev.sluice.jobs.kinds.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.TopologyRequests;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A role of pods in a SparkApplication, and the field of the spec that describes its pods: partly
 * in a pod template, partly in fields of its own, which come on top of the template.
 */
enum SparkRole {
  /** The one pod that is created first. */
  DRIVER("driver", "spark-kubernetes-driver"),
  /** The pods that the driver creates. */
  EXECUTOR("executor", "spark-kubernetes-executor");

  private static final String TEMPLATE = "template";
  private static final String LABELS = "labels";
  private static final String ANNOTATIONS = "annotations";
  private static final String NODE_SELECTOR = "nodeSelector";
  private static final String TOLERATIONS = "tolerations";
  private static final String GATES = "schedulingGates";

  /** The container of a template that is the executor's, if the template has one of this name. */
  private static final String EXECUTOR_CONTAINER = "executor";

  private static final Pattern JAVA_MEMORY =
      Pattern.compile("([0-9]++)\\s*+(?:([kmgtp])b?|(b))?", Pattern.CASE_INSENSITIVE);

  /** No amount of memory is longer; the API server takes any text for one. */
  private static final int LONGEST_MEMORY = 64;

  private final String field;
  private final String container;

  SparkRole(String field, String container) {
    this.field = field;
    this.container = container;
  }

  /** The name of the pod set. */
  String podSetName() {
    return field;
  }

  /** How many pods. */
  int count(JsonNode object) {
    return resources(object).count();
  }

  /** What Spark requests for a pod of the role. */
  SparkResources resources(JsonNode object) {
    return new SparkResources(object, field);
  }

  private JsonNode in(JsonNode object) {
    return JsonFields.at(object, "spec", field);
  }

  PodSetTemplate podSet(JsonNode object) {
    ObjectNode template = template(object);
    return new PodSetTemplate(
        podSetName(), count(object), 0, template, TopologyRequests.of(template, ""));
  }

  ReviewedPodSet reviewed(JsonNode object) {
    return new ReviewedPodSet(
        "spec." + field + "." + ANNOTATIONS,
        count(object),
        JsonFields.annotations(template(object)));
  }

  // ---- the template that the object's fields amount to

  private ObjectNode template(JsonNode object) {
    JsonNode role = in(object);
    ObjectNode template = JsonFields.object(role.path(TEMPLATE)).deepCopy();
    ObjectNode metadata = JsonFields.child(template, "metadata");
    putAll(metadata, LABELS, role.path(LABELS));
    putAll(metadata, ANNOTATIONS, role.path(ANNOTATIONS));
    ObjectNode spec = JsonFields.child(template, "spec");
    ArrayNode containers = JsonFields.array(spec.get("containers"));
    spec.set("containers", containers);
    compute(object, role, main(containers));
    append(spec, "containers", role.path("sidecars"));
    append(spec, "initContainers", role.path("initContainers"));
    append(spec, "volumes", JsonFields.at(object, "spec", "volumes"));
    append(spec, TOLERATIONS, role.path(TOLERATIONS));
    putAll(spec, NODE_SELECTOR, JsonFields.at(object, "spec", NODE_SELECTOR));
    putAll(spec, NODE_SELECTOR, role.path(NODE_SELECTOR));
    for (String taken : List.of("affinity", "priorityClassName", "runtimeClassName")) {
      if (role.hasNonNull(taken)) {
        spec.set(taken, role.get(taken).deepCopy());
      }
    }
    return template;
  }

  /** The container that Spark runs in. */
  private ObjectNode main(ArrayNode containers) {
    ObjectNode first = null;
    for (JsonNode each : containers) {
      if (each instanceof ObjectNode found) {
        if (this == EXECUTOR && found.path("name").asText().equals(EXECUTOR_CONTAINER)) {
          return found;
        }
        first = first == null ? found : first;
      }
    }
    return first == null ? containers.addObject().put("name", container) : first;
  }

  private void compute(JsonNode object, JsonNode role, ObjectNode main) {
    JsonNode image = role.hasNonNull("image") ? role.get("image") : object.at("/spec/image");
    if (image.isTextual()) {
      main.put("image", image.asText());
    }
    append(main, "volumeMounts", role.path("volumeMounts"));
    SparkResources resources = resources(object);
    Map<String, String> requests = new LinkedHashMap<>();
    Map<String, String> limits = new LinkedHashMap<>();
    put(requests, "cpu", resources.cpu(main.at("/resources/requests/cpu").asText("")));
    put(limits, "cpu", resources.cpuLimit());
    put(requests, "memory", resources.memory());
    put(limits, "memory", quantity(JsonFields.text(role, "memoryLimit")));
    resources.devices().forEach((name, amount) -> put(limits, name, amount));
    resources(main, "requests", requests);
    resources(main, "limits", limits);
  }

  private static void put(Map<String, String> amounts, String resource, String amount) {
    if (!resource.isEmpty() && !amount.isEmpty()) {
      amounts.put(resource, amount);
    }
  }

  private static void resources(ObjectNode main, String kind, Map<String, String> amounts) {
    if (!amounts.isEmpty()) {
      ObjectNode target = JsonFields.child(JsonFields.child(main, "resources"), kind);
      amounts.forEach(target::put);
    }
  }

  /** An amount of memory as Java and Spark write it, as a quantity; MiB if it has no unit. */
  private static String quantity(String memory) {
    if (memory.length() > LONGEST_MEMORY) {
      return memory.substring(0, LONGEST_MEMORY);
    }
    Matcher matcher = JAVA_MEMORY.matcher(memory.strip());
    if (!matcher.matches()) {
      return memory;
    }
    if (matcher.group(3) != null) {
      return matcher.group(1);
    }
    String unit = matcher.group(2) == null ? "m" : matcher.group(2).toLowerCase(Locale.ROOT);
    return matcher.group(1) + unit.toUpperCase(Locale.ROOT) + "i";
  }

  private static void putAll(ObjectNode parent, String field, JsonNode map) {
    map.properties().forEach(it -> JsonFields.child(parent, field).set(it.getKey(), it.getValue()));
  }

  private static void append(ObjectNode parent, String field, JsonNode added) {
    if (added.isArray() && !added.isEmpty()) {
      ArrayNode list = JsonFields.array(parent.get(field));
      added.forEach(it -> list.add(it.deepCopy()));
      parent.set(field, list);
    }
  }

  // ---- what a start gives, and a stop takes back

  boolean looksStarted(JsonNode object) {
    return in(object).path(LABELS).has(KueueConstants.PODSET);
  }

  /** Writes into the fields of the role what its template doesn't contradict. */
  void give(ObjectNode job, PodSetInfo start) throws StartConflictException {
    PodTemplateMerger.merge(template(job), start);
    ObjectNode role = JsonFields.child(JsonFields.child(job, "spec"), field);
    putAll(role, LABELS, start.labels());
    putAll(role, ANNOTATIONS, start.annotations());
    putAll(role, NODE_SELECTOR, start.nodeSelector());
    PodTemplateMerger.addTolerations(role, start.tolerations());
    if (!start.schedulingGates().isEmpty()) {
      PodTemplateMerger.addGates(
          JsonFields.child(JsonFields.child(role, TEMPLATE), "spec"), start.schedulingGates());
    }
  }

  private static void putAll(ObjectNode role, String field, Map<String, String> given) {
    given.forEach((key, value) -> JsonFields.child(role, field).put(key, value));
  }

  /**
   * Moves the node selector of the whole application into the roles: it must not have one of its
   * own where a role has one.
   */
  static void shareNodeSelector(ObjectNode job) {
    ObjectNode spec = JsonFields.child(job, "spec");
    if (spec.remove(NODE_SELECTOR) instanceof ObjectNode shared) {
      for (SparkRole role : values()) {
        JsonFields.fill(
            JsonFields.child(JsonFields.child(spec, role.field), NODE_SELECTOR), shared);
      }
    }
  }

  /**
   * Removes what the original did not have.
   *
   * @param original the pod set before the start; without it, only what is known to come from a
   *     start goes
   */
  void takeBack(ObjectNode job, Optional<ObjectNode> original) {
    if (!(in(job) instanceof ObjectNode role)) {
      return;
    }
    if (original.isEmpty()) {
      retain(role, LABELS, key -> !PodTemplateMerger.MARKS.contains(key));
      return;
    }
    JsonNode before = original.get();
    retain(role, LABELS, before.path("metadata").path(LABELS)::has);
    retain(role, ANNOTATIONS, before.path("metadata").path(ANNOTATIONS)::has);
    JsonNode spec = before.path("spec");
    retain(role, NODE_SELECTOR, spec.path(NODE_SELECTOR)::has);
    retainAll(role, TOLERATIONS, it -> PodTemplateMerger.contains(spec.path(TOLERATIONS), it));
    if (role.path(TEMPLATE).path("spec") instanceof ObjectNode pods && pods.has(GATES)) {
      retainAll(pods, GATES, it -> spec.path(GATES).valueStream().anyMatch(it::equals));
      removeIfEmpty(JsonFields.child(role, TEMPLATE), "spec");
      removeIfEmpty(role, TEMPLATE);
    }
  }

  private static void retain(ObjectNode role, String field, Predicate<String> kept) {
    if (role.get(field) instanceof ObjectNode map) {
      map.properties().removeIf(it -> !kept.test(it.getKey()));
      removeIfEmpty(role, field);
    }
  }

  private static void retainAll(ObjectNode holder, String field, Predicate<JsonNode> kept) {
    if (holder.get(field) instanceof ArrayNode list) {
      ArrayNode remaining = list.arrayNode();
      list.valueStream().filter(kept).forEach(remaining::add);
      holder.set(field, remaining);
      removeIfEmpty(holder, field);
    }
  }

  private static void removeIfEmpty(ObjectNode parent, String field) {
    if (parent.path(field).isEmpty()) {
      parent.remove(field);
    }
  }
}
