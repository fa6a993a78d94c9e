package dev.sluice.jobs.kinds.kubeflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.TemplatedJob;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * MPIJobs of the first version, which people of Kube Queue submit: an annotation alone holds them.
 * One template is that of the workers and, without its resources, that of the launcher.
 */
public final class LegacyMpiJob extends TemplatedJob {

  /** The kind; its framework has a name of its own, as the later version is another. */
  public static final JobKind KIND =
      new JobKind("kubeflow.org", "v1alpha1", "MPIJob", "mpijobs", "kubeflow.org/mpijob-v1alpha1");

  private static final String LAUNCHER = "launcher";
  private static final String WORKER = "worker";
  private static final String TEMPLATE = "/spec/template";
  private static final String ACTIVE = "Active";

  /** Its workers are pods of a StatefulSet. */
  private static final Index INDEX = Index.of("apps.kubernetes.io/pod-index");

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public List<String> suspendField() {
    return List.of("metadata", "annotations", KubeQueueKeys.SUSPEND);
  }

  /** The operator looks for the annotation, so a started job has none. */
  @Override
  public JsonNode suspension(boolean suspended) {
    return suspended ? TextNode.valueOf("true") : NullNode.getInstance();
  }

  @Override
  public List<String> managedByField() {
    return List.of();
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.Unreviewed());
  }

  private static String launcher(JsonNode object) {
    return JsonFields.text(object, "status", "launcherStatus");
  }

  /** An annotation doesn't change the generation of a job. */
  @Override
  public boolean neverStarted(JsonNode object) {
    return super.neverStarted(object)
        && launcher(object).isEmpty()
        && JsonFields.at(object, "status", "workerReplicas").asInt() == 0;
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    List<PodSetSlot> slots = new ArrayList<>();
    slots.add(PodSetSlot.unplaced(LAUNCHER));
    long workers = JsonFields.at(object, "spec", "replicas").asLong();
    slots.add(PodSetSlot.of(object, WORKER, workers, TEMPLATE, INDEX));
    return slots;
  }

  /** Its operator runs the launcher without the resources of the workers. */
  @Override
  protected JsonNode accounted(JsonNode object, PodSetSlot slot) {
    JsonNode template = object.at(TEMPLATE);
    if (slot.name().equals(LAUNCHER) && template instanceof ObjectNode whole) {
      ObjectNode launcher = whole.deepCopy();
      JsonFields.list(launcher, "spec", "containers")
          .forEach(container -> JsonFields.object(container).remove("resources"));
      return launcher;
    }
    return template;
  }

  /**
   * Where people count accelerators, the operator's own settings say how many workers there are.
   */
  @Override
  protected Optional<String> hold(JsonNode object) {
    return JsonFields.at(object, "spec", "replicas").isNumber()
        ? Optional.empty()
        : Optional.of("The MPIJob doesn't say spec.replicas, by which its workers are counted");
  }

  @Override
  protected boolean active(JsonNode object) {
    return launcher(object).equals(ACTIVE)
        || (end(object).isEmpty() && JsonFields.at(object, "status", "workerReplicas").asInt() > 0);
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return launcher(object).equals(ACTIVE);
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return switch (launcher(object)) {
      case "Succeeded" -> Optional.of(new JobState.End(true, "The launcher succeeded"));
      case "Failed" -> Optional.of(new JobState.End(false, "The launcher failed"));
      default -> Optional.empty();
    };
  }
}
