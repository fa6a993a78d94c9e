package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import java.util.List;
import java.util.Optional;

/**
 * RayClusters: a pod set for the head, and one per group of workers. A cluster never finishes. A
 * RayCluster that a RayJob or RayService creates is left alone.
 */
public final class RayCluster extends RayKind {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("ray.io", "v1", "RayCluster");

  /** RayClusters. */
  public RayCluster() {
    super(KIND, new RayPods(List.of("spec")));
  }

  /** How many pods KubeRay makes of a group of workers, as the spec of a cluster says it. */
  public static long workers(JsonNode group) {
    return RayPods.workers(group);
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .withPodFields("state", "readyWorkerReplicas", "availableWorkerReplicas")
            .withoutAnnotations(RayPods.OF_THE_MANAGER)
            .resizedBy(pods()::resize)
            .scaledBy(pods()));
  }

  @Override
  protected List<String> clusters(JsonNode object) {
    return List.of(object.path("metadata").path("name").asText());
  }

  /**
   * A cluster that is not ready can have workers, when it comes up and when it is suspended: their
   * quota must not be given away.
   */
  @Override
  protected boolean active(JsonNode object) {
    JsonNode status = object.path("status");
    return podsReady(object)
        || status.path("readyWorkerReplicas").asInt() > 0
        || status.path("availableWorkerReplicas").asInt() > 0;
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return object.path("status").path("state").asText().equals("ready");
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return Optional.empty();
  }
}
