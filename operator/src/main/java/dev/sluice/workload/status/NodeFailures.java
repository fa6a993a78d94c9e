package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.util.List;

/** Evictions of Workloads that lost nodes (docs/topology.md#failed-nodes). */
public final class NodeFailures {

  /** The reason of the evictions. */
  public static final String REASON = "NodeFailures";

  private NodeFailures() {}

  /** Sets the nodes that a status lists as failed. */
  public static ObjectNode list(ObjectNode status, List<String> nodes) {
    ArrayNode unhealthy = status.putArray("unhealthyNodes");
    nodes.forEach(node -> unhealthy.addObject().put("name", node));
    return status;
  }

  /** The status patch of an eviction. */
  public static ObjectNode evicted(CachedWorkload workload, String message, Instant now) {
    StatusPatch patch = StatusPatch.of(workload, now);
    return Evictions.evict(patch, workload, now, REASON, "", message).build();
  }
}
