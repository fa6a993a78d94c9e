package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadActions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.PodTemplateHash;
import java.util.List;
import java.util.Optional;

/**
 * Jobs that refer to an object which does not exist, so that their pod sets aren't known. Such a
 * job gets no Workload and isn't started. One that has a Workload is taken to have the pod sets of
 * that: it neither stops nor loses its Workload because somebody deleted what it refers to.
 */
final class MissingReference {

  private MissingReference() {}

  /** The object that a job refers to and that does not exist. */
  private static Optional<JobReference> of(JobIntegration integration, CachedJob job) {
    if (integration.references().isEmpty() || job.text().isEmpty()) {
      return Optional.empty();
    }
    ObjectNode object = job.object();
    return integration.reference(object).filter(it -> JobReference.specOf(object).isMissingNode());
  }

  /** What happens to a job in place of the creation of its Workload, or of its start. */
  static Optional<List<JobAction>> awaited(JobIntegration integration, ReconcileContext context) {
    return of(integration, context.job())
        .map(
            missing ->
                WorkloadActions.awaited(
                    context, new Warn("ErrWorkloadCompose", missing + " does not exist")));
  }

  /** The job with the pod sets of its Workload, if its own aren't known. */
  static ReconcileContext assumed(JobIntegration integration, ReconcileContext context) {
    if (of(integration, context.job()).isEmpty()) {
      return context;
    }
    List<CachedWorkload> owned =
        context.owned().stream().filter(workload -> !workload.deleting()).toList();
    return owned.stream()
        .filter(workload -> !workload.finished())
        .reduce((older, newer) -> newer.quotaReserved() ? newer : older)
        .or(() -> owned.stream().findFirst())
        .map(workload -> context.with(context.job().withPodSets(podSets(workload))))
        .orElse(context);
  }

  private static List<CachedJob.PodSet> podSets(CachedWorkload workload) {
    return workload.spec().podSets().stream()
        .map(
            podSet ->
                new CachedJob.PodSet(
                    podSet.name(),
                    podSet.count(),
                    podSet.minCount().orElse(0),
                    new PodTemplateHash(
                        podSet.template().fingerprint(),
                        podSet.template().fingerprintWithoutTolerations()),
                    ""))
        .toList();
  }
}
