package dev.sluice.jobs.controller;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the managed ancestor of a job along its controlling owners. The walk passes through kinds
 * that the registry knows; an owner of any other kind ends it, and so does one that can't have
 * created what names it ({@link BelievedOwners}).
 */
public final class OwnerChainResolver {

  private static final int DEEPEST = 10;

  private final JobOptions options;
  private final WorkloadLister workloads;
  private final IntegrationRegistry jobs;
  private final BelievedOwners believed;

  /** A resolver that walks through the kinds of the registry, where pods are not counted. */
  public OwnerChainResolver(
      JobOptions options, WorkloadLister workloads, IntegrationRegistry jobs) {
    this(options, workloads, jobs, false);
  }

  /**
   * A resolver that walks through the kinds of the registry.
   *
   * @param podsCounted whether pods are compared with what their Workloads were admitted with
   */
  public OwnerChainResolver(
      JobOptions options, WorkloadLister workloads, IntegrationRegistry jobs, boolean podsCounted) {
    this.options = options;
    this.workloads = workloads;
    this.jobs = jobs;
    this.believed =
        new BelievedOwners(
            jobs.enabled().stream().map(Integration::description).toList(), podsCounted);
  }

  /** Whether this owner of something in the namespace is a job that is managed, or below one. */
  public boolean isManaged(String namespace, CachedJob.Controller owner) {
    return jobs.find(namespace, owner)
        .map(this::status)
        .filter(
            managementStatus ->
                managementStatus instanceof ManagementStatus.Own
                    || managementStatus instanceof ManagementStatus.ChildOfManaged)
        .isPresent();
  }

  /**
   * Whether this owner of something in the namespace, or one of its owners, names this queue and
   * this priority class, and somebody judged that; an empty name is any.
   */
  public boolean names(
      String namespace, CachedJob.Controller owner, String queue, String priorityClass) {
    Optional<CachedJob> next = jobs.find(namespace, owner);
    for (int depth = 0; next.isPresent() && depth < DEEPEST; depth++) {
      CachedJob job = next.get();
      String ofJob = job.labels().getOrDefault(KueueConstants.PRIORITY_CLASS, "");
      if ((queue.isEmpty() || job.queueName().equals(queue))
          && (priorityClass.isEmpty() || ofJob.equals(priorityClass))
          && options.clusterState().unjudged().refusal(job.ref(), queue, priorityClass).isEmpty()) {
        return true;
      }
      next = parent(job);
    }
    return false;
  }

  /**
   * Whether and through which job a job is managed. A gated pod of a parent is managed itself. Of
   * jobs that own each other in a circle none is above the others: each stands for itself if it
   * asks to be managed.
   */
  public ManagementStatus status(CachedJob job) {
    if (!options.managedNamespaces().test(job.ref().namespace())) {
      return new ManagementStatus.Unmanaged();
    }
    if (job.annotations().containsKey(KueueConstants.POD_SUSPENDING_PARENT)) {
      return asksToBeManaged(job) ? new ManagementStatus.Own() : new ManagementStatus.Unmanaged();
    }
    Optional<CachedJob> managed = Optional.empty();
    List<String> seen = new ArrayList<>(List.of(job.ref().uid()));
    Optional<CachedJob> next = parent(job);
    while (next.isPresent() && !seen.contains(next.get().ref().uid())) {
      if (seen.size() > DEEPEST) {
        return new ManagementStatus.NestedTooDeep();
      }
      seen.add(next.get().ref().uid());
      if (asksToBeManaged(next.get())) {
        managed = next;
      }
      next = parent(next.get());
    }
    if (next.filter(top -> isSame(top, job)).isPresent() && asksToBeManaged(job)) {
      return new ManagementStatus.Own();
    }
    if (managed.isPresent()) {
      return new ManagementStatus.ChildOfManaged(admitted(managed.get()));
    }
    return asksToBeManaged(job) ? new ManagementStatus.Own() : new ManagementStatus.Unmanaged();
  }

  private static boolean isSame(CachedJob one, CachedJob other) {
    return one.ref().uid().equals(other.ref().uid());
  }

  /** Whether a job may be managed; answered from the job and its Workloads, without its owners. */
  public boolean concerns(CachedJob job) {
    return asksToBeManaged(job)
        || hasKnownOwner(job)
        || !workloads.ownedBy(job.ref().uid()).isEmpty();
  }

  private boolean asksToBeManaged(CachedJob job) {
    return job.state().handling().manageable()
        && (options.manageJobsWithoutQueueName() || !job.queueName().isEmpty() || isOfManager(job));
  }

  /** A job that a manager cluster sent has its Workload, also where neither names a queue. */
  private static boolean isOfManager(CachedJob job) {
    return !job.prebuiltWorkload().isEmpty()
        && job.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** Which owners are believed. */
  public BelievedOwners believed() {
    return believed;
  }

  /** The owner that a job is a part of, by what is believed; one behind another has no UID. */
  public Optional<CachedJob.Controller> controller(CachedJob job) {
    return job.controller()
        .filter(owner -> !isPodOfItsOwn(job, owner))
        .flatMap(owner -> believed.of(owner, job.ref().kind().kind(), job.labels()));
  }

  /**
   * Whether a pod was taken for a job of its own when it was created, although it names an owner:
   * the owner's controller neither made it nor counts it.
   */
  private boolean isPodOfItsOwn(CachedJob job, CachedJob.Controller owner) {
    return PodGates.POD.equals(job.ref().kind())
        && "true".equals(job.labels().get(KueueConstants.MANAGED))
        && !believed.adopts(owner, job.labels());
  }

  private Optional<CachedJob> parent(CachedJob job) {
    return controller(job)
        .filter(owner -> !hasOwnWorkload(job, owner))
        .flatMap(owner -> jobs.find(job.ref().namespace(), owner));
  }

  /**
   * Whether a Job below another Job has a Workload that isn't finished: from a time at which it was
   * not taken for a part of that one. It keeps its quota until it ends.
   */
  private boolean hasOwnWorkload(CachedJob job, CachedJob.Controller owner) {
    return job.ref().kind().is(owner.apiVersion(), owner.kind())
        && workloads.ownedBy(job.ref().uid()).stream().anyMatch(each -> !each.finished());
  }

  /** Whether an object of a kind that is turned on controls a job. */
  boolean hasKnownOwner(CachedJob job) {
    return job.controller().filter(this::isKnown).isPresent();
  }

  private boolean isKnown(CachedJob.Controller owner) {
    return jobs.covers(owner.apiVersion(), owner.kind());
  }

  /**
   * Whether an owner up the chain is of a kind that is turned on, and isn't found. It may exist:
   * each kind has a watch of its own, and that of the owner may be behind.
   */
  public boolean missesOwner(CachedJob job) {
    CachedJob link = job;
    for (int depth = 0; depth < DEEPEST; depth++) {
      Optional<CachedJob> next = parent(link);
      if (next.isEmpty()) {
        return link.controller().filter(this::isKnown).isPresent();
      }
      link = next.get();
    }
    return false;
  }

  private boolean admitted(CachedJob ancestor) {
    return workloads.ownedBy(ancestor.ref().uid()).stream().anyMatch(CachedWorkload::admitted);
  }

  /**
   * Which job an object is a part of, by its controller owner reference: anybody can write one, so
   * it is believed only as far as the descriptions of kinds say. A kind without a description is
   * believed, unless a description speaks for its group.
   */
  public static final class BelievedOwners {

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
     * The owner that an object is a part of: the one that it names, or the job behind that one;
     * empty if the one that it names can't have created it. A job behind another owner has no UID
     * here.
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
     * Whether a pod that no controller of the cluster created is a pod of the owner that it names
     * as its controller.
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
}
