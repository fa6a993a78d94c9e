package dev.sluice.jobs.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.JobClient;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.ObjectKey;
import dev.sluice.jobs.WorkloadReleaser;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadLister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Removes the finalizer of Workloads of pods that are being deleted, when none of their pods exists
 * any more.
 */
final class PodWorkloadFinalizer {

  private final PodIndex directory;
  private final WorkloadLister workloads;
  private final WorkloadReleaser releaser;
  private final JobClient objects;

  PodWorkloadFinalizer(PodIndex directory, JobReconciler.Dependencies around) {
    this.directory = directory;
    this.workloads = around.workloads().store();
    this.releaser = new WorkloadReleaser(around.writer());
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
      return Optional.of(WorkloadReleaser.AGAIN);
    }
    CachedWorkload workload = found.get();
    for (CachedWorkload.Owner owner : pods(workload)) {
      if (isKnown(name.namespace(), owner) || isThere(name.namespace(), owner)) {
        return Optional.of(WorkloadReleaser.AGAIN);
      }
    }
    return releaser.release(workload, "no pod of it is left");
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
