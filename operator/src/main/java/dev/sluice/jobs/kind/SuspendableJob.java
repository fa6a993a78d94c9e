package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A kind of job that one field suspends. A subclass tells how the status is read, and where what a
 * start gives to pods is written and removed; the patches follow from that. One patch starts a job,
 * and each step of a stop is one patch.
 */
public abstract class SuspendableJob implements JobIntegration {

  /** Conditions of a job that its controller has seen and holds. */
  private static final Set<String> HELD = Set.of("Created", "Queuing", "Suspended");

  /**
   * The object whose status tells about the pods, for {@link #active}, {@link #podsReady} and
   * {@link #reclaimable}: the job itself, unless its kind derives another object from it.
   */
  protected JsonNode observed(JsonNode object) {
    return object;
  }

  /** Whether pods of the job run. */
  protected abstract boolean active(JsonNode observed);

  /** Whether all pods of the job are ready or done. */
  protected abstract boolean podsReady(JsonNode observed);

  /** How the job ended, if it has. */
  protected abstract Optional<JobState.End> end(JsonNode object);

  /** Whether a suspended job still has what a start gave it, and could be without it now. */
  protected abstract boolean looksStarted(JsonNode object);

  /**
   * Writes what a start gives to the pod sets of a job.
   *
   * @param job a copy of the object, which is changed in place
   * @throws StartConflictException if the job contradicts it
   */
  protected abstract void give(ObjectNode job, List<PodSetInfo> starts)
      throws StartConflictException;

  /**
   * Removes what a start gave to the pod sets of a job.
   *
   * @param object the job before this step of the stop
   * @param job a copy of the object that is suspended; it is changed in place
   * @param original the pod sets as they were before the start; empty if they are not known
   */
  protected abstract void takeBack(
      JsonNode object, ObjectNode job, Optional<List<PodSetTemplate>> original);

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
   * Fields by which the kind's own controller makes other pods than the pod sets say. {@link
   * #validate} refuses them; a job that has them all the same is held, because what it runs can't
   * be charged.
   */
  protected List<InvalidField> uncounted(JsonNode object) {
    return List.of();
  }

  /** How much of a path and a rule is shown, both of which may name what users wrote. */
  private static final int MOST_SHOWN = 1024;

  private Optional<String> heldBack(JsonNode object) {
    return hold(object)
        .or(
            () ->
                uncounted(object).stream()
                    .findFirst()
                    .map(
                        field ->
                            "What the job runs can't be counted: %s: %s"
                                .formatted(
                                    TextLimits.shown(field.path(), MOST_SHOWN),
                                    TextLimits.shown(field.rule(), MOST_SHOWN))));
  }

  /**
   * Whether the job is being deleted and still needs its quota, because its kind's own controller
   * cleans up.
   */
  protected boolean cleansUp(JsonNode object) {
    return false;
  }

  /** Pods that need no quota any more, by pod set; only amounts above zero. */
  protected Map<String, Integer> reclaimable(JsonNode observed) {
    return Map.of();
  }

  /** Of a kind whose objects hold no templates: those that follow from them. */
  @Override
  public List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return podSets(object).stream()
        .map(
            podSet ->
                ReviewedPodSet.ofTemplate(
                    "podSets[" + podSet.name() + "].template", podSet.count(), podSet.template()))
        .toList();
  }

  @Override
  public final JobState state(JsonNode object) {
    boolean suspended = isSuspended(object);
    JsonNode observed = observed(object);
    boolean active = active(observed);
    return new JobState(
        suspended,
        suspended && !active,
        suspended && looksStarted(object),
        active,
        end(object),
        podsReady(observed),
        reclaimable(observed),
        new JobState.Handling(
            isManageable(object),
            heldBack(object),
            cleansUp(object),
            readsSuspendAnnotation() && annotation(object).asText().equals("true")));
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

  /**
   * The part of a job that holds the template of a pod set, for {@link #give}.
   *
   * @throws StartConflictException if no part does
   */
  protected static <T> T partOf(List<T> parts, Function<T, String> podSet, PodSetInfo start)
      throws StartConflictException {
    for (T part : parts) {
      if (podSet.apply(part).equals(start.name())) {
        return part;
      }
    }
    throw new StartConflictException("the job has no template of pod set " + start.name());
  }

  /** The template of a pod set before the start, for {@link #takeBack}; empty if it isn't known. */
  protected static Optional<ObjectNode> templateOf(
      Optional<List<PodSetTemplate>> original, String podSet) {
    return original.stream()
        .flatMap(List::stream)
        .filter(it -> it.name().equals(podSet))
        .findFirst()
        .map(PodSetTemplate::template);
  }

  /** Whether the job is told not to run. */
  protected final boolean isSuspended(JsonNode object) {
    return JsonFields.at(object, suspendField().toArray(String[]::new)).asBoolean();
  }

  @Override
  public final List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    ObjectNode started = object.deepCopy();
    give(started, starts);
    suspend(started, false);
    return List.of(new JobPatch(false, JsonMergePatch.between(object, started)));
  }

  @Override
  public final Optional<JobPatch> nextStopStep(
      JsonNode object, Optional<List<PodSetTemplate>> original) {
    ObjectNode stopped = object.deepCopy();
    suspend(stopped, true);
    takeBack(object, stopped, original);
    ObjectNode patch = JsonMergePatch.between(object, stopped);
    return patch.isEmpty() ? Optional.empty() : Optional.of(new JobPatch(false, patch));
  }

  private void suspend(ObjectNode object, boolean suspended) {
    ObjectNode parent = object;
    for (String field : suspendField().subList(0, suspendField().size() - 1)) {
      parent = parent.get(field) instanceof ObjectNode present ? present : parent.putObject(field);
    }
    JsonNode value = suspension(suspended);
    if (value.isNull()) {
      parent.remove(suspendField().getLast());
    } else {
      parent.set(suspendField().getLast(), value);
    }
    if (readsSuspendAnnotation()
        && !annotation(object).isMissingNode()
        && object.path("metadata").path("annotations") instanceof ObjectNode annotations) {
      annotations.put(KubeQueueKeys.SUSPEND, Boolean.toString(suspended));
    }
  }
}
