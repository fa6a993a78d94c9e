package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobIntake;
import dev.sluice.jobs.policy.JobIntakePolicy;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.PrebuiltWorkloads;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.DoubleSupplier;

/**
 * Reconciles jobs of one kind: decides from the caches what a job needs, and carries the decision
 * out. It may be called by several threads, but for one job by one thread at a time.
 */
public final class JobReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  /** How long after its creation a job may wait for its owner to be found. */
  private static final Duration OWNER_LIMIT = Duration.ofMinutes(5);

  private final JobIntegration integration;
  private final JobOptions options;
  private final JobPolicy decisions;
  private final JobIntakePolicy intake;
  private final JobExecutor executor;
  private final OwnerChainResolver ownerChainResolver;
  private final WorkloadReader workloads;
  private final JobClient objects;
  private final FlavorLookup flavors;
  private final PriorityLookup priorities;
  private final InstantSource clock;
  private final Semaphore writers;

  /**
   * The readers and writers that a reconciler uses.
   *
   * @param workloads has completed its first listing before the first job is reconciled
   * @param validation judges Workloads before they are written
   * @param leisure the part of their budget that writes without hurry may use at present, above 0
   *     and at most 1
   */
  public record Dependencies(
      WorkloadReader workloads,
      WorkloadWriter writer,
      JobClient objects,
      FlavorLookup flavors,
      PriorityLookup priorities,
      JobEvents events,
      InstantSource clock,
      WorkloadValidation validation,
      DoubleSupplier leisure) {

    /** The same with other access to jobs. */
    Dependencies with(JobClient other) {
      return new Dependencies(
          workloads, writer, other, flavors, priorities, events, clock, validation, leisure);
    }
  }

  /**
   * A reconciler of jobs of the adapter's kind.
   *
   * @param remoteExecutionCheck knows the jobs that run in other clusters
   * @param writers how many jobs may be written at the same time
   */
  public JobReconciler(
      JobIntegration integration,
      JobOptions options,
      OwnerChainResolver ownerChainResolver,
      RemoteExecutionCheck remoteExecutionCheck,
      Dependencies dependencies,
      int writers) {
    this(
        integration,
        options,
        ownerChainResolver,
        remoteExecutionCheck,
        JobIntake.NONE,
        dependencies,
        writers);
  }

  /**
   * The same with an intake.
   *
   * @param intake knows the queues of jobs that name none
   */
  public JobReconciler(
      JobIntegration integration,
      JobOptions options,
      OwnerChainResolver ownerChainResolver,
      RemoteExecutionCheck remoteExecutionCheck,
      JobIntake intake,
      Dependencies dependencies,
      int writers) {
    this.intake = new JobIntakePolicy(integration, options, intake);
    this.integration = integration;
    this.options = options;
    this.ownerChainResolver = ownerChainResolver;
    this.decisions =
        new JobPolicy(
            integration,
            options,
            remoteExecutionCheck,
            new PrebuiltWorkloads(ownerChainResolver.believed()::sharesWorkload));
    this.workloads = dependencies.workloads();
    this.objects = dependencies.objects();
    this.flavors = dependencies.flavors();
    this.priorities = dependencies.priorities();
    this.clock = dependencies.clock();
    this.executor = new JobExecutor(integration, dependencies);
    this.writers = new Semaphore(writers);
  }

  /**
   * Does what the job needs now.
   *
   * @return the delay after which to reconcile again even without an event; empty if an event will
   *     follow
   * @throws InterruptedException if the thread is asked to stop
   */
  public Optional<Duration> reconcile(CachedJob job) throws InterruptedException {
    if (executor.unseen(job)) {
      return Optional.of(UNTIL_SEEN);
    }
    List<JobAction> actions = decide(job);
    executor.forgetMoot(job, actions);
    if (actions.isEmpty()) {
      return mayGetOwner(job) ? Optional.of(UNTIL_SEEN) : Optional.empty();
    }
    writers.acquire();
    try {
      return isDestructive(actions) ? actOnFreshFacts(job) : executor.execute(job, actions);
    } finally {
      writers.release();
    }
  }

  /**
   * Whether an owner of a new job may be found later, so that the job turns out to be a part of it.
   * No event of the job would tell. The owner of an older job was deleted.
   */
  private boolean mayGetOwner(CachedJob job) {
    return ownerChainResolver.missesOwner(job)
        && clock.instant().isBefore(job.createdAt().plus(OWNER_LIMIT));
  }

  /**
   * Removes the finalizers of the Workloads of a job that the API server doesn't have any more.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  public Optional<Duration> gone(CachedJob job) throws InterruptedException {
    executor.forget(job.ref());
    List<JobAction> actions =
        workloads.store().ownedBy(job.ref().uid()).stream()
            .filter(workload -> workload.deleting() && workload.finalized())
            .<JobAction>map(RemoveFinalizer::new)
            .toList();
    return executor.execute(job, actions);
  }

  /** Forgets a deleted job whose Workloads another controller releases. */
  public void forget(CachedJob job) {
    executor.forget(job.ref());
  }

  /** The same for a job of which only the identity is known. */
  public void forget(JobRef job) {
    executor.forget(job);
  }

  /** Whether a job that nobody manages may be given a queue; answered from the job alone. */
  boolean concerns(CachedJob job) {
    return intake.concerns(job);
  }

  private List<JobAction> decide(CachedJob job) {
    ReconcileContext context = context(job);
    List<JobAction> actions = decisions.decide(context);
    return actions.isEmpty() && intake.concerns(job)
        ? intake.decide(context, ownerChainResolver.hasKnownOwner(job))
        : actions;
  }

  /** Pods that run say more than a status that its controller may not have written yet. */
  private ReconcileContext context(CachedJob said) {
    CachedJob job =
        options.clusterState().runningPods().applyAsInt(said.ref()) > 0
            ? said.withState(said.state().running())
            : said;
    List<CachedWorkload> owned =
        workloads.store().ownedBy(job.ref().uid()).stream()
            .sorted(
                Comparator.comparing(CachedWorkload::createdAt)
                    .thenComparing(workload -> workload.id().name()))
            .toList();
    Optional<CachedWorkload> prebuilt =
        job.prebuiltWorkload().isEmpty()
            ? Optional.empty()
            : workloads.store().get(job.ref().namespace(), job.prebuiltWorkload());
    return new ReconcileContext(
        job, ownerChainResolver.status(job), owned, prebuilt, flavors, priorities, clock.instant());
  }

  private static boolean isDestructive(List<JobAction> actions) {
    return actions.stream()
        .anyMatch(
            action ->
                action instanceof Stop
                    || (action instanceof PatchStatus patch && patch.releasesQuota())
                    || (action instanceof RemoveFinalizer remove && !remove.workload().finished())
                    || action instanceof DeleteWorkload
                    || action instanceof JobAction.DeleteJob);
  }

  /** Decides again from the API server's current data; destructive actions need that. */
  private Optional<Duration> actOnFreshFacts(CachedJob job) throws InterruptedException {
    refreshWorkloads(job);
    JobRef ref = job.ref();
    Optional<ObjectNode> object =
        Futures.forResult(objects.read(ref.kind().path(ref.namespace(), ref.name())));
    if (object.isEmpty()) {
      return Optional.empty();
    }
    CachedJob now = CachedJobParser.of(integration, object.get());
    return now.ref().uid().equals(ref.uid())
        ? executor.execute(now, decide(now))
        : Optional.empty();
  }

  /** Brings the Workloads that the decision depends on up to date in the cache. */
  private void refreshWorkloads(CachedJob job) throws InterruptedException {
    if (ownerChainResolver.status(job) instanceof ManagementStatus.ChildOfManaged) {
      Futures.forResult(workloads.caughtUp());
      return;
    }
    Set<String> names = new LinkedHashSet<>();
    names.add(decisions.workloadName(job));
    if (!job.prebuiltWorkload().isEmpty()) {
      names.add(job.prebuiltWorkload());
    }
    workloads.store().ownedBy(job.ref().uid()).forEach(owned -> names.add(owned.id().name()));
    for (String name : names) {
      Futures.forResult(workloads.refresh(job.ref().namespace(), name));
    }
  }

  /**
   * The rules that webhooks apply to Workloads. The API server asks no webhook about what the
   * operator itself writes, so Workloads of jobs are validated before they are written.
   */
  @FunctionalInterface
  public interface WorkloadValidation {

    /**
     * The errors in the spec and the annotations of a Workload, each with its field, its value and
     * the rule; none if it may be created.
     */
    List<String> errors(ObjectNode workload);
  }
}
