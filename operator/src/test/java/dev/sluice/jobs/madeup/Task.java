package dev.sluice.jobs.madeup;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An ordinary kind of job that no cluster has: one pod set, and a field that suspends the job. All
 * but the job's own fields is left to the defaults.
 */
public final class Task implements JobIntegration {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("example.com", "v1", "Task");

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public JobState state(JsonNode task) {
    boolean suspended = task.path("spec").path("suspend").asBoolean();
    boolean active = task.path("status").path("running").asBoolean();
    return new JobState(suspended, !active, false, active, Optional.empty(), active, Map.of());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode task) {
    return List.of(
        new PodSetTemplate(
            "main",
            task.path("spec").path("pods").asInt(),
            0,
            task.path("spec").path("template") instanceof ObjectNode template
                ? template
                : JsonNodeFactory.instance.objectNode(),
            Optional.empty()));
  }

  @Override
  public List<JobPatch> start(ObjectNode task, List<PodSetInfo> starts)
      throws StartConflictException {
    ObjectNode started = task.deepCopy();
    ObjectNode spec = started.withObjectProperty("spec").put("suspend", false);
    PodTemplateMerger.merge(spec.withObjectProperty("template"), starts.getFirst());
    return List.of(new JobPatch(false, JsonMergePatch.between(task, started)));
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode task, Optional<List<PodSetTemplate>> original) {
    if (task.path("spec").path("suspend").asBoolean()) {
      return Optional.empty();
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").put("suspend", true);
    return Optional.of(new JobPatch(false, patch));
  }
}
