package dev.sluice.jobs.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.JobClient;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.ObjectKey;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadFinalizer;
import dev.sluice.workload.WorkloadLister;
import dev.sluice.workload.WorkloadWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the finalizer of Workloads of pods that are being deleted, when none of their pods exists
 * any more.
 */
final class PodWorkloadFinalizer {

  private static final Logger LOG = LoggerFactory.getLogger(PodWorkloadFinalizer.class);
  private static final Duration AGAIN = Duration.ofSeconds(2);

  /** A refused write leaves the quota held, so it is repeated. */
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(10);

  private final PodIndex directory;
  private final WorkloadLister workloads;
  private final WorkloadWriter writer;
  private final JobClient objects;

  PodWorkloadFinalizer(PodIndex directory, JobReconciler.Dependencies around) {
    this.directory = directory;
    this.workloads = around.workloads().store();
    this.writer = around.writer();
    this.objects = around.objects();
  }

  /** Whether an owner is a pod. */
  static boolean isPod(CachedWorkload.Owner owner) {
    return SinglePod.KIND.is(owner.apiVersion(), owner.kind());
  }

  /** Whether a Workload was made for a group of pods. */
  static boolean isOfGroup(CachedWorkload workload) {
    return "true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD));
  }

  /** Whether a Workload belongs to pods, is being deleted and has the finalizer. */
  static boolean concerns(CachedWorkload workload) {
    return workload.deleting()
        && workload.finalized()
        && (isOfGroup(workload)
            || workload.owner().filter(PodWorkloadFinalizer::isPod).isPresent());
  }

  /**
   * Removes the finalizer of a Workload unless one of its pods exists.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  Optional<Duration> removeFinalizer(ObjectKey name) throws InterruptedException {
    Optional<CachedWorkload> found =
        workloads.get(name.namespace(), name.name()).filter(PodWorkloadFinalizer::concerns);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (directory.hasGroup(name.namespace(), name.name())) {
      return Optional.of(AGAIN);
    }
    CachedWorkload workload = found.get();
    for (CachedWorkload.Owner owner : pods(workload)) {
      if (isKnown(name.namespace(), owner) || isThere(name.namespace(), owner)) {
        return Optional.of(AGAIN);
      }
    }
    WorkloadWriter.Outcome outcome =
        Futures.forResult(
            writer.patch(workload.id(), workload.version(), WorkloadFinalizer.removal(workload)));
    return switch (outcome) {
      case WorkloadWriter.Outcome.Written written -> {
        LOG.info("workload={} released, reason=\"no pod of it is left\"", workload.id());
        yield Optional.empty();
      }
      case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
      case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(AGAIN);
      case WorkloadWriter.Outcome.Refused refused -> Optional.of(AFTER_REFUSAL);
    };
  }

  private static List<CachedWorkload.Owner> pods(CachedWorkload workload) {
    List<CachedWorkload.Owner> owners = new ArrayList<>(workload.coOwners());
    workload.owner().ifPresent(owners::add);
    return owners.stream().filter(PodWorkloadFinalizer::isPod).toList();
  }

  private boolean isKnown(String namespace, CachedWorkload.Owner owner) {
    return directory
        .find(namespace, owner.name())
        .filter(pod -> pod.job().ref().uid().equals(owner.uid()))
        .isPresent();
  }

  private boolean isThere(String namespace, CachedWorkload.Owner owner)
      throws InterruptedException {
    return Futures.forResult(objects.read(SinglePod.KIND.path(namespace, owner.name())))
        .filter(pod -> pod.path("metadata").path("uid").asText().equals(owner.uid()))
        .isPresent();
  }
}
