package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The controller of RayJobs: a RayCluster, and a Job of the same name that submits the Ray job when
 * the cluster is ready. Both are deleted when the RayJob is suspended; the cluster is, when the Job
 * ended. A negative {@code spec.backoffLimit} is an example of what it finds invalid.
 *
 * <p>The real controller differs: it gives the RayCluster a name with a random end, asks the
 * cluster how the Ray job is, and repeats a Ray job that failed. Here the Ray job ends as the pod
 * of the submitting Job does, which is not repeated; in modes without such a Job the Ray job runs
 * until it is suspended or deleted. A RayJob that selects a cluster of somebody else does nothing.
 */
public final class PlayedRayJob implements PlayedKind {

  private static final String SUBMITTER_TEMPLATE = "submitterPodTemplate";

  @Override
  public JobKind kind() {
    return RayJob.KIND;
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(RayCluster.KIND, JobKind.of("batch", "v1", "Job"));
  }

  private static String deployment(JsonNode object) {
    return object.path("status").path("jobDeploymentStatus").asText();
  }

  private static boolean hasEnded(JsonNode object) {
    return deployment(object).equals("Complete") || deployment(object).equals("Failed");
  }

  private static boolean isInvalid(JsonNode object) {
    return object.path("spec").path("backoffLimit").asInt() < 0;
  }

  private static boolean isSubmittedByJob(JsonNode object) {
    return object.path("spec").path("submissionMode").asText("K8sJobMode").equals("K8sJobMode");
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    JsonNode spec = object.path("spec");
    List<ObjectNode> children = new ArrayList<>();
    if (spec.path("suspend").asBoolean()
        || isInvalid(object)
        || !spec.path("rayClusterSpec").isObject()) {
      return children;
    }
    String name = object.path("metadata").path("name").asText();
    if (!hasEnded(object)) {
      children.add(PlayedRayCluster.of(object, name + "-cluster", spec.path("rayClusterSpec")));
    }
    boolean clusterWasReady =
        object.at("/status/rayClusterStatus/state").asText().equals("ready")
            || deployment(object).equals("Running")
            || hasEnded(object);
    if (clusterWasReady && isSubmittedByJob(object)) {
      children.add(submitter(name, spec));
    }
    return children;
  }

  private static ObjectNode submitter(String name, JsonNode spec) {
    ObjectNode job = JsonNodeFactory.instance.objectNode();
    job.put("apiVersion", "batch/v1").put("kind", "Job").putObject("metadata").put("name", name);
    ObjectNode jobSpec = job.putObject("spec").put("backoffLimit", 0);
    jobSpec.set(
        "template",
        spec.path(SUBMITTER_TEMPLATE).isObject()
            ? spec.path(SUBMITTER_TEMPLATE).deepCopy()
            : defaultTemplate(spec));
    jobSpec.withObject("/template/spec").put("restartPolicy", "Never");
    return job;
  }

  private static ObjectNode defaultTemplate(JsonNode spec) {
    ObjectNode template = JsonNodeFactory.instance.objectNode();
    ObjectNode container =
        template.withObject("/spec").putArray("containers").addObject().put("name", "submitter");
    container.put(
        "image",
        spec.at("/rayClusterSpec/headGroupSpec/template/spec/containers/0/image").asText());
    ObjectNode resources = container.putObject("resources");
    resources.putObject("requests").put("cpu", "500m").put("memory", "200Mi");
    resources.putObject("limits").put("cpu", "1").put("memory", "1Gi");
    return template;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    if (hasEnded(object)) {
      return (ObjectNode) object.path("status").deepCopy();
    }
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    if (isInvalid(object)) {
      return status
          .put("jobDeploymentStatus", "ValidationFailed")
          .put("reason", "ValidationFailed")
          .put("message", "backoffLimit must not be negative");
    }
    if (object.path("spec").path("suspend").asBoolean()) {
      return status.put("jobDeploymentStatus", children.isEmpty() ? "Suspended" : "Suspending");
    }
    Optional<ObjectNode> cluster = child("RayCluster", children);
    Optional<ObjectNode> job = child("Job", children);
    cluster.ifPresent(
        it -> {
          status.put("rayClusterName", it.path("metadata").path("name").asText());
          status
              .putObject("rayClusterStatus")
              .put("state", it.path("status").path("state").asText());
        });
    if (job.filter(it -> JobConditions.isTrue(it, "Complete")).isPresent()) {
      return ended(status, "Complete", "SUCCEEDED", "Job finished successfully.");
    }
    if (job.filter(it -> JobConditions.isTrue(it, "Failed")).isPresent()) {
      return ended(status, "Failed", "FAILED", "Job entrypoint command failed with exit code 1");
    }
    boolean running =
        isSubmittedByJob(object)
            ? job.isPresent()
            : cluster.filter(PlayedRayCluster::isReady).isPresent();
    if (running) {
      status.put("jobStatus", "RUNNING");
    }
    return status.put("jobDeploymentStatus", running ? "Running" : "Initializing");
  }

  private static Optional<ObjectNode> child(String kind, List<ObjectNode> children) {
    return children.stream().filter(it -> it.path("kind").asText().equals(kind)).findFirst();
  }

  private static ObjectNode ended(
      ObjectNode status, String deployment, String job, String message) {
    return status
        .put("jobDeploymentStatus", deployment)
        .put("jobStatus", job)
        .put("message", message);
  }
}
