package dev.sluice.jobs.policy;

import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/** The actions that write into a Workload what its job says. */
public final class WorkloadActions {

  /** The delay after which a job is looked at again whose priority class doesn't exist. */
  static final Duration RETRY = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofMillis(500);

  private final JobIntegration integration;
  private final WorkloadFactory workloads;

  /** For jobs of the integration's kind, by this factory. */
  public WorkloadActions(JobIntegration integration, WorkloadFactory workloads) {
    this.integration = integration;
    this.workloads = workloads;
  }

  /**
   * Creates the Workload of a job.
   *
   * @param elastic whether it is the first slice of an elastic job
   */
  List<JobAction> create(ReconcileContext context, boolean elastic) {
    CachedJob job = context.job();
    return withPriority(
        context,
        priority ->
            new CreateWorkload(
                elastic
                    ? workloads.composeSlice(
                        job, workloads.sliceName(job, context.owned()), podSets(job), priority)
                    : workloads.compose(job, podSets(job), priority)));
  }

  /**
   * Changes a Workload to what its job says now.
   *
   * @param note what is said about it in an event
   */
  public List<JobAction> rewrite(ReconcileContext context, CachedWorkload workload, String note) {
    CachedJob job = context.job();
    return withPriority(
        context,
        priority ->
            new PatchWorkload(workload, workloads.rewrite(job, podSets(job), priority), note));
  }

  /** An action that needs the priority of a job; a warning if the priority class doesn't exist. */
  public static List<JobAction> withPriority(
      ReconcileContext context, Function<PrioritySource.Found, JobAction> action) {
    return switch (PrioritySource.of(context.job(), context.priorities())) {
      case PrioritySource.Found found -> List.of(action.apply(found));
      case PrioritySource.Missing missing -> missing(context, missing);
    };
  }

  /** The warning for a priority class that doesn't exist; the job is looked at again. */
  static List<JobAction> missing(ReconcileContext context, PrioritySource.Missing missing) {
    return awaited(
        context,
        new Warn(
            "WorkloadPriorityClassNotFound",
            "%s \"%s\" does not exist".formatted(missing.kind(), missing.name())));
  }

  /**
   * The cache may see an object that was created together with the job a moment after the job;
   * until then there is no warning.
   */
  static List<JobAction> awaited(ReconcileContext context, Warn warning) {
    Instant patience = context.job().createdAt().plus(RETRY);
    return context.now().isBefore(patience)
        ? List.of(new Requeue(SOON))
        : List.of(warning, new Requeue(RETRY));
  }

  /** The pod sets of a job, with their templates. */
  public List<PodSetTemplate> podSets(CachedJob job) {
    return integration.podSets(job.object());
  }
}
