package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * One thing to do for a job. Actions are done in order; the rest is dropped when one fails, unless
 * it was an {@link Attempt}.
 */
public sealed interface JobAction {

  /** Create its Workload. */
  record CreateWorkload(ObjectNode workload) implements JobAction {}

  /**
   * Patch its Workload so that it says what the job says now.
   *
   * @param note what changed, for people; empty when it concerns nobody
   */
  record PatchWorkload(CachedWorkload workload, ObjectNode patch, String note)
      implements JobAction {}

  /**
   * Patch the status of its Workload.
   *
   * @param change what that means, for the log
   */
  record PatchStatus(CachedWorkload workload, ObjectNode status, String change)
      implements JobAction {

    /** Whether it gives the quota back, which others get at once. */
    public boolean releasesQuota() {
      return status.path("admission").isNull();
    }
  }

  /**
   * The same, within some time: it is left out if something else is written of the Workload until
   * then that says the same.
   *
   * @param write from the first time that this was decided for the job
   * @param within counted from that time while the API server has time for everything; up to ten
   *     times as much while writes take long
   */
  record PatchStatusSoon(Function<Instant, PatchStatus> write, Duration within)
      implements JobAction {}

  /** Mark its Workload finished, for a reason of docs/workload-semantics.md#conditions. */
  record FinishWorkload(CachedWorkload workload, ObjectNode status, String reason, String message)
      implements JobAction {}

  /**
   * Create a slice of an elastic job that takes the place of another one.
   *
   * @param replaced the slice that it is made from
   * @param counts the pods of each pod set
   */
  record CreateSlice(CachedWorkload replaced, String name, Map<String, Integer> counts)
      implements JobAction {}

  /**
   * Change the size of a slice in place.
   *
   * @param counts the pods of each pod set
   * @param waitsForPods whether it has to wait until no more pods run than these
   */
  record ResizeSlice(CachedWorkload slice, Map<String, Integer> counts, boolean waitsForPods)
      implements JobAction {}

  /**
   * Try what nothing else has to wait for. If it fails, what follows is done nevertheless; if
   * something is written, that is decided again when the write is seen.
   *
   * @param steps are done in order; the first that fails ends them
   */
  record Attempt(List<JobAction> steps) implements JobAction {}

  /**
   * Write annotations of the job.
   *
   * @param what the annotations are about, for the log
   */
  record Annotate(JobPatch patch, String what) implements JobAction {}

  /** Open the gates of as many pods as a slice was granted. */
  record OpenGates(CachedWorkload slice) implements JobAction {}

  /** Delete a Workload that is not the job's any more. */
  record DeleteWorkload(CachedWorkload workload, String why) implements JobAction {

    /** Why a Workload is deleted whose job was changed; its event has the text of Kueue's. */
    public static final String NOT_MATCHING = "it does not match its job any more";
  }

  /**
   * Delete the job, and what it owns, in the background.
   *
   * @param reason what people are told that it is
   */
  record DeleteJob(String reason, String note) implements JobAction {}

  /** Note further owners of a Workload on it. */
  record AddOwners(CachedWorkload workload, ObjectNode patch, String note) implements JobAction {}

  /** Take the finalizer off a Workload that needs no guarding any more. */
  record RemoveFinalizer(CachedWorkload workload) implements JobAction {}

  /** Take our finalizer off the job itself. */
  record RemoveFinalizers(JobPatch patch) implements JobAction {

    /** The write that takes our finalizer off a job and leaves the others. */
    public static JobPatch patchOf(CachedJob job) {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      ArrayNode rest = body.putObject("metadata").putArray("finalizers");
      job.finalizers().stream()
          .filter(name -> !name.equals(KueueConstants.MANAGED))
          .forEach(rest::add);
      return new JobPatch(false, body);
    }
  }

  /**
   * Make a PodGroup of kube-scheduler for a pod set of a job that is about to start, or see that it
   * is there.
   *
   * @param collection where PodGroups of the job's namespace are
   */
  record MakePodGroup(String collection, ObjectNode podGroup) implements JobAction {}

  /** Let the job run. */
  record Start(CachedWorkload workload, List<JobPatch> patches, String note) implements JobAction {}

  /**
   * Stop the job and give its templates back what they had before it was started; or delete it, if
   * it is of a kind that can't be stopped otherwise.
   *
   * @param reason why the job is stopped
   * @param cause the reason of the Workload's condition Evicted; empty unless that is why
   * @param original the Workload that knows the templates; empty when none does
   */
  record Stop(StopReason reason, String cause, Optional<CachedWorkload> original, String note)
      implements JobAction {

    /** A stop that isn't due to an eviction. */
    public Stop(StopReason reason, Optional<CachedWorkload> original, String note) {
      this(reason, "", original, note);
    }

    /** A stop because a Workload is evicted; the job gets the templates back that it says. */
    public static Stop evicted(CachedWorkload workload) {
      return evicted(Optional.of(workload), workload.status().condition("Evicted").orElseThrow());
    }

    /** A stop because of the condition Evicted, which is True. */
    public static Stop evicted(
        Optional<CachedWorkload> original, CachedWorkload.Condition evicted) {
      return new Stop(StopReason.WORKLOAD_EVICTED, evicted.reason(), original, evicted.message());
    }

    /** The reason as it is written on a job that is deleted for it: it names the cause. */
    public String word() {
      return cause.isEmpty() ? reason.word() : reason.word() + "DueTo" + cause;
    }
  }

  /** Give the job, which names no queue, the queue that it belongs to. */
  record AssignQueue(String queue, JobPatch patch) implements JobAction {}

  /** Tell people of something they should look at. */
  record Warn(String reason, String note) implements JobAction {}

  /** Look again after a while, since nothing may happen that would make us. */
  record Requeue(Duration after) implements JobAction {}

  /** Why a job is stopped. */
  enum StopReason {
    WORKLOAD_DELETED("WorkloadDeleted"),
    WORKLOAD_EVICTED("WorkloadEvicted"),
    NO_MATCHING_WORKLOAD("NoMatchingWorkload"),
    NOT_ADMITTED("NotAdmitted"),
    /** A managed owner of the job, which has the Workload, is not admitted. */
    OWNER_NOT_ADMITTED("NotAdmitted");

    private final String word;

    StopReason(String word) {
      this.word = word;
    }

    /** The reason as the API writes it. */
    public String word() {
      return word;
    }
  }
}
