package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobClient;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerlessWorkloads.WorkloadReleaser;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Ends what pods leave behind when they don't exist any more: Workloads that are being deleted lose
 * their finalizer, and a Workload whose single pod vanished after an eviction gives its quota back.
 */
final class PodWorkloadFinalizer {

  private final PodIndex index;
  private final WorkloadLister workloads;
  private final WorkloadReleaser releaser;
  private final WorkloadWriter writer;
  private final InstantSource clock;
  private final JobClient objects;
  private final boolean requeues;

  /**
   * For Workloads of the pods in {@code index}.
   *
   * @param requeues whether an evicted Workload that one pod owns is requeued like others
   */
  PodWorkloadFinalizer(PodIndex index, JobReconciler.Dependencies dependencies, boolean requeues) {
    this.index = index;
    this.writer = dependencies.writer();
    this.clock = dependencies.clock();
    this.requeues = requeues;
    this.workloads = dependencies.workloads().store();
    this.releaser = new WorkloadReleaser(dependencies.writer());
    this.objects = dependencies.objects();
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
            || workload.owner().filter(CachedWorkload.Owner::isPod).isPresent());
  }

  /** Whether a Workload of a single pod is evicted and holds quota until the pod is gone. */
  static boolean awaitsEnd(CachedWorkload workload) {
    return workload.evicted()
        && workload.quotaReserved()
        && !workload.finished()
        && workload.owner().filter(CachedWorkload.Owner::isPod).isPresent();
  }

  /** Whether the pod that controls a Workload is not in the index. */
  boolean lacksOwner(CachedWorkload workload) {
    return workload
        .owner()
        .filter(CachedWorkload.Owner::isPod)
        .filter(owner -> !isKnown(workload.id().namespace(), owner))
        .isPresent();
  }

  /**
   * Releases the quota of an evicted Workload, and finishes it, unless its pod exists.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  private Optional<Duration> end(CachedWorkload workload) throws InterruptedException {
    CachedWorkload.Owner owner = workload.owner().orElseThrow();
    String namespace = workload.id().namespace();
    if (isKnown(namespace, owner)) {
      return Optional.empty();
    }
    if (isThere(namespace, owner)) {
      return Optional.of(WorkloadReleaser.AGAIN);
    }
    return WorkloadReleaser.retryDelay(
        Futures.forResult(
            writer.patchStatus(
                workload.id(),
                workload.version(),
                WorkloadStatuses.reservationDroppedForGood(workload, requeues, clock.instant()),
                WorkloadWriter.Urgency.DECISION)));
  }

  /**
   * Does for a Workload what is left to do once its pods are gone.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  Optional<Duration> handle(ObjectKey name) throws InterruptedException {
    Optional<CachedWorkload> vanished =
        workloads
            .get(name.namespace(), name.name())
            .filter(PodWorkloadFinalizer::awaitsEnd)
            .filter(workload -> !concerns(workload));
    return vanished.isPresent() ? end(vanished.get()) : removeFinalizer(name);
  }

  /**
   * Removes the finalizer of a Workload unless one of its pods exists.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  private Optional<Duration> removeFinalizer(ObjectKey name) throws InterruptedException {
    Optional<CachedWorkload> found =
        workloads.get(name.namespace(), name.name()).filter(PodWorkloadFinalizer::concerns);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (index.hasGroup(name.namespace(), name.name())) {
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
    return owners.stream().filter(CachedWorkload.Owner::isPod).toList();
  }

  private boolean isKnown(String namespace, CachedWorkload.Owner owner) {
    return index
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
