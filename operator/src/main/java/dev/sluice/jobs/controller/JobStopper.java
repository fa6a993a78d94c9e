package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobIntegration.JobStopProcedure;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a job by the steps of its kind. Each write is guarded by the resourceVersion that the write
 * before it produced, so that no change of others is lost. A stop that is interrupted is continued
 * by the next call.
 */
final class JobStopper {

  private static final Logger LOG = LoggerFactory.getLogger(JobStopper.class);

  private final JobIntegration integration;
  private final JobClient objects;
  private final InstantSource clock;

  JobStopper(JobIntegration integration, JobClient objects, InstantSource clock) {
    this.integration = integration;
    this.objects = objects;
    this.clock = clock;
  }

  /** The result of a stop. */
  sealed interface Result {

    /** The job is stopped and restored, in this version. */
    record Stopped(long version) implements Result {}

    /** The job was changed in between. */
    record Requeue() implements Result {}

    /** The job's own controller has not observed the last step yet; the job changes when it has. */
    record InProgress() implements Result {}

    /** The job doesn't exist any more. */
    record Gone() implements Result {}

    /** The API server refuses a step. */
    record Refused(String message) implements Result {}
  }

  /**
   * Takes the next steps of a stop.
   *
   * @param patient whether the job's own controller still has time to observe the suspension;
   *     otherwise the job is restored without that, since it may have no controller
   */
  Result stop(CachedJob job, JobAction.Stop stop, boolean patient) throws InterruptedException {
    JobRef ref = job.ref();
    Optional<ObjectNode> found =
        Futures.forResult(objects.read(ref.kind().path(ref.namespace(), ref.name())));
    if (found.isEmpty() || !isThis(job, found.get())) {
      return new Result.Gone();
    }
    return integration.ending().isPresent()
        ? end(ref, stop, found.get(), integration.ending().get())
        : suspend(ref, stop, found.get(), patient);
  }

  /**
   * Writes the reason on the job, and deletes the job. Nobody else waits for the reason, but
   * whoever sent the job here: a refusal of it doesn't keep the job running.
   */
  private Result end(JobRef ref, JobAction.Stop stop, ObjectNode object, JobStopProcedure ending)
      throws InterruptedException {
    if (object.path("metadata").hasNonNull("deletionTimestamp")) {
      return new Result.Stopped(version(object));
    }
    Optional<JobPatch> words =
        ending.terminationPatch(object, stop.word(), stop.note(), clock.instant());
    if (words.isPresent()) {
      ApiOutcome said = Futures.forResult(objects.patch(ref, version(object), words.get()));
      boolean sent = JsonFields.labels(object).containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
      if (said instanceof ApiOutcome.Refused refused && !sent) {
        LOG.warn("job=\"{}\" stopped without a reason on it: {}", ref, refused.message());
      } else if (!(said instanceof ApiOutcome.Written)) {
        return result(said);
      }
    }
    return result(Futures.forResult(objects.delete(ref)));
  }

  private static Result result(ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Written written -> new Result.Stopped(version(written.object()));
      case ApiOutcome.Conflict conflict -> new Result.Requeue();
      case ApiOutcome.Gone gone -> new Result.Gone();
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      case ApiOutcome.Refused refused -> new Result.Refused(refused.message());
    };
  }

  private Result suspend(JobRef ref, JobAction.Stop stop, ObjectNode found, boolean patient)
      throws InterruptedException {
    Optional<List<PodSetTemplate>> original = original(stop.original());
    ObjectNode object = found;
    boolean suspendedBefore = integration.state(object).suspended();
    for (int step = 0; step < JobIntegration.MOST_STOP_STEPS; step++) {
      Optional<JobPatch> next = integration.nextStopStep(object, original);
      if (next.isEmpty()) {
        return new Result.Stopped(version(object));
      }
      if ((patient || !suspendedBefore) && isInProgress(object)) {
        return new Result.InProgress();
      }
      switch (patch(ref, object, next.get())) {
        case ApiOutcome.Written written -> object = written.object();
        case ApiOutcome.Conflict conflict -> {
          return new Result.Requeue();
        }
        case ApiOutcome.Gone gone -> {
          return new Result.Gone();
        }
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
        case ApiOutcome.Refused refused -> {
          return isInProgress(object)
              ? new Result.InProgress()
              : new Result.Refused(refused.message());
        }
      }
    }
    throw new IllegalStateException(
        "stopping " + ref + " takes more than " + JobIntegration.MOST_STOP_STEPS + " steps");
  }

  /**
   * Writes a step. Whoever writes a job that runs all the time, such as its controller or its
   * owner, must not keep it running by that: if its suspension meets another version, it is written
   * to any.
   */
  private ApiOutcome patch(JobRef ref, JsonNode object, JobPatch step) throws InterruptedException {
    ApiOutcome outcome = Futures.forResult(objects.patch(ref, version(object), step));
    return outcome instanceof ApiOutcome.Conflict && !integration.state(object).suspended()
        ? Futures.forResult(objects.patch(ref, JobClient.ANY_VERSION, step))
        : outcome;
  }

  /** Whether the job is suspended and its own controller has not stopped its pods yet. */
  private boolean isInProgress(JsonNode object) {
    JobState state = integration.state(object);
    return state.suspended() && !state.settled();
  }

  private static boolean isThis(CachedJob job, JsonNode object) {
    return object.path("metadata").path("uid").asText().equals(job.ref().uid());
  }

  private static long version(JsonNode object) {
    return object.path("metadata").path("resourceVersion").asLong();
  }

  /** The pod sets with their templates, read from the API server: the cache has no templates. */
  private Optional<List<PodSetTemplate>> original(Optional<CachedWorkload> workload)
      throws InterruptedException {
    if (workload.isEmpty()) {
      return Optional.empty();
    }
    WorkloadId id = workload.get().id();
    Optional<ObjectNode> object =
        Futures.forResult(objects.read(JobKind.WORKLOAD.path(id.namespace(), id.name())));
    return object.map(PodSetTemplate::listOf);
  }
}
