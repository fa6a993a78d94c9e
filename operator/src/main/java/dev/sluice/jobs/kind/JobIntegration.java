package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.json.JsonMergePatch;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All that is particular to a kind of job: how its jobs are read, started and stopped, and what the
 * rest of the operator has to know of the kind. The methods are pure functions of the object's
 * JSON: an implementation keeps no state, does no I/O and never changes its arguments.
 */
public interface JobIntegration extends JobKindDescription {

  /** With so many steps every stop is at its end. */
  int MOST_STOP_STEPS = 8;

  /** The state of the job, from its spec and status. */
  JobState state(JsonNode object);

  /**
   * The state of the job in another cluster, as annotations of the object report it; empty without
   * such a report. Users can write these annotations: a caller must know from elsewhere that the
   * job runs in another cluster before it relies on the report.
   */
  default Optional<JobState> remoteStatus(JsonNode object) {
    return Optional.empty();
  }

  /**
   * Whether a job that is held was created so and never ran. By default that is a job whose spec
   * has not changed since its creation: what suspends it is a field of the spec.
   */
  default boolean neverStarted(JsonNode object) {
    return object.path("metadata").path("generation").asLong(1) <= 1;
  }

  /** The pod sets of the job, in the order in which its Workload lists them. */
  List<PodSetTemplate> podSets(JsonNode object);

  /**
   * The kinds of objects that jobs of this kind refer to and that their pod sets depend on. These
   * objects are watched with the jobs.
   */
  default List<ReferencedKind> references() {
    return List.of();
  }

  /**
   * The object that a job refers to; its kind is one of {@link #references}. Its spec, as far as
   * the object exists, is part of the JSON that the methods of this interface get ({@link
   * JobReference#specOf}).
   */
  default Optional<JobReference> reference(JsonNode object) {
    return Optional.empty();
  }

  /** Access to the jobs, and to read the objects that they refer to. */
  @Override
  default List<RbacRule> roles() {
    return Stream.concat(
            JobKindDescription.super.roles().stream(),
            references().stream().map(it -> RbacRule.of(it.kind(), "list", "watch")))
        .toList();
  }

  /** The priority class that a field of the kind names; empty when it names none. */
  default String priorityClass(JsonNode object) {
    return "";
  }

  /**
   * The writes that start a suspended job, in order; the last write unsuspends the job.
   *
   * @param starts for each pod set, what its template gets: labels, node selectors, tolerations
   * @throws StartConflictException if a template already has a different value for one of them
   */
  List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts) throws StartConflictException;

  /**
   * The next write that brings the job closer to being suspended with its original templates. The
   * caller calls this method again with the object that the write produced, until the result is
   * empty. A stop that was interrupted continues from the object as it is.
   *
   * @param original the pod sets as they were before the start; empty if they are not known any
   *     more, in which case the templates stay as they are
   */
  Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original);

  /**
   * The job as it was before its start: what the steps of a stop would make of it.
   *
   * @param original the pod sets as they were before the start
   */
  default ObjectNode unstarted(ObjectNode object, List<PodSetTemplate> original) {
    ObjectNode unstarted = object;
    for (int step = 0; step < MOST_STOP_STEPS; step++) {
      Optional<JobPatch> next = nextStopStep(unstarted, Optional.of(original));
      if (next.isEmpty()) {
        break;
      }
      unstarted = JsonMergePatch.applied(unstarted, next.get().body());
    }
    return unstarted;
  }

  /**
   * Selects the pods of an elastic job by their labels; empty while the job can't have any
   * (docs/elastic-jobs.md#pods). Only for kinds whose jobs can be elastic.
   */
  default Optional<String> podSelector(JsonNode object) {
    return Optional.empty();
  }

  /** Whether a pod set of an elastic job never changes its size, so that its pods aren't gated. */
  default boolean keepsSize(String podSet) {
    return false;
  }

  /** Annotations of an elastic job that are written when its slices change. */
  default Map<String, String> sizeAnnotations(JsonNode object) {
    return Map.of();
  }

  /**
   * How a job is stopped whose kind can't be suspended and run again: the job is deleted. Empty for
   * kinds that can be suspended.
   */
  default Optional<JobStopProcedure> ending() {
    return Optional.empty();
  }

  /** How jobs are stopped that can't be suspended: something is noted on them, then they go. */
  @FunctionalInterface
  interface JobStopProcedure {

    /**
     * What is written on the job before it is deleted; empty when it says so already.
     *
     * @param reason why it is stopped, in one word
     * @param note why it is stopped, for people
     */
    Optional<JobPatch> terminationPatch(JsonNode object, String reason, String note, Instant now);
  }
}
