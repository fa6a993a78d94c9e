package dev.sluice.jobs.policy;

import dev.sluice.jobs.kind.JobRef;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;

/**
 * What jobs may use of LocalQueues and WorkloadPriorityClasses where no webhook judges who makes
 * and changes them: what is for everybody
 * (docs/queueing-policies.md#who-may-use-a-queue-or-a-class).
 */
@FunctionalInterface
public interface UnjudgedUse {

  /** Jobs may use everything: somebody judges all of them. */
  UnjudgedUse ANY = (job, queue, priorityClass) -> Optional.empty();

  /**
   * Why a job may not use what it names; empty if it may, or if somebody judged it.
   *
   * @param queue the name of a LocalQueue in the job's namespace; empty: none
   * @param priorityClass the name of a WorkloadPriorityClass; empty: none
   */
  Optional<String> refusal(JobRef job, String queue, String priorityClass);

  /**
   * Why a job may not use what it names, or what the Workload uses that it names. What its own
   * Workload uses already, it may.
   */
  default Optional<String> refusal(ReconcileContext context) {
    CachedJob job = context.job();
    boolean known =
        present(context)
            .filter(own -> own.spec().queueName().equals(job.queueName()))
            .filter(own -> priorityClass(own).equals(job.workloadPriorityClass()))
            .isPresent();
    Optional<String> ofJob =
        known ? Optional.empty() : refusal(job.ref(), job.queueName(), job.workloadPriorityClass());
    return ofJob.or(
        () ->
            context
                .prebuilt()
                .filter(
                    other ->
                        other
                            .owner()
                            .filter(owner -> owner.uid().equals(job.ref().uid()))
                            .isEmpty())
                .flatMap(
                    other -> refusal(job.ref(), other.spec().queueName(), priorityClass(other))));
  }

  /** The Workload that a job has, and that has not ended. */
  static Optional<CachedWorkload> present(ReconcileContext context) {
    return context.owned().stream()
        .filter(workload -> !workload.finished() && !workload.deleting())
        .findFirst();
  }

  /** The WorkloadPriorityClass of a Workload; empty if its priority is of none. */
  static String priorityClass(CachedWorkload workload) {
    return workload
        .spec()
        .priorityClass()
        .filter(ref -> ref.kind().equals("WorkloadPriorityClass"))
        .map(CachedWorkload.PriorityClassRef::name)
        .orElse("");
  }
}
