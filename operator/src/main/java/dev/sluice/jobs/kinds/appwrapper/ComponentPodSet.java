package dev.sluice.jobs.kinds.appwrapper;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.TopologyRequests;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A set of equal pods that a component of an AppWrapper makes.
 *
 * @param path the path of the template in the component
 * @param replicas how many pods; at least 0
 * @param template the pod template; a Pod is its own template; empty if the path leads nowhere
 * @param topology the labels by which its pods tell their place
 */
record ComponentPodSet(String path, int replicas, ObjectNode template, Topology topology) {

  private static final String PREFIX = "workload.codeflare.dev.appwrapper/tas-";
  private static final Pattern STEP = Pattern.compile("([^\\[\\]]+)(?:\\[(\\d{1,6})])?");

  /**
   * The labels by which pods tell their place.
   *
   * @param index the pod's place in the pod set, or in its group; empty if pods don't tell
   * @param group the place of the pod's group; empty if there are no groups
   * @param groups how many groups there are
   */
  record Topology(String index, String group, int groups) {

    static final Topology NONE = of("");

    static Topology of(String index) {
      return new Topology(index, "", 0);
    }

    private Optional<ObjectNode> requestOf(JsonNode template) {
      Optional<ObjectNode> request = TopologyRequests.of(template, index);
      request.filter(it -> index.isEmpty()).ifPresent(it -> it.remove("podIndexLabel"));
      if (!group.isEmpty()) {
        request.ifPresent(it -> it.put("subGroupIndexLabel", group).put("subGroupCount", groups));
      }
      return request;
    }
  }

  /** The pod set whose template is at a path such as {@code template.spec.items[0].template}. */
  static ComponentPodSet at(JsonNode component, String path, long replicas, Topology topology) {
    return new ComponentPodSet(
        path,
        (int) Math.clamp(replicas, 0, Integer.MAX_VALUE),
        resolve(component, path) instanceof ObjectNode found
            ? found
            : JsonNodeFactory.instance.objectNode(),
        topology);
  }

  /** Those that a component declares, or else those that its kind is known to make. */
  static List<ComponentPodSet> of(JsonNode component) {
    List<JsonNode> declared = JsonFields.list(component, "podSets");
    return declared.isEmpty()
        ? KnownComponents.podSets(component)
        : declared.stream().map(it -> declared(component, it)).toList();
  }

  private static ComponentPodSet declared(JsonNode component, JsonNode podSet) {
    JsonNode annotations = podSet.path("annotations");
    return at(
        component,
        podSet.path("path").asText(),
        podSet.path("replicas").asLong(1),
        new Topology(
            annotations.path(PREFIX + "pod-index-label").asText(),
            annotations.path(PREFIX + "sub-group-index-label").asText(),
            Math.max(0, annotations.path(PREFIX + "sub-group-count").asInt())));
  }

  /**
   * Those of all components; of too many no more than tell that there are: many pod sets may share
   * one large template.
   */
  static List<ComponentPodSet> of(List<JsonNode> components) {
    return components.stream()
        .flatMap(component -> of(component).stream())
        .limit(PodSetTemplate.MOST + 1L)
        .toList();
  }

  /** The same for those who judge what the templates ask for. */
  static List<ReviewedPodSet> reviewed(List<JsonNode> components) {
    return IntStream.range(0, components.size())
        .boxed()
        .flatMap(
            i ->
                of(components.get(i)).stream()
                    .map(
                        podSet ->
                            ReviewedPodSet.ofTemplate(
                                "spec.components[" + i + "]." + podSet.path,
                                podSet.replicas,
                                podSet.template)))
        .limit(PodSetTemplate.MOST + 1L)
        .toList();
  }

  /** The pod set of a Workload. */
  PodSetTemplate named(String name) {
    return new PodSetTemplate(name, replicas, 0, template, topologyRequest());
  }

  Optional<ObjectNode> topologyRequest() {
    return topology.requestOf(template);
  }

  /**
   * Names separated by dots, each of which may have an index; missing if the path leads nowhere.
   */
  private static JsonNode resolve(JsonNode component, String path) {
    JsonNode found = component;
    for (String step : path.split("\\.", -1)) {
      Matcher matcher = STEP.matcher(step);
      if (!matcher.matches()) {
        return MissingNode.getInstance();
      }
      found = found.path(matcher.group(1));
      if (matcher.group(2) != null) {
        found = found.path(Integer.parseInt(matcher.group(2)));
      }
    }
    return found;
  }
}
