package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A pod set of a job, with its whole template.
 *
 * @param name its name
 * @param count how many pods
 * @param minCount with how few it may start; 0 when it must be all
 * @param template the pod template: metadata (labels and annotations) and spec
 * @param topologyRequest what it asks of the topology, in the API's form
 */
public record PodSetTemplate(
    String name,
    int count,
    int minCount,
    ObjectNode template,
    Optional<ObjectNode> topologyRequest) {

  /** The most pod sets that a Workload can have. */
  public static final int MOST = 18;

  /** The pod sets of a Workload, as its object says. */
  public static List<PodSetTemplate> listOf(JsonNode workload) {
    List<PodSetTemplate> result = new ArrayList<>();
    for (JsonNode podSet : workload.path("spec").path("podSets")) {
      if (podSet.path("template") instanceof ObjectNode template) {
        result.add(
            new PodSetTemplate(
                podSet.path("name").asText(),
                podSet.path("count").asInt(),
                podSet.path("minCount").asInt(),
                template,
                Optional.empty()));
      }
    }
    return result;
  }

  /** A pod set of so many times as many pods; at most {@link Integer#MAX_VALUE}. */
  public PodSetTemplate times(int factor) {
    return new PodSetTemplate(
        name,
        (int) Math.min(Integer.MAX_VALUE, (long) count * factor),
        minCount,
        template,
        topologyRequest);
  }
}
