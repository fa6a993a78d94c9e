package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
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

  /**
   * The fields of a Workflow's spec that are for all its pods, as a pod template. A start writes
   * into them and keeps what they were in an annotation: the Workload has no copy of them, since
   * the Workflow holds no template.
   */
  private static final class WorkflowPodFields {

    /** The annotation of a started Workflow that holds what its fields for pods were before. */
    private static final String BEFORE = "sluice.dev/pods-before-start";

    private static final String METADATA = "podMetadata";
    private static final String NODE_SELECTOR = "nodeSelector";
    private static final String TOLERATIONS = "tolerations";

    /** What a placeholder begins with. */
    private static final String PLACEHOLDER = "{{";

    /** Fields of the spec that a start writes. */
    private static final List<String> GIVEN = List.of(METADATA, NODE_SELECTOR, TOLERATIONS);

    /** Fields of the spec that pods have under the same name. */
    private static final List<String> PLACING = List.of(NODE_SELECTOR, TOLERATIONS, "affinity");

    private WorkflowPodFields() {}

    /** Whether a Workflow has what a start gave it. */
    static boolean areGiven(JsonNode workflow) {
      return !before(workflow).isEmpty();
    }

    private static String before(JsonNode workflow) {
      return JsonFields.text(workflow, "metadata", "annotations", BEFORE);
    }

    /**
     * The template of the Workflow's pods, as it was before a start. Labels and annotations that
     * Argo fills in when it makes pods are left out: no Workload may have their placeholders.
     */
    static ObjectNode original(JsonNode workflow) {
      ObjectNode spec = JsonFields.object(workflow.path("spec")).deepCopy();
      if (areGiven(workflow)) {
        restore(spec, before(workflow));
      }
      ObjectNode template = template(spec);
      for (String field : List.of("labels", "annotations")) {
        if (template.path("metadata").path(field) instanceof ObjectNode entries) {
          entries.properties().removeIf(it -> isFilledIn(it.getKey(), it.getValue().asText()));
        }
      }
      return template;
    }

    private static boolean isFilledIn(String key, String value) {
      return key.contains(PLACEHOLDER) || value.contains(PLACEHOLDER);
    }

    private static ObjectNode template(ObjectNode spec) {
      ObjectNode template = JsonNodeFactory.instance.objectNode();
      if (spec.get(METADATA) instanceof ObjectNode metadata) {
        template.set("metadata", metadata.deepCopy());
      }
      ObjectNode pod = template.putObject("spec");
      for (String field : PLACING) {
        if (spec.hasNonNull(field)) {
          pod.set(field, spec.get(field).deepCopy());
        }
      }
      String priorityClass = JsonFields.text(spec, "podPriorityClassName");
      if (!priorityClass.isEmpty()) {
        pod.put("priorityClassName", priorityClass);
      }
      return template;
    }

    /**
     * Gives the pods what a start says.
     *
     * @param workflow is changed in place
     * @throws StartConflictException if the Workflow says something else for its pods
     */
    static void give(ObjectNode workflow, PodSetInfo start) throws StartConflictException {
      if (!start.schedulingGates().isEmpty()) {
        throw new StartConflictException("pods of a Workflow can't have scheduling gates");
      }
      takeBack(workflow);
      ObjectNode spec = JsonFields.child(workflow, "spec");
      ObjectNode kept = spec.deepCopy().retain(GIVEN);
      ObjectNode template = template(spec);
      PodTemplateMerger.merge(template, start);
      spec.setAll(JsonFields.child(template, "spec").deepCopy().retain(NODE_SELECTOR, TOLERATIONS));
      if (template.has("metadata")) {
        spec.set(METADATA, template.get("metadata"));
      }
      annotations(workflow).put(BEFORE, kept.toString());
    }

    /**
     * Removes what a start gave.
     *
     * @param workflow is changed in place
     */
    static void takeBack(ObjectNode workflow) {
      if (areGiven(workflow)) {
        restore(JsonFields.child(workflow, "spec"), before(workflow));
        annotations(workflow).remove(BEFORE);
      }
    }

    /**
     * Text that nobody but people can have written leaves the fields as they are: the API server
     * would refuse what is of the wrong type, and with it the stop of the Workflow.
     */
    private static void restore(ObjectNode spec, String before) {
      try {
        if (JsonMappers.JSON.readTree(before) instanceof ObjectNode kept && isWritten(kept)) {
          spec.remove(GIVEN);
          spec.setAll(kept.retain(GIVEN));
        }
      } catch (JsonProcessingException edited) {
        return;
      }
    }

    /** Whether a Workflow may have had these fields. */
    private static boolean isWritten(ObjectNode kept) {
      JsonNode metadata = kept.path(METADATA);
      JsonNode tolerations = kept.path(TOLERATIONS);
      return (tolerations.isMissingNode() || tolerations.isNull() || tolerations.isArray())
          && tolerations.valueStream().allMatch(WorkflowPodFields::isToleration)
          && isTexts(kept.path(NODE_SELECTOR))
          && isFields(metadata)
          && metadata
              .propertyStream()
              .allMatch(
                  it ->
                      Set.of("labels", "annotations").contains(it.getKey())
                          && isTexts(it.getValue()));
    }

    private static boolean isToleration(JsonNode toleration) {
      return isFields(toleration)
          && toleration
              .propertyStream()
              .allMatch(
                  it ->
                      it.getKey().equals("tolerationSeconds")
                          ? it.getValue().isIntegralNumber() && it.getValue().canConvertToLong()
                          : it.getValue().isTextual());
    }

    private static boolean isTexts(JsonNode fields) {
      return isFields(fields) && fields.valueStream().allMatch(JsonNode::isTextual);
    }

    private static boolean isFields(JsonNode value) {
      return value.isMissingNode() || value.isNull() || value.isObject();
    }

    private static ObjectNode annotations(ObjectNode workflow) {
      return JsonFields.child(JsonFields.child(workflow, "metadata"), "annotations");
    }
  }
}
