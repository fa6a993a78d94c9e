package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.reading.Informers;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.Stop;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadReader;
import dev.sluice.workloads.WorkloadWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;

/**
 * Brings one job at a time to where it should be: looks, decides, acts. Knows nothing of the kind
 * and nothing of how it is woken. For one job it must not be called by two threads at once; for
 * different jobs it may.
 */
public final class JobReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  private final JobAdapter adapter;
  private final JobDecisions decisions;
  private final JobExecutor executor;
  private final Ancestry ancestry;
  private final WorkloadReader workloads;
  private final JobObjects objects;
  private final FlavorLookup flavors;
  private final PriorityLookup priorities;
  private final InstantSource clock;
  private final Semaphore writers;

  /**
   * What a reconciler works with.
   *
   * @param workloads has completed its first listing before the first job is reconciled
   * @param informers keeps watches going
   */
  public record Surroundings(
      WorkloadReader workloads,
      WorkloadWriter writer,
      JobObjects objects,
      FlavorLookup flavors,
      PriorityLookup priorities,
      JobEvents events,
      InstantSource clock,
      Informers informers) {}

  /**
   * For jobs of the adapter's kind.
   *
   * @param elsewhere which of them run in other clusters
   * @param writers how many jobs may be written at a time
   */
  public JobReconciler(
      JobAdapter adapter,
      JobRules rules,
      Ancestry ancestry,
      Elsewhere elsewhere,
      Surroundings around,
      int writers) {
    this.adapter = adapter;
    this.ancestry = ancestry;
    this.decisions = new JobDecisions(adapter, rules, elsewhere);
    this.workloads = around.workloads();
    this.objects = around.objects();
    this.flavors = around.flavors();
    this.priorities = around.priorities();
    this.clock = around.clock();
    this.executor = new JobExecutor(adapter, around);
    this.writers = new Semaphore(writers);
  }

  /**
   * Does what the job needs now.
   *
   * @return after what time to look again even if nothing happens; empty if something will
   * @throws InterruptedException if the thread is asked to stop
   */
  public Optional<Duration> reconcile(JobView job) throws InterruptedException {
    if (executor.unseen(job)) {
      return Optional.of(UNTIL_SEEN);
    }
    List<JobAction> actions = decide(job);
    if (actions.isEmpty()) {
      return Optional.empty();
    }
    writers.acquire();
    try {
      return takesAway(actions) ? actOnFreshFacts(job) : executor.execute(job, actions);
    } finally {
      writers.release();
    }
  }

  /** The job is gone from the API server: its Workloads need no guarding any more. */
  public void gone(JobView job) throws InterruptedException {
    executor.forget(job.ref());
    List<JobAction> actions =
        workloads.store().ownedBy(job.ref().uid()).stream()
            .filter(workload -> workload.deleting() && workload.finalized())
            .<JobAction>map(JobAction.RemoveFinalizer::new)
            .toList();
    executor.execute(job, actions);
  }

  /** The job is gone from the API server, and somebody else sees to its Workloads. */
  public void forget(JobView job) {
    executor.forget(job.ref());
  }

  private List<JobAction> decide(JobView job) {
    return decisions.decide(situation(job));
  }

  private Situation situation(JobView job) {
    List<Workload> owned =
        workloads.store().ownedBy(job.ref().uid()).stream()
            .sorted(
                Comparator.comparing(Workload::createdAt)
                    .thenComparing(workload -> workload.id().name()))
            .toList();
    Optional<Workload> prebuilt =
        job.prebuiltWorkload().isEmpty()
            ? Optional.empty()
            : workloads.store().get(job.ref().namespace(), job.prebuiltWorkload());
    return new Situation(
        job, ancestry.standing(job), owned, prebuilt, flavors, priorities, clock.instant());
  }

  private static boolean takesAway(List<JobAction> actions) {
    return actions.stream()
        .anyMatch(
            action ->
                action instanceof Stop
                    || action instanceof DeleteWorkload
                    || action instanceof JobAction.DeleteJob);
  }

  /** What stops work or throws it away is decided again from what the API server knows now. */
  private Optional<Duration> actOnFreshFacts(JobView job) throws InterruptedException {
    refreshWorkloads(job);
    JobRef ref = job.ref();
    Optional<ObjectNode> object =
        Waiting.forResult(objects.read(ref.kind().path(ref.namespace(), ref.name())));
    if (object.isEmpty()) {
      return Optional.empty();
    }
    JobView now = JobViews.of(adapter, object.get());
    return now.ref().uid().equals(ref.uid())
        ? executor.execute(now, decide(now))
        : Optional.empty();
  }

  /** The Workloads that decide about a job: those it has, and those it may have. */
  private void refreshWorkloads(JobView job) throws InterruptedException {
    if (ancestry.standing(job) instanceof Standing.ChildOfManaged) {
      Waiting.forResult(workloads.caughtUp());
      return;
    }
    Set<String> names = new LinkedHashSet<>();
    names.add(decisions.workloadName(job));
    if (!job.prebuiltWorkload().isEmpty()) {
      names.add(job.prebuiltWorkload());
    }
    workloads.store().ownedBy(job.ref().uid()).forEach(owned -> names.add(owned.id().name()));
    for (String name : names) {
      Waiting.forResult(workloads.refresh(job.ref().namespace(), name));
    }
  }
}
