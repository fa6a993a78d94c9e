package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The training operator, for one of its kinds: a pod per replica, none while the job is suspended.
 *
 * <p>The real operator differs: it restarts replicas that failed, as their restart policy says,
 * makes Services and config maps, and sets the environment by which replicas find each other. It
 * reports a suspended job as inactive while its pods are still being stopped. A TFJob without chief
 * and master ends there with its first worker. Here the first failed pod fails the job, a pod
 * counts until it is gone, a job ends with all pods of its leading types, which are {@code Chief}
 * and {@code Master}, or with all workers if it has neither, and a clean-up policy other than
 * {@code None} removes all pods.
 */
public final class PlayedTrainingJob implements PlayedKind {

  private final TrainingJob integration;

  /** Of this kind. */
  public PlayedTrainingJob(TrainingJob integration) {
    this.integration = integration;
  }

  /** Of each kind. */
  public static List<PlayedTrainingJob> all() {
    return Stream.of(
            TrainingJob.pyTorch(),
            TrainingJob.tensorFlow(),
            TrainingJob.xgBoost(),
            TrainingJob.paddle(),
            TrainingJob.jax())
        .map(PlayedTrainingJob::new)
        .toList();
  }

  @Override
  public JobKind kind() {
    return integration.kind();
  }

  private Map<String, JsonNode> replicas(JsonNode object) {
    return ReplicaTypes.of(object, integration.replicasField());
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> pods = new ArrayList<>();
    if (!ReplicaTypes.isSuspended(object) && ReplicaTypes.keepsPods(object)) {
      replicas(object)
          .forEach((type, replica) -> pods.addAll(ReplicaTypes.pods(object, type, replica)));
    }
    return pods;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    if (ReplicaTypes.hasEnded(object) && object.path("status") instanceof ObjectNode last) {
      return last;
    }
    Map<String, JsonNode> replicas = replicas(object);
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ObjectNode counts = status.putObject("replicaStatuses");
    int pods = 0;
    int active = 0;
    for (Map.Entry<String, JsonNode> replica : replicas.entrySet()) {
      String type = replica.getKey();
      int running = ReplicaTypes.count(children, type, "Running");
      counts
          .putObject(type)
          .put("active", running)
          .put("succeeded", ReplicaTypes.count(children, type, "Succeeded"))
          .put("failed", ReplicaTypes.count(children, type, "Failed"));
      pods += replica.getValue().path("replicas").asInt(1);
      active += running;
    }
    ArrayNode conditions = status.putArray("conditions");
    boolean suspended = ReplicaTypes.isSuspended(object);
    ReplicaTypes.condition(conditions, object, "Suspended", suspended, "suspended");
    if (!suspended) {
      run(object, counts, active == pods, conditions);
    }
    return status;
  }

  /** The conditions of a job that is not suspended, by the counts of its pods. */
  private void run(JsonNode object, ObjectNode counts, boolean all, ArrayNode conditions) {
    List<String> leading =
        counts
            .propertyStream()
            .map(Map.Entry::getKey)
            .filter(type -> type.equals("Chief") || type.equals("Master"))
            .toList();
    List<String> awaited = leading.isEmpty() ? List.of("Worker") : leading;
    boolean done =
        awaited.stream()
            .allMatch(
                type ->
                    counts.path(type).path("succeeded").asInt()
                        == replicas(object).getOrDefault(type, counts).path("replicas").asInt(1));
    Optional<String> failed =
        counts
            .propertyStream()
            .filter(count -> count.getValue().path("failed").asInt() > 0)
            .map(Map.Entry::getKey)
            .findFirst();
    boolean begun = all || JobConditions.isTrue(object, "Running");
    boolean ended = done || failed.isPresent();
    ReplicaTypes.condition(conditions, object, "Running", begun && !ended, "running");
    if (failed.isPresent()) {
      ReplicaTypes.condition(
          conditions,
          object,
          "Failed",
          true,
          "failed because %d %s replica(s) failed"
              .formatted(counts.path(failed.get()).path("failed").asInt(), failed.get()));
    } else if (done) {
      ReplicaTypes.condition(conditions, object, "Succeeded", true, "successfully completed");
    }
    if (ended) {
      counts.forEach(count -> ((ObjectNode) count).put("active", 0));
    }
  }
}
