package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayService;
import java.util.List;

/**
 * The controller of RayServices: a RayCluster while the service's cluster is not suspended, and the
 * condition Ready while that cluster is ready.
 *
 * <p>The real controller differs: it suspends the RayCluster where this one deletes it, deploys
 * {@code serveConfigV2} and waits for its applications, makes Services, replaces the cluster by a
 * new one when its spec changes, and gives it a name with a random end.
 */
public final class PlayedRayService implements PlayedKind {

  @Override
  public JobKind kind() {
    return RayService.KIND;
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(RayCluster.KIND);
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    JsonNode spec = object.path("spec").path("rayClusterConfig");
    return spec.path("suspend").asBoolean() || !spec.isObject()
        ? List.of()
        : List.of(PlayedRayCluster.of(object, cluster(object), spec));
  }

  private static String cluster(JsonNode object) {
    return object.path("metadata").path("name").asText() + "-cluster";
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    boolean ready = children.stream().anyMatch(PlayedRayCluster::isReady);
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    if (!children.isEmpty()) {
      status
          .putObject(ready ? "activeServiceStatus" : "pendingServiceStatus")
          .put("rayClusterName", cluster(object));
    }
    status
        .put("numServeEndpoints", ready ? 1 : 0)
        .put("serviceStatus", ready ? "Running" : "")
        .putArray("conditions")
        .addObject()
        .put("type", "Ready")
        .put("status", ready ? "True" : "False")
        .put("reason", ready ? "NonZeroServeEndpoints" : "ZeroServeEndpoints")
        .put("message", "");
    return status;
  }
}
