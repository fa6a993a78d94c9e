package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which job an object is a part of, by its controller owner reference: anybody can write one, so it
 * is believed only as far as the descriptions of kinds say. A kind without a description is
 * believed, unless a description speaks for its group.
 */
public final class BelievedOwners {

  private final List<JobKindDescription> kinds;
  private final boolean podsCounted;

  /** By the descriptions of these kinds, where pods are not counted. */
  public BelievedOwners(List<JobKindDescription> kinds) {
    this(kinds, false);
  }

  /**
   * By the descriptions of these kinds.
   *
   * @param podsCounted whether pods are compared with what their Workloads were admitted with
   *     (docs/pod-accounting.md): then more is believed, since a part of a job is charged to it
   */
  public BelievedOwners(List<JobKindDescription> kinds, boolean podsCounted) {
    this.kinds = List.copyOf(kinds);
    this.podsCounted = podsCounted;
  }

  /**
   * The owner that an object is a part of: the one that it names, or the job behind that one; empty
   * if the one that it names can't have created it. A job behind another owner has no UID here.
   *
   * @param named the owner that the object names as its controller
   * @param kind the kind of the object
   * @param labels labels of the object
   */
  public Optional<CachedJob.Controller> of(
      CachedJob.Controller named, String kind, Map<String, String> labels) {
    return mayCreate(named, kind)
        ? Optional.of(named)
        : kinds.stream()
            .flatMap(
                it ->
                    it.jobBehind(named.kind(), kind, labels).stream()
                        .map(
                            name ->
                                new CachedJob.Controller(
                                    it.kind().apiVersion(), it.kind().kind(), name, "")))
            .findFirst();
  }

  private boolean mayCreate(CachedJob.Controller owner, String kind) {
    return speaking(owner).stream()
        .allMatch(it -> it.creates(kind) || podsCounted && it.orchestrates(kind));
  }

  /**
   * Whether a pod that no controller of the cluster created is a pod of the owner that it names as
   * its controller.
   */
  public boolean adopts(CachedJob.Controller named, Map<String, String> labels) {
    return speaking(named).stream().allMatch(it -> it.adopts(labels, named.uid()));
  }

  /** Whether an owner of a Workload has the Workload although it is not its controller. */
  public boolean sharesWorkload(CachedWorkload.Owner owner) {
    return describing(owner.apiVersion(), owner.kind())
        .filter(JobKindDescription::sharesWorkload)
        .isPresent();
  }

  /** The description of the owner's kind, or else those that speak for its group. */
  private List<JobKindDescription> speaking(CachedJob.Controller owner) {
    Optional<JobKindDescription> known = describing(owner.apiVersion(), owner.kind());
    return known.isPresent()
        ? List.of(known.get())
        : kinds.stream()
            .filter(JobKindDescription::speaksForGroup)
            .filter(it -> it.kind().is(owner.apiVersion(), it.kind().kind()))
            .toList();
  }

  private Optional<JobKindDescription> describing(String apiVersion, String kind) {
    return kinds.stream().filter(it -> it.kind().is(apiVersion, kind)).findFirst();
  }
}
