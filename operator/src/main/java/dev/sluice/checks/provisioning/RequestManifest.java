package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.NameHash;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.PodSetMergePolicy;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.PodRoleHash;
import dev.sluice.workload.record.PodTemplateParser;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What is created for one attempt (docs/provisioning.md#what-is-created).
 *
 * @param request the ProvisioningRequest
 * @param templates the templates of its pods by the name of the PodTemplate
 */
record RequestManifest(ObjectNode request, Map<String, ObjectNode> templates) {

  /** The group of the API of ProvisioningRequests. */
  static final String GROUP = "autoscaling.x-k8s.io";

  /** The version of that API. */
  static final String VERSION = "v1";

  /** The kind. */
  static final String KIND = "ProvisioningRequest";

  /** The resource. */
  static final String PLURAL = "provisioningrequests";

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** Pod sets that share one entry of the request. */
  private static final class Entry {

    private final String podSet;
    private final ObjectNode template;
    private final JsonNode key;
    private int count;

    private Entry(String podSet, ObjectNode template, JsonNode key) {
      this.podSet = podSet;
      this.template = template;
      this.key = key;
    }
  }

  /**
   * The manifest of a request.
   *
   * @param workload the Workload, with its admission
   * @param object the same Workload as the API server has it; its pod templates are copied
   * @param name of the request
   * @throws StartConflictException if the pods contradict their flavors, so that they can't start
   */
  static RequestManifest of(
      CachedWorkload workload,
      JsonNode object,
      String name,
      ProvisioningRequestConfigSpec config,
      FlavorLookup flavors)
      throws StartConflictException {
    List<Entry> entries = new ArrayList<>();
    for (PodSet podSet : ManagedPodSets.of(workload, config)) {
      add(entries, podSet, template(workload, object, podSet, flavors), config.podSetMergePolicy());
    }
    Map<String, ObjectNode> templates = new LinkedHashMap<>();
    ArrayNode podSets = JSON.arrayNode();
    for (Entry entry : entries) {
      String reference = RequestNames.template(name, entry.podSet);
      templates.put(reference, entry.template);
      podSets
          .addObject()
          .put("count", entry.count)
          .putObject("podTemplateRef")
          .put("name", reference);
    }
    return new RequestManifest(request(workload, name, config, podSets), templates);
  }

  /**
   * Whether a request asks for what this one would: for as many pods of each PodTemplate, and for
   * no less by each. An API server may have rounded amounts up, and have added defaults.
   *
   * @param present the PodTemplates of the request that exist, by name
   */
  boolean isCoveredBy(CachedRequest other, Map<String, JsonNode> present) {
    return other.pods().equals(CachedRequest.pods(request.path("spec").path("podSets")))
        && templates.entrySet().stream()
            .allMatch(
                each ->
                    covers(
                        present.getOrDefault(each.getKey(), JSON.objectNode()).path("template"),
                        each.getValue()));
  }

  /** Whether pods of a template need nodes that are no smaller than those of other pods. */
  static boolean covers(JsonNode template, JsonNode wanted) {
    Map<String, Long> requested =
        PodTemplateParser.requests(template.path("spec"), UnaryOperator.identity());
    JsonNode selected = template.path("spec").path("nodeSelector");
    return PodTemplateParser.requests(wanted.path("spec"), UnaryOperator.identity())
            .entrySet()
            .stream()
            .allMatch(it -> requested.getOrDefault(it.getKey(), 0L) >= it.getValue())
        && wanted.path("spec").path("nodeSelector").properties().stream()
            .allMatch(it -> selected.path(it.getKey()).equals(it.getValue()));
  }

  private static void add(
      List<Entry> entries, PodSet podSet, ObjectNode template, @Nullable PodSetMergePolicy policy) {
    JsonNode key = policy == null ? JSON.textNode(podSet.name()) : key(template, policy);
    for (Entry known : entries) {
      if (known.key.equals(key)) {
        known.count += podSet.count();
        return;
      }
    }
    Entry entry = new Entry(podSet.name(), template, key);
    entry.count = podSet.count();
    entries.add(entry);
  }

  /** Pod sets with equal keys are merged. */
  private static JsonNode key(ObjectNode template, PodSetMergePolicy policy) {
    return switch (policy) {
      case IDENTICAL_POD_TEMPLATES -> template;
      case IDENTICAL_WORKLOAD_SCHEDULING_REQUIREMENTS ->
          SchedulingRequirements.of(template.path("spec"));
    };
  }

  /**
   * The template of the pods of every pod set, by the name that its PodTemplate has in a request in
   * which it is the first of its entry.
   */
  static Map<String, ObjectNode> templates(
      CachedWorkload workload, JsonNode object, String request, FlavorLookup flavors)
      throws StartConflictException {
    Map<String, ObjectNode> result = new LinkedHashMap<>();
    for (PodSet podSet : workload.spec().podSets()) {
      result.put(
          RequestNames.template(request, podSet.name()),
          template(workload, object, podSet, flavors));
    }
    return result;
  }

  /** The template of the pods of a pod set, on the nodes of their flavors. */
  static ObjectNode template(
      CachedWorkload workload, JsonNode object, PodSet podSet, FlavorLookup flavors)
      throws StartConflictException {
    ObjectNode result = JSON.objectNode();
    for (JsonNode each : object.path("spec").path("podSets")) {
      if (each.path("name").asText("main").equals(podSet.name())
          && each.path("template") instanceof ObjectNode template) {
        result = template.deepCopy();
      }
    }
    PodTemplateMerger.merge(result, ofFlavors(workload, podSet, flavors));
    AcceptableTemplate.complete(result);
    return result;
  }

  /** What the assigned flavors give to pods, without which they would ask for other nodes. */
  private static PodSetInfo ofFlavors(
      CachedWorkload workload, PodSet podSet, FlavorLookup flavors) {
    Map<String, String> nodeSelector = new LinkedHashMap<>();
    Set<ObjectNode> tolerations = new LinkedHashSet<>();
    for (Assignment assignment : workload.assignments()) {
      if (assignment.name().equals(podSet.name())) {
        for (String flavor : new LinkedHashSet<>(new TreeMap<>(assignment.flavors()).values())) {
          flavors
              .find(flavor)
              .ifPresent(
                  it -> {
                    nodeSelector.putAll(it.nodeLabels());
                    tolerations.addAll(it.tolerations());
                  });
        }
      }
    }
    return new PodSetInfo(
        podSet.name(),
        podSet.count(),
        Map.of(),
        Map.of(),
        nodeSelector,
        List.copyOf(tolerations),
        List.of());
  }

  private static ObjectNode request(
      CachedWorkload workload,
      String name,
      ProvisioningRequestConfigSpec config,
      ArrayNode podSets) {
    ObjectNode request = JSON.objectNode();
    request.put("apiVersion", apiVersion()).put("kind", KIND);
    ObjectNode metadata = metadata(request, workload.id().namespace(), name);
    metadata
        .putObject("annotations")
        .put(CachedRequest.RESERVATION, ProvisioningPolicy.reservation(workload))
        .put(CachedRequest.DIGEST, digest(workload, config, ManagedPodSets.of(workload, config)));
    own(
        metadata,
        ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
        "Workload",
        workload.id().name(),
        workload.id().uid());
    ObjectNode spec = request.putObject("spec");
    spec.put("provisioningClassName", config.provisioningClassName());
    Map<String, String> parameters = parameters(workload, config);
    if (!parameters.isEmpty()) {
      parameters.forEach(spec.putObject("parameters")::put);
    }
    spec.set("podSets", podSets);
    return request;
  }

  /**
   * A digest of what is requested: class, parameters, and of each pod set its name, its count and
   * its flavors. A request with another one was made for something else.
   *
   * @param podSets those that need nodes
   */
  static String digest(
      CachedWorkload workload, ProvisioningRequestConfigSpec config, List<PodSet> podSets) {
    ObjectNode content = JSON.objectNode().put("class", config.provisioningClassName());
    parameters(workload, config).forEach(content.putObject("parameters")::put);
    ArrayNode pods = content.putArray("podSets");
    for (PodSet podSet : podSets) {
      ObjectNode entry = pods.addObject().put("name", podSet.name()).put("count", podSet.count());
      for (Assignment assignment : workload.assignments()) {
        if (assignment.name().equals(podSet.name())) {
          new TreeMap<>(assignment.flavors()).forEach(entry.putObject("flavors")::put);
        }
      }
    }
    return NameHash.sha1(content.toString());
  }

  private static Map<String, String> parameters(
      CachedWorkload workload, ProvisioningRequestConfigSpec config) {
    Map<String, String> result = new TreeMap<>(config.parameters());
    workload
        .annotations()
        .forEach(
            (key, value) -> {
              if (key.startsWith(KueueConstants.PROVISIONING_REQUEST_PREFIX)) {
                result.put(
                    key.substring(KueueConstants.PROVISIONING_REQUEST_PREFIX.length()), value);
              }
            });
    return result;
  }

  /**
   * A PodTemplate.
   *
   * @param name of the PodTemplate
   * @param template of the pods
   * @param request the request that it is part of
   */
  static ObjectNode podTemplate(String name, JsonNode template, CachedRequest request) {
    ObjectNode result = JSON.objectNode().put("apiVersion", "v1").put("kind", "PodTemplate");
    own(
        metadata(result, request.namespace(), name),
        apiVersion(),
        KIND,
        request.name(),
        request.uid());
    result.set("template", template);
    return result;
  }

  private static String apiVersion() {
    return GROUP + "/" + VERSION;
  }

  private static ObjectNode metadata(ObjectNode object, String namespace, String name) {
    ObjectNode metadata = object.putObject("metadata").put("namespace", namespace);
    metadata.put("name", name).putObject("labels").put(KueueConstants.MANAGED, "true");
    return metadata;
  }

  /** The owner may be deleted first: what it owns goes with it. */
  static void own(ObjectNode metadata, String apiVersion, String kind, String name, String uid) {
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", apiVersion)
        .put("kind", kind)
        .put("name", name)
        .put("uid", uid)
        .put("controller", true);
  }

  /** Whatever decides where the pods of a template run: templates with equal ones are merged. */
  private static final class SchedulingRequirements {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final String INIT = "initContainers";
    private static final String RESTART_POLICY = "restartPolicy";

    private SchedulingRequirements() {}

    /** The requirements of a pod's spec, which is left as it is. */
    static JsonNode of(JsonNode spec) {
      ObjectNode copy = PodRoleHash.withLimitsRequested(spec);
      ObjectNode result = JSON.objectNode();
      ArrayNode restartPolicies = result.putArray(RESTART_POLICY);
      for (String field : List.of("containers", INIT)) {
        copy.path(field).forEach(SchedulingRequirements::retainHostPorts);
      }
      // one that keeps running adds its requests to those of the containers
      copy.path(INIT).forEach(it -> restartPolicies.add(it.path(RESTART_POLICY).asText("")));
      return result.set("shape", PodRoleHash.of(copy).hashed());
    }

    /** Other ports take none of the node's. */
    private static void retainHostPorts(JsonNode container) {
      if (container.path("ports") instanceof ArrayNode ports) {
        ports.removeIf(it -> it.path("hostPort").asInt() <= 0);
      }
    }
  }

  /**
   * Makes a Workload's template one that the API server accepts in a PodTemplate
   * (docs/provisioning.md#what-is-created). Templates of Workloads may lack what the job's
   * controller adds to its pods: images of sidecars, or the volumes of claim templates. None of it
   * decides where pods may run.
   */
  static final class AcceptableTemplate {

    /** Nobody pulls it. */
    static final String IMAGE = "sluice.dev/unknown";

    private static final String MAIN = "containers";
    private static final String RESTART_POLICY = "restartPolicy";

    private AcceptableTemplate() {}

    /** Changes a template. */
    static void complete(ObjectNode template) {
      ObjectNode spec = template.withObjectProperty("spec");
      spec.remove("ephemeralContainers");
      if (spec.path(MAIN).isEmpty()) {
        spec.set(
            MAIN, JsonNodeFactory.instance.arrayNode().add(JsonNodeFactory.instance.objectNode()));
      }
      Set<String> volumes = new HashSet<>();
      spec.path("volumes").forEach(volume -> volumes.add(volume.path("name").asText()));
      for (String list : List.of(MAIN, "initContainers")) {
        int number = 0;
        for (JsonNode each : spec.path(list)) {
          number++;
          if (each instanceof ObjectNode container) {
            replaceIfEmpty(container, "name", list.equals(MAIN) ? "c" + number : "i" + number);
            replaceIfEmpty(container, "image", IMAGE);
            retain(container, "volumeMounts", volumes);
            retain(container, "volumeDevices", volumes);
            if (list.equals(MAIN)) {
              container.remove(List.of(RESTART_POLICY, "restartPolicyRules"));
            }
          }
        }
      }
    }

    private static void replaceIfEmpty(ObjectNode container, String field, String value) {
      if (container.path(field).asText("").isEmpty()) {
        container.put(field, value);
      }
    }

    private static void retain(ObjectNode container, String field, Set<String> volumes) {
      if (container.path(field) instanceof ArrayNode list) {
        list.removeIf(it -> !volumes.contains(it.path("name").asText()));
        if (list.isEmpty()) {
          container.remove(field);
        }
      }
    }
  }

  /** Names of ProvisioningRequests and PodTemplates (docs/provisioning.md#what-is-created). */
  static final class RequestNames {

    private static final int LONGEST = 247;
    private static final int HASH = 5;

    private RequestNames() {}

    /**
     * The name of a request.
     *
     * @param attempt 1 for the first
     */
    static String request(String workload, String check, int attempt) {
      return cut(workload + "-" + check + "-" + attempt);
    }

    /** The name of the PodTemplate of a pod set. */
    static String template(String request, String podSet) {
      return cut("ppt-" + request + "-" + podSet);
    }

    /** The name of an object that asks for nodes of a pod set in an attempt. */
    static String holder(String request, String podSet, String suffix) {
      return cut(request + "-" + podSet + suffix);
    }

    private static String cut(String name) {
      return name.length() <= LONGEST
          ? name
          : name.substring(0, LONGEST) + "-" + NameHash.sha1(name).substring(0, HASH);
    }
  }
}
