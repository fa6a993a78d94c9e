package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadActions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.PriorityClassRef;
import dev.sluice.workload.status.CheckpointRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Keeps a Workload in step with what may change on a job: queue, priority class, gates, where it
 * may go, how long it is expected to run, what it may cost, and when its work was saved. A request
 * to save it goes the other way.
 */
public final class WorkloadSynchronizer {

  private final JobOptions options;

  /** Under the given rules. */
  public WorkloadSynchronizer(JobOptions options) {
    this.options = options;
  }

  /**
   * At most one patch, with all that differs; a warning if the job names a priority class now that
   * doesn't exist.
   */
  public List<JobAction> synchronize(ReconcileContext reconcileContext, CachedWorkload workload) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    CachedJob job = reconcileContext.job();
    queue(job, workload, patch);
    List<JobAction> actions = new ArrayList<>(priority(reconcileContext, workload, patch));
    gates(job, workload, patch);
    placement(job, workload, patch);
    ownersWord(
        job,
        workload,
        RunTimeAnnotations.EXPECTED,
        RunTimeAnnotations.expectedText(job.annotations()),
        patch);
    ownersWord(
        job,
        workload,
        CheckpointAnnotations.CHECKPOINTED_AT,
        CheckpointAnnotations.checkpointedText(job.annotations()),
        patch);
    for (String key : List.of(CostAnnotations.MAX_PRICE, CostAnnotations.MAX_DELAY)) {
      ownersWord(job, workload, key, CostAnnotations.allowedText(job.annotations(), key), patch);
    }
    if (!patch.isEmpty()) {
      actions.addFirst(
          new PatchWorkload(workload, patch, "Updated Workload " + workload.id() + ": " + patch));
    }
    checkpointRequest(job, workload).ifPresent(actions::add);
    return actions;
  }

  /** Asks the job to save its work when its Workload is asked, and takes that back. */
  private static Optional<JobAction> checkpointRequest(CachedJob job, CachedWorkload workload) {
    String wanted = CheckpointRequest.of(workload).map(Instant::toString).orElse(null);
    if (Objects.equals(wanted, job.annotations().get(CheckpointAnnotations.REQUESTED_AT))) {
      return Optional.empty();
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("metadata")
        .putObject("annotations")
        .put(CheckpointAnnotations.REQUESTED_AT, wanted);
    return Optional.of(new JobAction.Annotate(new JobPatch(false, body), "checkpoint request"));
  }

  private void queue(CachedJob job, CachedWorkload workload, ObjectNode patch) {
    boolean mayChange = job.state().suspended() && !workload.quotaReserved();
    if (mayChange && !job.queueName().equals(workload.spec().queueName())) {
      // The API refuses an empty name.
      String wanted = job.queueName().isEmpty() ? null : job.queueName();
      patch.withObjectProperty("spec").put("queueName", wanted);
      limit(workload, options.maximumExecutionTimeSeconds(job), patch);
    } else if (mayChange && !job.prebuiltWorkload().isEmpty()) {
      limit(workload, longestInItsQueue(workload), patch);
    }
  }

  private int longestInItsQueue(CachedWorkload workload) {
    return options.longestIn(workload.id().namespace(), workload.spec().queueName());
  }

  /**
   * What makes a job the controller of a Workload that it names as made for it, which runs no
   * longer than its queue allows; empty if it was admitted for longer, since the limit of an
   * admitted Workload is fixed.
   */
  Optional<PatchWorkload> adopt(CachedJob job, CachedWorkload workload) {
    int most = longestInItsQueue(workload);
    if (workload.admitted() && exceeds(workload, most)) {
      return Optional.empty();
    }
    PatchWorkload adoption = PrebuiltWorkloads.adopt(workload, job);
    limit(workload, most, adoption.patch());
    return Optional.of(adoption);
  }

  /** Tells that a Workload was admitted for too long to be taken. */
  List<JobAction> admittedForTooLong(ReconcileContext reconcileContext, CachedWorkload workload) {
    return WorkloadActions.awaited(
        reconcileContext,
        new Warn(
            JobIntakePolicy.REFUSED,
            "Prebuilt Workload %s is admitted for longer than the %d s that its queue allows"
                .formatted(workload.id(), longestInItsQueue(workload))));
  }

  /**
   * Nobody brings more time into a queue than it gives. A Workload that is written anew for its job
   * gets the limit there; prebuilt ones and those of groups of pods are not.
   */
  private static void limit(CachedWorkload workload, int most, ObjectNode patch) {
    if (exceeds(workload, most)) {
      patch.withObjectProperty("spec").put("maximumExecutionTimeSeconds", most);
      patch
          .withObjectProperty("metadata")
          .withObjectProperty("annotations")
          .put(RunTimeAnnotations.MAX, most + "s");
    }
  }

  /** A Workload that a manager cluster sent has the limit of the manager's queue. */
  private static boolean exceeds(CachedWorkload workload, int most) {
    int known = workload.spec().maximumExecutionTimeSeconds();
    return most > 0 && (known == 0 || known > most) && !isSent(workload);
  }

  private static boolean isSent(CachedWorkload workload) {
    return workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** A Workload that a manager cluster sent has the priority that the manager gives it. */
  private static List<JobAction> priority(
      ReconcileContext reconcileContext, CachedWorkload workload, ObjectNode patch) {
    if (isSent(workload)) {
      return List.of();
    }
    String wanted = reconcileContext.job().workloadPriorityClass();
    Optional<PriorityClassRef> present = workload.spec().priorityClass();
    boolean byLabel = present.filter(ref -> ref.kind().equals("WorkloadPriorityClass")).isPresent();
    String known = byLabel ? present.orElseThrow().name() : "";
    boolean mayChange = !workload.quotaReserved() || (byLabel && !wanted.isEmpty());
    if (wanted.equals(known) || !mayChange) {
      return List.of();
    }
    return switch (PrioritySource.of(reconcileContext.job(), reconcileContext.priorities())) {
      case PrioritySource.Missing missing -> WorkloadActions.missing(reconcileContext, missing);
      case PrioritySource.Found found -> {
        ObjectNode spec = patch.withObjectProperty("spec");
        spec.setAll(WorkloadFactory.priority(found));
        if (!spec.has("priorityClassRef")) {
          spec.putNull("priorityClassRef");
        }
        yield List.of();
      }
    };
  }

  private static void gates(CachedJob job, CachedWorkload workload, ObjectNode patch) {
    String known = workload.annotations().getOrDefault(KueueConstants.ADMISSION_GATED_BY, "");
    String wanted = job.annotations().getOrDefault(KueueConstants.ADMISSION_GATED_BY, "");
    if (known.isEmpty() || known.equals(wanted)) {
      return;
    }
    ObjectNode annotations = patch.withObjectProperty("metadata").withObjectProperty("annotations");
    if (wanted.isEmpty()) {
      annotations.putNull(KueueConstants.ADMISSION_GATED_BY);
    } else {
      annotations.put(KueueConstants.ADMISSION_GATED_BY, wanted);
    }
  }

  /** Updates the limits on worker clusters while the job is suspended and not admitted. */
  private static void placement(CachedJob job, CachedWorkload workload, ObjectNode patch) {
    if (!job.state().suspended() || workload.admitted()) {
      return;
    }
    for (String key : PlacementLimits.KEYS) {
      String wanted = job.annotations().get(key);
      if (!Objects.equals(wanted, workload.annotations().get(key))) {
        patch.withObjectProperty("metadata").withObjectProperty("annotations").put(key, wanted);
      }
    }
  }

  /** At any time; a Workload that somebody else made keeps what it says if the job says nothing. */
  private static void ownersWord(
      CachedJob job, CachedWorkload workload, String key, Optional<String> text, ObjectNode patch) {
    String wanted = text.orElse(null);
    boolean itsOwn = wanted == null && !job.prebuiltWorkload().isEmpty();
    if (!itsOwn && !Objects.equals(wanted, workload.annotations().get(key))) {
      patch.withObjectProperty("metadata").withObjectProperty("annotations").put(key, wanted);
    }
  }
}
