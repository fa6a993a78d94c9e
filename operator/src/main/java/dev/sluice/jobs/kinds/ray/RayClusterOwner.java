package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.ReferencedKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A kind of Ray whose controller makes a RayCluster. If an elastic job scales itself, its size is
 * that of the RayCluster, which the scaler writes (docs/ray.md#elastic).
 */
abstract class RayClusterOwner extends RayKind {

  private static final ReferencedKind CLUSTERS =
      new ReferencedKind(RayCluster.KIND, true, false, RayPods::sizes);

  /** A kind whose objects hold the spec of a cluster here. */
  RayClusterOwner(JobKind kind, RayPods pods) {
    super(kind, pods);
  }

  @Override
  public final List<ReferencedKind> references() {
    return List.of(CLUSTERS);
  }

  /** The RayCluster that gives a running job its size; one of a job that is sent isn't here. */
  @Override
  public final Optional<JobReference> reference(JsonNode object) {
    boolean follows =
        "true".equals(JsonFields.annotations(object).get(KueueConstants.ELASTIC_JOB))
            && pods().scalesItself(object)
            && !pods().scalesRemotely(object)
            && !isSuspended(object)
            && end(object).isEmpty();
    return follows
        ? clusters(object).stream()
            .filter(name -> !name.isEmpty())
            .findFirst()
            .map(name -> new JobReference(CLUSTERS, name))
        : Optional.empty();
  }

  @Override
  public final Map<String, String> sizeAnnotations(JsonNode object) {
    long generation = JobReference.generationOf(object);
    if (generation <= 0) {
      return Map.of();
    }
    Map<String, String> annotations = new LinkedHashMap<>();
    annotations.put(KueueConstants.RAYCLUSTER_GENERATION, Long.toString(generation));
    ArrayNode followed = pods().followed(object);
    String sizes = KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES;
    if (!followed.isEmpty() || JsonFields.annotations(object).containsKey(sizes)) {
      annotations.put(sizes, followed.toString());
    }
    return annotations;
  }
}
