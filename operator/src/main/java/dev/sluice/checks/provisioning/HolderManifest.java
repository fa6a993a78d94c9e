package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import dev.sluice.workload.record.PodTemplateParser;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The objects that ask for nodes (docs/node-capacity.md#what-is-created). */
final class HolderManifest {

  /** The PriorityClass of placeholder pods, which the installation contains. */
  static final String PRIORITY_CLASS = NodeCapacityAnnotations.PLACEHOLDER_PRIORITY;

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** What decides where a pod may run, and is the same for a placeholder. */
  private static final List<String> PLACEMENT =
      List.of("nodeSelector", "tolerations", "schedulerName", "runtimeClassName");

  private HolderManifest() {}

  /**
   * A placeholder pod.
   *
   * @param template of the pods that the place is kept for
   */
  static ObjectNode pod(
      CachedWorkload workload,
      CapacityHolder.Purpose purpose,
      String name,
      String image,
      ObjectNode template) {
    ObjectNode pod = object(workload, purpose, "v1", "Pod", name);
    // an autoscaler that empties a node would take back what it has just given
    pod.withObjectProperty("metadata")
        .withObjectProperty("annotations")
        .put("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
        .put("karpenter.sh/do-not-disrupt", "true");
    pod.set("spec", spec(template.path("spec"), image));
    return pod;
  }

  /** A buffer of places for pods, whose PodTemplate has the buffer's name. */
  static ObjectNode buffer(
      CachedWorkload workload,
      CapacityHolder.Purpose purpose,
      String apiVersion,
      NodeCapacityPolicy.Wanted wanted) {
    ObjectNode buffer = object(workload, purpose, apiVersion, "CapacityBuffer", wanted.name());
    buffer
        .putObject("spec")
        .put("replicas", wanted.podSet().count())
        .putObject("podTemplateRef")
        .put("name", wanted.name());
    return buffer;
  }

  /** The PodTemplate of a buffer, which controls it. */
  static ObjectNode podTemplate(CapacityHolder holder, String image, ObjectNode template) {
    ObjectNode result = JSON.objectNode().put("apiVersion", "v1").put("kind", "PodTemplate");
    ObjectNode metadata =
        result
            .putObject("metadata")
            .put("namespace", holder.path().namespace())
            .put("name", holder.name());
    metadata.putObject("labels").put(NodeCapacityAnnotations.PLACEHOLDER, "true");
    RequestManifest.own(
        metadata, holder.path().apiVersion(), "CapacityBuffer", holder.name(), holder.uid());
    result.putObject("template").set("spec", spec(template.path("spec"), image));
    return result;
  }

  private static ObjectNode object(
      CachedWorkload workload,
      CapacityHolder.Purpose purpose,
      String apiVersion,
      String kind,
      String name) {
    ObjectNode result = JSON.objectNode().put("apiVersion", apiVersion).put("kind", kind);
    ObjectNode metadata =
        result.putObject("metadata").put("namespace", workload.id().namespace()).put("name", name);
    metadata.putObject("labels").put(NodeCapacityAnnotations.PLACEHOLDER, "true");
    metadata
        .putObject("annotations")
        .put(CapacityHolder.CHECK, purpose.check())
        .put(CapacityHolder.POD_SET, purpose.podSet())
        .put(CachedRequest.DIGEST, purpose.digest());
    RequestManifest.own(
        metadata,
        ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
        "Workload",
        workload.id().name(),
        workload.id().uid());
    return result;
  }

  /** A limit is the request where the latter is absent, as for the API server. */
  private static Container defaulted(Container container) {
    Map<String, Long> requests = new HashMap<>(container.resources().limits());
    requests.putAll(container.resources().requests());
    return new Container(
        container.name(),
        new ResourceNeeds(requests, container.resources().limits()),
        container.restartable());
  }

  /** A pod that does nothing, with the requests of another one and on the same nodes. */
  private static ObjectNode spec(JsonNode original, String image) {
    ObjectNode spec = JSON.objectNode();
    for (String field : PLACEMENT) {
      if (original.hasNonNull(field)) {
        spec.set(field, original.path(field));
      }
    }
    JsonNode nodeAffinity = original.path("affinity").path("nodeAffinity");
    if (nodeAffinity.isObject()) {
      spec.putObject("affinity").set("nodeAffinity", nodeAffinity);
    }
    spec.put("priorityClassName", PRIORITY_CLASS)
        .put("terminationGracePeriodSeconds", 0)
        .put("automountServiceAccountToken", false)
        .put("enableServiceLinks", false);
    spec.putObject("securityContext")
        .put("runAsNonRoot", true)
        .put("runAsUser", 65_535)
        .putObject("seccompProfile")
        .put("type", "RuntimeDefault");
    ObjectNode container =
        spec.putArray("containers").addObject().put("name", "placeholder").put("image", image);
    ObjectNode amounts = JSON.objectNode();
    PodTemplateParser.requests(original, HolderManifest::defaulted)
        .forEach(
            (resource, amount) -> {
              if (amount > 0 && !resource.equals("pods")) {
                amounts.put(resource, Quantities.format(resource, amount));
              }
            });
    ObjectNode resources = container.putObject("resources");
    resources.set("requests", amounts);
    resources.set("limits", amounts.deepCopy());
    container
        .putObject("securityContext")
        .put("allowPrivilegeEscalation", false)
        .putObject("capabilities")
        .putArray("drop")
        .add("ALL");
    return spec;
  }
}
