package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.node.ObjectNode;
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
}
