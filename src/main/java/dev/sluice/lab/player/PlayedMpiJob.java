package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.kubeflow.MpiJob;
import java.util.ArrayList;
import java.util.List;

/**
 * The MPI operator: a Job for the launcher, which is suspended with the MPIJob, and a pod for each
 * worker, none while the MPIJob is suspended.
 *
 * <p>The real operator differs: it makes a Service, a config map and a secret, by which the
 * launcher reaches the workers, can wait with the launcher until the workers are ready, and makes a
 * worker anew that failed. Here the first failed worker fails the MPIJob, and workers are removed
 * at the end if the clean-up policy isn't {@code None}.
 */
public final class PlayedMpiJob implements PlayedKind {

  private static final String LAUNCHER = "Launcher";
  private static final String WORKER = "Worker";

  private final MpiJob integration = new MpiJob();

  @Override
  public JobKind kind() {
    return integration.kind();
  }

  private JsonNode replica(JsonNode object, String type) {
    return JsonFields.at(object, "spec", integration.replicasField(), type);
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    boolean launcherWorks = JsonFields.at(object, "spec", "runLauncherAsWorker").asBoolean();
    List<ObjectNode> children = new ArrayList<>();
    if (replica(object, LAUNCHER).isObject()) {
      children.add(launcher(object));
    }
    if (replica(object, WORKER).isObject()
        && !ReplicaTypes.isSuspended(object)
        && ReplicaTypes.keepsPods(object)) {
      children.addAll(
          ReplicaTypes.pods(object, WORKER, replica(object, WORKER), launcherWorks ? 1 : 0));
    }
    return children;
  }

  private ObjectNode launcher(JsonNode object) {
    ObjectNode job = JsonNodeFactory.instance.objectNode();
    job.put("apiVersion", "batch/v1").put("kind", "Job");
    job.putObject("metadata")
        .put("name", object.path("metadata").path("name").asText() + "-launcher");
    ObjectNode template = ReplicaTypes.template(object, LAUNCHER, replica(object, LAUNCHER), 0);
    if (!template.path("spec").has("restartPolicy")) {
      template.withObjectProperty("spec").put("restartPolicy", "Never");
    }
    job.putObject("spec")
        .put("suspend", ReplicaTypes.isSuspended(object))
        .put("backoffLimit", 0)
        .set("template", template);
    return job;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    if (ReplicaTypes.hasEnded(object) && object.path("status") instanceof ObjectNode last) {
      return last;
    }
    JsonNode launcher =
        children.stream()
            .filter(child -> child.path("kind").asText().equals("Job"))
            .map(JsonNode.class::cast)
            .findFirst()
            .orElseGet(MissingNode::getInstance);
    int workers = replica(object, WORKER).path("replicas").asInt(1);
    int running = ReplicaTypes.count(children, WORKER, "Running");
    int failed = ReplicaTypes.count(children, WORKER, "Failed");
    boolean done = JobConditions.isTrue(launcher, "Complete");
    boolean broken = failed > 0 || JobConditions.isTrue(launcher, "Failed");
    boolean ended = done || broken;
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ObjectNode counts = status.putObject("replicaStatuses");
    counts
        .putObject(LAUNCHER)
        .put("active", ended ? 0 : launcher.path("status").path("active").asInt())
        .put("succeeded", launcher.path("status").path("succeeded").asInt())
        .put("failed", launcher.path("status").path("failed").asInt());
    counts.putObject(WORKER).put("active", ended ? 0 : running).put("failed", failed);
    ArrayNode conditions = status.putArray("conditions");
    boolean suspended = ReplicaTypes.isSuspended(object);
    ReplicaTypes.condition(conditions, object, "Suspended", suspended, "suspended");
    boolean all = launcher.path("status").path("ready").asInt() > 0 && running == workers;
    ReplicaTypes.condition(conditions, object, "Running", all && !ended && !suspended, "running");
    if (broken) {
      ReplicaTypes.condition(conditions, object, "Failed", true, "failed");
    } else if (done) {
      ReplicaTypes.condition(conditions, object, "Succeeded", true, "successfully completed");
    }
    return status;
  }
}
