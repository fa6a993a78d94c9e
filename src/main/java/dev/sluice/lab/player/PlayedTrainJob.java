package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ReferencedKind;
import dev.sluice.jobs.kinds.jobset.JobSet;
import dev.sluice.jobs.kinds.trainer.RenderedJobSet;
import dev.sluice.jobs.kinds.trainer.TrainJob;
import java.util.List;
import java.util.Optional;

/**
 * The trainer: a JobSet of the same name, rendered from the TrainJob and its runtime, and suspended
 * with the TrainJob. The controller of JobSets is played by {@link PlayedJobSet}.
 *
 * <p>The real trainer differs: it renders what nodes need to find each other, makes secrets and
 * config maps for MPI and pod groups, notes the time of each patch, and its webhook forbids changes
 * while the TrainJob runs. Here a TrainJob without its runtime waits, where the real one fails.
 */
public final class PlayedTrainJob implements PlayedKind {

  private final TrainJob integration = new TrainJob();

  @Override
  public JobKind kind() {
    return integration.kind();
  }

  @Override
  public List<ReferencedKind> reads() {
    return integration.references();
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(JobSet.KIND);
  }

  /** Nothing, because a TrainJob is nothing without its runtime. */
  @Override
  public List<ObjectNode> children(JsonNode object) {
    return List.of();
  }

  @Override
  public List<ObjectNode> children(JsonNode object, List<ObjectNode> read) {
    return runtime(object, read).map(runtime -> List.of(jobSet(object, runtime))).orElse(List.of());
  }

  private Optional<ObjectNode> runtime(JsonNode object, List<ObjectNode> read) {
    String namespace = object.path("metadata").path("namespace").asText();
    return integration
        .reference(object)
        .flatMap(
            wanted ->
                read.stream()
                    .filter(it -> it.path("kind").asText().equals(wanted.kind().kind().kind()))
                    .filter(it -> it.path("metadata").path("name").asText().equals(wanted.name()))
                    .filter(
                        it ->
                            !wanted.kind().namespaced()
                                || it.path("metadata").path("namespace").asText().equals(namespace))
                    .findFirst());
  }

  private static ObjectNode jobSet(JsonNode object, JsonNode runtime) {
    ObjectNode jobSet = JsonNodeFactory.instance.objectNode();
    jobSet.put("apiVersion", JobSet.KIND.apiVersion()).put("kind", JobSet.KIND.kind());
    jobSet.putObject("metadata").set("name", object.path("metadata").path("name"));
    ObjectNode spec = RenderedJobSet.spec(object, runtime.path("spec"), manager -> true);
    jobSet.set("spec", spec.put("suspend", object.path("spec").path("suspend").asBoolean()));
    return jobSet;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode conditions = status.putArray("conditions");
    boolean suspended = object.path("spec").path("suspend").asBoolean();
    conditions
        .addObject()
        .put("type", "Suspended")
        .put("status", suspended ? "True" : "False")
        .put("reason", suspended ? "Suspended" : "Resumed")
        .put("message", suspended ? "TrainJob is suspended" : "TrainJob is resumed");
    for (ObjectNode jobSet : children) {
      status.set("jobsStatus", JsonFields.at(jobSet, "status", "replicatedJobsStatus"));
      end(conditions, jobSet, "Completed", "Complete");
      end(conditions, jobSet, "Failed", "Failed");
    }
    return status;
  }

  private static void end(ArrayNode conditions, JsonNode jobSet, String from, String to) {
    JobConditions.whenTrue(jobSet, from)
        .filter(ObjectNode.class::isInstance)
        .ifPresent(
            condition -> conditions.add(((ObjectNode) condition).deepCopy().put("type", to)));
  }
}
