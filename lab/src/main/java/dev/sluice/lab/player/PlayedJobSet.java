package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.jobset.JobSet;
import java.util.ArrayList;
import java.util.List;

/**
 * The controller of JobSets: a batch Job per replica, suspended with the JobSet.
 *
 * <p>The real controller differs: it can restart a JobSet that failed, starts replicated jobs in an
 * order, makes a headless Service, and its webhook sets defaults and forbids changes of templates
 * while the JobSet runs. Here the first failed Job fails the JobSet, and all Jobs exist from the
 * start.
 */
public final class PlayedJobSet implements PlayedKind {

  private static final String PREFIX = "jobset.sigs.k8s.io/";
  private static final String REPLICATED_JOB = PREFIX + "replicatedjob-name";

  @Override
  public JobKind kind() {
    return JobSet.KIND;
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> jobs = new ArrayList<>();
    for (JsonNode replicated : JsonFields.list(object, "spec", "replicatedJobs")) {
      for (int i = 0; i < replicated.path("replicas").asInt(1); i++) {
        jobs.add(job(object, replicated, i));
      }
    }
    return jobs;
  }

  private static ObjectNode job(JsonNode object, JsonNode replicated, int index) {
    String set = object.path("metadata").path("name").asText();
    String name = set + "-" + replicated.path("name").asText() + "-" + index;
    ObjectNode job = JsonNodeFactory.instance.objectNode();
    job.put("apiVersion", "batch/v1").put("kind", "Job");
    ObjectNode metadata = copy(replicated.path("template").path("metadata"));
    job.set("metadata", metadata.put("name", name));
    ObjectNode spec = copy(replicated.path("template").path("spec"));
    job.set("spec", spec.put("suspend", object.path("spec").path("suspend").asBoolean()));
    if (!spec.has("completionMode")) {
      spec.put("completionMode", "Indexed");
    }
    for (ObjectNode labelled :
        List.of(metadata, spec.withObject("/template").withObjectProperty("metadata"))) {
      labelled
          .withObjectProperty("labels")
          .put(PREFIX + "jobset-name", set)
          .put(REPLICATED_JOB, replicated.path("name").asText())
          .put(PREFIX + "job-index", Integer.toString(index));
    }
    return job;
  }

  private static ObjectNode copy(JsonNode node) {
    return node instanceof ObjectNode object
        ? object.deepCopy()
        : JsonNodeFactory.instance.objectNode();
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode counts = status.putArray("replicatedJobsStatus");
    int wanted = 0;
    int succeeded = 0;
    boolean failed = false;
    for (JsonNode replicated : JsonFields.list(object, "spec", "replicatedJobs")) {
      ObjectNode count = counts.addObject().put("name", replicated.path("name").asText());
      for (String field : List.of("ready", "succeeded", "failed", "active", "suspended")) {
        count.put(field, count(field, replicated, children));
      }
      wanted += replicated.path("replicas").asInt(1);
      succeeded += count.path("succeeded").asInt();
      failed |= count.path("failed").asInt() > 0;
    }
    ArrayNode conditions = status.putArray("conditions");
    boolean suspended = object.path("spec").path("suspend").asBoolean();
    condition(conditions, "Suspended", suspended, suspended ? "SuspendedJobs" : "ResumeJobs", "");
    if (failed) {
      condition(
          conditions,
          "Failed",
          true,
          "FailedJobs",
          "jobset failed due to one or more job failures");
    } else if (wanted > 0 && succeeded == wanted) {
      condition(conditions, "Completed", true, "AllJobsCompleted", "jobset completed successfully");
    }
    return status;
  }

  private static void condition(
      ArrayNode conditions, String type, boolean status, String reason, String message) {
    conditions
        .addObject()
        .put("type", type)
        .put("status", status ? "True" : "False")
        .put("reason", reason)
        .put("message", message);
  }

  private static int count(String field, JsonNode replicated, List<ObjectNode> children) {
    return (int)
        children.stream()
            .filter(
                job ->
                    replicated
                        .path("name")
                        .asText()
                        .equals(JsonFields.labels(job).get(REPLICATED_JOB)))
            .filter(job -> is(field, job))
            .count();
  }

  private static boolean is(String field, JsonNode job) {
    boolean complete = JobConditions.isTrue(job, "Complete");
    boolean failed = JobConditions.isTrue(job, "Failed");
    JsonNode status = job.path("status");
    return switch (field) {
      case "succeeded" -> complete;
      case "failed" -> failed;
      case "ready" ->
          !complete
              && !failed
              && status.path("ready").asInt() + status.path("succeeded").asInt() >= pods(job);
      case "active" -> !complete && !failed && status.path("active").asInt() > 0;
      default -> job.path("spec").path("suspend").asBoolean();
    };
  }

  private static int pods(JsonNode job) {
    int parallelism = job.path("spec").path("parallelism").asInt(1);
    return Math.min(parallelism, job.path("spec").path("completions").asInt(parallelism));
  }
}
