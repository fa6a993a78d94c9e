package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.kube.json.JsonMergePatch;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Workflows of Argo: one pod set that requests what all pods may request at a time. A Workflow
 * waits at a node of a suspend template of one of the names of Kube Queue, and is started as {@code
 * argo resume} does it: the phase of the node becomes {@code Succeeded}. It is stopped by {@code
 * spec.suspend}, which lets running pods come to their end; an annotation tells such a stop from a
 * suspension by people, which is not touched.
 *
 * <p>Workflows have no status subresource: status and spec are one write.
 */
public final class Workflow implements JobIntegration {

  /** The kind. */
  public static final JobKind KIND = JobKind.of("argoproj.io", "v1alpha1", "Workflow");

  /** The suspend templates at which a Workflow waits for quota. */
  private static final Set<String> HOLDS = Set.of("kube-queue-suspend", "koord-queue-suspend");

  private static final String POD_SET = "main";
  private static final String RUNNING = "Running";
  private static final String SUCCEEDED = "Succeeded";
  private static final Set<String> UNFINISHED = Set.of("Pending", RUNNING);
  private static final Set<String> ENDS = Set.of(SUCCEEDED, "Failed", "Error");

  private final InstantSource clock;

  /** The kind; the clock tells when a node was resumed. */
  public Workflow(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public List<RbacRule> roles() {
    return RbacRule.ofControllerWithoutStatus(kind(), "delete");
  }

  @Override
  public List<String> managedByField() {
    return List.of();
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.Unreviewed());
  }

  @Override
  public JobState state(JsonNode object) {
    boolean stopped = isStopped(object);
    boolean suspended = stopped || isHeld(object);
    boolean active = isActive(object);
    return new JobState(
        suspended,
        suspended && !active,
        stopped && WorkflowPodFields.areGiven(object),
        active,
        end(object),
        phase(object).equals(RUNNING),
        Map.of(),
        new JobState.Handling(true, WorkflowRequests.of(object).unknown(), false, false));
  }

  private static String phase(JsonNode object) {
    return JsonFields.text(object, "status", "phase");
  }

  private static Optional<JobState.End> end(JsonNode object) {
    return ENDS.contains(phase(object))
        ? Optional.of(
            new JobState.End(
                phase(object).equals(SUCCEEDED), JsonFields.text(object, "status", "message")))
        : Optional.empty();
  }

  /** Whether this program suspended the Workflow as a whole. */
  private static boolean isStopped(JsonNode object) {
    return JsonFields.at(object, "spec", "suspend").asBoolean()
        && JsonFields.text(object, "metadata", "annotations", KubeQueueKeys.SUSPEND).equals("true");
  }

  private static boolean isHeld(JsonNode object) {
    return nodes(object).anyMatch(Workflow::holds);
  }

  private static Stream<JsonNode> nodes(JsonNode object) {
    return JsonFields.at(object, "status", "nodes").valueStream();
  }

  /** Whether the Workflow waits at this node for quota. */
  private static boolean holds(JsonNode node) {
    return JsonFields.text(node, "type").equals("Suspend")
        && JsonFields.text(node, "phase").equals(RUNNING)
        && (HOLDS.contains(JsonFields.text(node, "templateName"))
            || HOLDS.contains(JsonFields.text(node, "templateRef", "template")));
  }

  /** Whether pods run; where the nodes can't be read, some may run until the Workflow ends. */
  private static boolean isActive(JsonNode object) {
    JsonNode status = JsonFields.at(object, "status");
    boolean hidden =
        !JsonFields.text(status, "compressedNodes").isEmpty()
            || !JsonFields.text(status, "offloadNodeStatusVersion").isEmpty();
    return (hidden && end(object).isEmpty())
        || nodes(object)
            .anyMatch(
                node ->
                    JsonFields.text(node, "type").equals("Pod")
                        && UNFINISHED.contains(JsonFields.text(node, "phase")));
  }

  /** What ran before the Workflow came to the template did not ask for quota. */
  @Override
  public boolean neverStarted(JsonNode object) {
    return isHeld(object) && !WorkflowPodFields.areGiven(object);
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    ObjectNode template = WorkflowPodFields.original(object);
    ObjectNode container =
        JsonFields.child(template, "spec").putArray("containers").addObject().put("name", POD_SET);
    container.putObject("resources").set("requests", WorkflowRequests.of(object).quantities());
    return List.of(new PodSetTemplate(POD_SET, 1, 0, template, Optional.empty()));
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    ObjectNode started = object.deepCopy();
    for (PodSetInfo start : starts) {
      WorkflowPodFields.give(started, start);
    }
    if (isStopped(object)) {
      JsonFields.child(started, "spec").remove("suspend");
      annotations(started).put(KubeQueueKeys.SUSPEND, "false");
    }
    nodes(started).filter(Workflow::holds).forEach(node -> resume((ObjectNode) node));
    return List.of(new JobPatch(false, JsonMergePatch.between(object, started)));
  }

  private void resume(ObjectNode node) {
    node.put("phase", SUCCEEDED)
        .put("finishedAt", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode stopped = object.deepCopy();
    WorkflowPodFields.takeBack(stopped);
    JsonFields.child(stopped, "spec").put("suspend", true);
    annotations(stopped).put(KubeQueueKeys.SUSPEND, "true");
    ObjectNode patch = JsonMergePatch.between(object, stopped);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }

  private static ObjectNode annotations(ObjectNode object) {
    return JsonFields.child(JsonFields.child(object, "metadata"), "annotations");
  }
}
