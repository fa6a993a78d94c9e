package dev.sluice.jobs.kinds.ray;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * RayJobs: the pod sets of the cluster that the job gets, and, where a Job submits the Ray job, one
 * pod for that. A RayJob that runs in a cluster of somebody else is left alone.
 */
public final class RayJob extends RayClusterOwner {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("ray.io", "v1", "RayJob");

  private static final String SUBMITTER = "submitter";
  private static final String SUBMITTER_TEMPLATE = "submitterPodTemplate";
  private static final String SELECTOR = "clusterSelector";
  private static final String CLUSTER = "rayClusterSpec";
  private static final String VALIDATION_FAILED = "ValidationFailed";

  /** Deployment statuses, the empty one included, in which no pods of an unfinished job run. */
  private static final Set<String> WITHOUT_PODS =
      Set.of("", "Suspended", VALIDATION_FAILED, "Complete", "Failed");

  /** RayJobs. */
  public RayJob() {
    super(KIND, new RayPods(List.of("spec", CLUSTER)));
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byStatus(managedByField(), suspendField())
            .keptAfterItsEnd(List.of("spec", "deletionStrategy"))
            .withPodFields("rayClusterStatus", "jobDeploymentStatus", "jobStatus")
            .withoutAnnotations(RayPods.OF_THE_MANAGER)
            .resizedBy(pods()::resize)
            .scaledBy(pods()));
  }

  @Override
  public boolean isManageable(JsonNode object) {
    return object.path("spec").path(SELECTOR).isEmpty();
  }

  @Override
  protected List<String> clusters(JsonNode object) {
    return List.of(object.path("status").path("rayClusterName").asText());
  }

  /** The pod that submits the Ray job isn't one of the cluster's. */
  @Override
  public boolean keepsSize(String podSet) {
    return podSet.equals(SUBMITTER);
  }

  private static String submission(JsonNode object) {
    String mode = object.path("spec").path("submissionMode").asText();
    return mode.isEmpty() ? "K8sJobMode" : mode;
  }

  private static boolean isSubmittedByJob(JsonNode object) {
    return submission(object).equals("K8sJobMode");
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>(super.slots(object));
    if (isSubmittedByJob(object)) {
      slots.add(
          object.path("spec").path(SUBMITTER_TEMPLATE).isObject()
              ? PodSetSlot.of(object, SUBMITTER, 1, "/spec/" + SUBMITTER_TEMPLATE, Index.of(""))
              : PodSetSlot.unplaced(SUBMITTER));
    }
    return slots;
  }

  @Override
  protected JsonNode accounted(JsonNode object, PodSetSlot slot) {
    JsonNode template = super.accounted(object, slot);
    if (slot.template().isEmpty()) {
      return defaultSubmitter(object);
    }
    if (slot.name().equals(RayPods.HEAD)
        && submission(object).equals("SidecarMode")
        && template.deepCopy() instanceof ObjectNode head) {
      RayPods.addContainer(head, pods().submitter(object));
      return head;
    }
    return template;
  }

  /** The template of the pod that submits the Ray job, as KubeRay makes it. */
  private ObjectNode defaultSubmitter(JsonNode object) {
    ObjectNode submitter = JsonNodeFactory.instance.objectNode();
    submitter.putObject("spec").put("restartPolicy", "Never");
    RayPods.addContainer(submitter, pods().submitter(object));
    return submitter;
  }

  /** Without a template of its own in the object, the submitter would run outside of its flavor. */
  @Override
  protected void writeTemplates(ObjectNode job) {
    super.writeTemplates(job);
    if (isSubmittedByJob(job) && !job.path("spec").path(SUBMITTER_TEMPLATE).isObject()) {
      JsonFields.child(job, "spec").set(SUBMITTER_TEMPLATE, defaultSubmitter(job));
    }
  }

  @Override
  protected void removeTemplates(ObjectNode job) {
    super.removeTemplates(job);
    if (job.path("spec").path(SUBMITTER_TEMPLATE).equals(defaultSubmitter(job))) {
      JsonFields.child(job, "spec").remove(SUBMITTER_TEMPLATE);
    }
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    JsonNode spec = object.path("spec");
    boolean ownCluster = spec.path(CLUSTER).isObject();
    if (!isManageable(object)) {
      return ownCluster
          ? List.of(
              new InvalidField(
                  "spec." + SELECTOR,
                  spec.path(SELECTOR),
                  "must not be set together with spec." + CLUSTER))
          : List.of();
    }
    List<InvalidField> invalid = new ArrayList<>();
    if (!ownCluster) {
      invalid.add(
          new InvalidField(
              "spec." + CLUSTER,
              MissingNode.getInstance(),
              "a job in a queue must have a cluster of its own"));
    }
    if (!spec.path("shutdownAfterJobFinishes").asBoolean()) {
      invalid.add(
          new InvalidField(
              "spec.shutdownAfterJobFinishes",
              spec.path("shutdownAfterJobFinishes").isMissingNode()
                  ? JsonNodeFactory.instance.booleanNode(false)
                  : spec.path("shutdownAfterJobFinishes"),
              "must be true for a job in a queue, because its quota is given back when it ends"));
    }
    if (ownCluster) {
      invalid.addAll(pods().validate(object, isSubmittedByJob(object) ? 1 : 0, elastic));
    }
    return invalid;
  }

  private static String deployment(JsonNode object) {
    return object.path("status").path("jobDeploymentStatus").asText();
  }

  @Override
  protected boolean active(JsonNode object) {
    return !WITHOUT_PODS.contains(deployment(object));
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return object.at("/status/rayClusterStatus/state").asText().equals("ready");
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    String deployment = deployment(object);
    JsonNode status = object.path("status");
    return deployment.equals("Complete") || deployment.equals("Failed")
        ? Optional.of(
            new JobState.End(
                status.path("jobStatus").asText().equals("SUCCEEDED"),
                status.path("message").asText()))
        : Optional.empty();
  }

  @Override
  protected Optional<String> hold(JsonNode object) {
    if (!deployment(object).equals(VALIDATION_FAILED)) {
      return Optional.empty();
    }
    String message = object.path("status").path("message").asText();
    return Optional.of("The RayJob is not valid" + (message.isEmpty() ? "" : ": " + message));
  }
}
