package dev.sluice.jobs;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A kind of job that a field suspends and whose objects hold the pod template of every pod set. A
 * subclass tells where the templates are and how the status is read; starting and stopping follow
 * from that. One patch suspends the job and restores its templates, so a stop has no halves.
 */
public abstract class TemplatedJob implements JobIntegration {

  /** What a start gives to templates, and what therefore tells a template of a started job. */
  private static final List<String> LABELS =
      List.of(
          KueueConstants.PODSET,
          KueueConstants.LOCAL_QUEUE_NAME,
          KueueConstants.CLUSTER_QUEUE_NAME);

  /** Conditions of a job that its controller has seen and holds. */
  private static final Set<String> HELD = Set.of("Created", "Queuing", "Suspended");

  /**
   * A pod set, and where the object holds its template.
   *
   * @param name its name
   * @param count how many pods; at least 0
   * @param template path of the pod template in the object; empty if the object has none, because
   *     the kind's own controller makes the template
   * @param topologyRequest what it asks of the topology, in the API's form
   */
  public record PodSetSlot(
      String name,
      int count,
      Optional<JsonPointer> template,
      Optional<ObjectNode> topologyRequest) {

    /** A pod set whose template is at a path such as {@code /spec/template}. */
    public static PodSetSlot of(
        JsonNode object, String name, long count, String path, Index index) {
      JsonPointer pointer = JsonPointer.compile(path);
      return new PodSetSlot(
          name,
          (int) Math.clamp(count, 0, Integer.MAX_VALUE),
          Optional.of(pointer),
          index.requestOf(object.at(pointer)));
    }

    /** A pod set of one pod whose template is not in the object. */
    public static PodSetSlot unplaced(String name) {
      return new PodSetSlot(name, 1, Optional.empty(), Optional.empty());
    }

    /** The template in the object; a missing node without one. */
    JsonNode in(JsonNode object) {
      return template.map(object::at).orElseGet(MissingNode::getInstance);
    }

    /** The path of the template, as the API server writes paths. */
    private static String shown(JsonPointer pointer) {
      return pointer
          .toString()
          .substring(1)
          .replaceAll("/([0-9]+)(?=/|$)", "[$1]")
          .replace('/', '.');
    }
  }

  /**
   * The labels by which pods of a pod set tell their place.
   *
   * @param label the pod's place in the pod set, or in its group
   * @param groupLabel the place of the pod's group; empty if the pod set has no groups
   * @param groups how many groups the pod set has
   */
  public record Index(String label, String groupLabel, int groups) {

    /** Of a pod set without groups. */
    public static Index of(String label) {
      return new Index(label, "", 0);
    }

    private Optional<ObjectNode> requestOf(JsonNode template) {
      Optional<ObjectNode> request = TopologyRequests.of(template, label);
      if (!groupLabel.isEmpty()) {
        request.ifPresent(
            it -> it.put("subGroupIndexLabel", groupLabel).put("subGroupCount", groups));
      }
      return request;
    }
  }

  /** The pod sets of the job, in the order in which its Workload lists them. */
  protected abstract List<PodSetSlot> slots(JsonNode object);

  /** Whether pods of the job run. */
  protected abstract boolean active(JsonNode object);

  /** Whether all pods of the job are ready or done. */
  protected abstract boolean podsReady(JsonNode object);

  /** How the job ended, if it has. */
  protected abstract Optional<JobState.End> end(JsonNode object);

  /**
   * The template that is accounted for a pod set, where it differs from the template in the object:
   * the kind's own controller adds to it. What a start writes and a stop restores is the template
   * in the object.
   */
  protected JsonNode accounted(JsonNode object, PodSetSlot slot) {
    return slot.in(object);
  }

  /**
   * Whether the kind's own controller leaves a job alone whose annotation {@link
   * KubeQueueKeys#SUSPEND} is {@code "true"}. Starts and stops write the annotation of such a kind
   * where a job has it.
   */
  protected boolean readsSuspendAnnotation() {
    return false;
  }

  /** Why the job must not have quota for now; empty if it may. */
  protected Optional<String> hold(JsonNode object) {
    return Optional.empty();
  }

  /**
   * Whether the job is being deleted and still needs its quota, because its kind's own controller
   * cleans up.
   */
  protected boolean cleansUp(JsonNode object) {
    return false;
  }

  /** Pods that need no quota any more, by pod set; only amounts above zero. */
  protected Map<String, Integer> reclaimable(JsonNode object) {
    return Map.of();
  }

  @Override
  public final JobState state(JsonNode object) {
    boolean suspended = isSuspended(object);
    boolean active = active(object);
    return new JobState(
        suspended,
        suspended && !active,
        suspended && slots(object).stream().anyMatch(slot -> looksStarted(object, slot)),
        active,
        end(object),
        podsReady(object),
        reclaimable(object),
        new JobState.Handling(
            isManageable(object),
            hold(object),
            cleansUp(object),
            readsSuspendAnnotation() && annotation(object).asText().equals("true")));
  }

  @Override
  public List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return slots(object).stream()
        .filter(slot -> slot.template().isPresent())
        .map(
            slot ->
                new ReviewedPodSet(
                    PodSetSlot.shown(slot.template().get()), slot.count(), slot.in(object)))
        .toList();
  }

  private static JsonNode annotation(JsonNode object) {
    return JsonFields.at(object, "metadata", "annotations", KubeQueueKeys.SUSPEND);
  }

  /** A job that only the annotation holds has begun as soon as its controller has said so. */
  @Override
  public boolean neverStarted(JsonNode object) {
    boolean unchanged = JobIntegration.super.neverStarted(object);
    return isSuspended(object)
        ? unchanged
        : unchanged
            && JsonFields.list(object, "status", "conditions").stream()
                .allMatch(condition -> HELD.contains(condition.path("type").asText()));
  }

  private boolean isSuspended(JsonNode object) {
    return JsonFields.at(object, suspendField().toArray(String[]::new)).asBoolean();
  }

  private static boolean looksStarted(JsonNode object, PodSetSlot slot) {
    return slot.in(object).path("metadata").path("labels").has(KueueConstants.PODSET);
  }

  @Override
  public final List<PodSetTemplate> podSets(JsonNode object) {
    return slots(object).stream()
        .map(
            slot ->
                new PodSetTemplate(
                    slot.name(),
                    slot.count(),
                    0,
                    accounted(object, slot) instanceof ObjectNode template
                        ? template
                        : JsonNodeFactory.instance.objectNode(),
                    slot.topologyRequest()))
        .toList();
  }

  @Override
  public final List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    ObjectNode started = object.deepCopy();
    for (PodSetInfo start : starts) {
      PodSetSlot slot = slot(object, start.name());
      if (slot.template().isPresent()) {
        PodTemplateMerger.merge(template(started, slot), start);
      }
    }
    suspend(started, false);
    return List.of(new JobPatch(false, JsonMergePatch.between(object, started)));
  }

  private PodSetSlot slot(ObjectNode object, String podSet) throws StartConflictException {
    for (PodSetSlot slot : slots(object)) {
      if (slot.name().equals(podSet)) {
        return slot;
      }
    }
    throw new StartConflictException("the job has no template of pod set " + podSet);
  }

  private static ObjectNode template(ObjectNode object, PodSetSlot slot)
      throws StartConflictException {
    if (slot.in(object) instanceof ObjectNode found) {
      return found;
    }
    throw new StartConflictException("the job has no template of pod set " + slot.name());
  }

  @Override
  public final Optional<JobPatch> nextStopStep(
      JsonNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode stopped = object.deepCopy();
    suspend(stopped, true);
    for (PodSetSlot slot : slots(object)) {
      if (looksStarted(object, slot) && slot.in(stopped) instanceof ObjectNode found) {
        original
            .flatMap(all -> all.stream().filter(it -> it.name().equals(slot.name())).findFirst())
            .ifPresentOrElse(it -> restore(found, it.template()), () -> unmark(found));
      }
    }
    ObjectNode patch = JsonMergePatch.between(object, stopped);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }

  /** Metadata that a start added to a template without any goes, too. */
  private static void restore(ObjectNode template, JsonNode original) {
    PodTemplateMerger.restore(template, original);
    if (!original.has("metadata") && template.path("metadata").isEmpty()) {
      template.remove("metadata");
    }
  }

  /** Without the original, what is known to come from a start is removed, and the rest stays. */
  private static void unmark(ObjectNode template) {
    if (template.path("metadata").path("labels") instanceof ObjectNode labels) {
      labels.remove(LABELS);
    }
  }

  private void suspend(ObjectNode object, boolean suspended) {
    ObjectNode parent = object;
    for (String field : suspendField().subList(0, suspendField().size() - 1)) {
      parent = parent.get(field) instanceof ObjectNode present ? present : parent.putObject(field);
    }
    parent.put(suspendField().getLast(), suspended);
    if (readsSuspendAnnotation()
        && !annotation(object).isMissingNode()
        && object.path("metadata").path("annotations") instanceof ObjectNode annotations) {
      annotations.put(KubeQueueKeys.SUSPEND, Boolean.toString(suspended));
    }
  }
}
