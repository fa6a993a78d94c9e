package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The work of a trace, on declared queues (docs/what-if.md#a-trace). */
public final class TracePast {

  /** The queue of jobs for which no queue of their own is declared. */
  public static final String DEFAULT_QUEUE = "default";

  private static final String FLAVOR = "default";

  /** A moment at which amounts are taken or given back. */
  private record UseChange(Instant at, TraceJob job, long sign) {}

  private TracePast() {}

  /**
   * One ClusterQueue as large as the trace needs, with a LocalQueue, both named {@value
   * #DEFAULT_QUEUE}: it has the most of each resource that ran at the same time by the trace's own
   * times, where a wait that isn't told counts as none.
   */
  public static List<SchedulerEvent> oneQueue(List<TraceJob> jobs) {
    List<UseChange> useChanges = new ArrayList<>();
    for (TraceJob job : jobs) {
      Instant start = job.submittedAt().plus(job.waited().orElse(Duration.ZERO));
      useChanges.add(new UseChange(start, job, 1));
      useChanges.add(new UseChange(start.plus(job.lasted()), job, -1));
    }
    useChanges.sort(Comparator.comparing(UseChange::at).thenComparingLong(UseChange::sign));
    Map<String, Long> used = new HashMap<>();
    SortedMap<String, Long> most = new TreeMap<>();
    for (UseChange each : useChanges) {
      each.job()
          .amounts()
          .forEach(
              (resource, amount) -> {
                long sum = used.merge(resource, each.sign() * amount, Long::sum);
                most.merge(resource, sum, Math::max);
              });
    }
    // a job that took no time is in no sum, and must fit as well
    jobs.forEach(
        job -> job.amounts().forEach((name, amount) -> most.merge(name, amount, Math::max)));
    return oneQueue(most);
  }

  /**
   * The same with this quota.
   *
   * @param quota how much the queue has of each resource
   */
  public static List<SchedulerEvent> oneQueue(Map<String, Long> quota) {
    Map<String, ResourceGroup.Quota> quotas = new LinkedHashMap<>();
    new TreeMap<>(quota)
        .forEach(
            (resource, amount) ->
                quotas.put(
                    resource,
                    new ResourceGroup.Quota(
                        amount, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED)));
    ResourceGroup group =
        new ResourceGroup(
            List.copyOf(quotas.keySet()), List.of(new ResourceGroup.FlavorQuotas(FLAVOR, quotas)));
    return List.of(
        new SchedulerEvent.FlavorChanged(new Flavor(FLAVOR, Map.of(), List.of(), List.of())),
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                DEFAULT_QUEUE,
                "",
                List.of(group),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                PreemptionPolicies.NEVER,
                FlavorFungibility.DEFAULT,
                List.of(),
                List.of())),
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId(DEFAULT_QUEUE, DEFAULT_QUEUE), DEFAULT_QUEUE, StopPolicy.NONE)));
  }

  /**
   * The work of a trace, until the last of its jobs would have ended by the trace's own times. The
   * limit that a user gave is the bound of a run, as the operator would know it.
   *
   * @param jobs the jobs, by their time of submission; at least one
   * @param cluster what is declared. A job goes to the LocalQueue that is named as its queue, else
   *     its group, else its user; else to the one named {@value #DEFAULT_QUEUE}
   * @param load by what the times between submissions are divided; positive
   * @throws IllegalArgumentException if there is no LocalQueue for a job; the message names the job
   */
  public static PlayInput of(List<TraceJob> jobs, List<SchedulerEvent> cluster, double load) {
    Instant begin = jobs.getFirst().submittedAt();
    InlineScheduler scheduler = new InlineScheduler(EngineOptions.DEFAULT, _ -> {});
    scheduler.apply(new SchedulerEvent.TimePassed(begin));
    Map<String, LocalQueueId> queues = new LinkedHashMap<>();
    Set<String> namespaces = new LinkedHashSet<>();
    for (SchedulerEvent event : cluster) {
      if (event instanceof SchedulerEvent.LocalQueueChanged(var queue)) {
        queues.putIfAbsent(queue.id().name(), queue.id());
        namespaces.add(queue.id().namespace());
      }
    }
    namespaces.forEach(
        name -> scheduler.apply(new SchedulerEvent.NamespaceChanged(name, Map.of())));
    cluster.forEach(scheduler::apply);
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
    List<Happening> happenings = new ArrayList<>();
    Map<WorkloadId, Duration> runTimes = new HashMap<>();
    Instant end = begin;
    int beyond = 0;
    for (int i = 0; i < jobs.size(); i++) {
      TraceJob job = jobs.get(i);
      double passed = Duration.between(begin, job.submittedAt()).toMillis();
      Instant at = begin.plusMillis(Math.round(passed / load));
      WorkloadId id = new WorkloadId(i + "/" + job.id(), queue(job, queues).namespace(), job.id());
      Optional<Duration> limit = job.limit().filter(Duration::isPositive);
      if (limit.isPresent()) {
        beyond += job.lasted().compareTo(limit.get()) > 0 ? 1 : 0;
        happenings.add(
            new Happening.DeclarationEvent(
                at, new SchedulerEvent.RunBounded(id, RunBound.of(limit.get()))));
      }
      happenings.add(new Happening.Arrival(at, workload(job, id, queue(job, queues).name(), at)));
      runTimes.put(id, job.lasted());
      Instant over = at.plus(job.waited().orElse(Duration.ZERO)).plus(job.lasted());
      end = over.isAfter(end) ? over : end;
    }
    return new PlayInput(
        scheduler.export(),
        begin,
        end,
        happenings,
        runTimes,
        List.of(),
        PlayInput.STOPPING,
        beyond == 0
            ? List.of()
            : List.of(
                "%d jobs ran longer than the limit that their users gave: they do so here, too"
                    .formatted(beyond)));
  }

  private static LocalQueueId queue(TraceJob job, Map<String, LocalQueueId> queues) {
    TraceJob.JobOwner owner = job.owner();
    for (String name : List.of(owner.queue(), owner.group(), owner.user(), DEFAULT_QUEUE)) {
      LocalQueueId found = queues.get(name);
      if (found != null) {
        return found;
      }
    }
    throw new IllegalArgumentException(
        "job %s: no LocalQueue is named \"%s\" (its queue), \"%s\" (its group), \"%s\" (its user) or \"%s\""
            .formatted(job.id(), owner.queue(), owner.group(), owner.user(), DEFAULT_QUEUE));
  }

  private static PendingWorkload workload(TraceJob job, WorkloadId id, String queue, Instant at) {
    return new PendingWorkload(
        id,
        0,
        queue,
        new RequestShape(
            List.of(new PodSetRequest("main", 1, 0, job.amounts(), NodeConstraints.ANYWHERE, ""))),
        0,
        at,
        at,
        Optional.empty(),
        false,
        Optional.empty());
  }
}
