package dev.sluice.bench;

import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * The scenario {@code baseline} with an API server that is simulated, in simulated time: what the
 * engine's decisions alone make of the quota, whatever the machine. The server answers writes one
 * after the other, each after a service time, and its watchers hear of it a latency later; the
 * runner's creations, ends and evictions go the same way as the engine's writes.
 */
public final class EngineMakespan {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int COHORTS = 5;
  private static final int QUEUES = 6;

  private record Size(
      String name, int count, long cpu, long priority, long runMicros, long everyMicros) {}

  private static final List<Size> SIZES =
      List.of(
          new Size("small", 350, 1, 50, 200_000, 100_000),
          new Size("medium", 100, 5, 100, 500_000, 500_000),
          new Size("large", 50, 20, 200, 1_000_000, 1_200_000));

  private record Event(long at, long number, Runnable what) {}

  private static final class Job {
    private final WorkloadId id;
    private final String queue;
    private final Size size;
    private Instant created = START;
    private Instant reserved = START;
    private List<PodSetAssignment> podSets = List.of();
    private int run;
    private boolean evicted;
    private boolean done;

    Job(WorkloadId id, String queue, Size size) {
      this.id = id;
      this.queue = queue;
      this.size = size;
    }
  }

  private final EngineProbe engine = new EngineProbe();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (one, two) ->
              one.at != two.at
                  ? Long.compare(one.at, two.at)
                  : Long.compare(one.number, two.number));
  private final Map<WorkloadId, Job> jobs = new HashMap<>();
  private final Map<String, double[]> waited = new TreeMap<>();
  private final long serviceMicros;
  private final long latencyMicros;
  private long now;
  private long serverFree;
  private long number;
  private long version = 1;
  private long ended;
  private long writes;
  private long evictions;
  private long cycles;
  private long engineNanos;

  private EngineMakespan(Duration service, Duration latency) {
    this.serviceMicros = service.toNanos() / 1_000;
    this.latencyMicros = latency.toNanos() / 1_000;
    engine.fold(new SchedulerEvent.TimePassed(START));
    engine.fold(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    engine.fold(
        new SchedulerEvent.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    for (int i = 0; i < COHORTS * QUEUES; i++) {
      String name = "queue-" + i;
      engine.fold(new SchedulerEvent.ClusterQueueChanged(queue(name, "cohort-" + i / QUEUES)));
      engine.fold(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("team", name), name, StopPolicy.NONE)));
      for (Size size : SIZES) {
        for (int j = 0; j < size.count; j++) {
          String job = name + "-" + size.name + "-" + j;
          Job made = new Job(new WorkloadId(job, "team", job), name, size);
          jobs.put(made.id, made);
          at(j * size.everyMicros, () -> write(() -> created(made)));
        }
      }
    }
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  private static ClusterQueueSpec queue(String name, String cohort) {
    Quota cpu = new Quota(20_000, 100_000, ResourceAmounts.UNLIMITED);
    return new ClusterQueueSpec(
        name,
        cohort,
        List.of(
            new ResourceGroup(
                List.of("cpu"),
                List.of(new ResourceGroup.FlavorQuotas("default", Map.of("cpu", cpu))))),
        QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Requirements(List.of()),
        StopPolicy.NONE,
        false,
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false, OptionalInt.empty()),
        FlavorFungibility.DEFAULT,
        List.of(),
        List.of());
  }

  private void at(long micros, Runnable what) {
    events.add(new Event(micros, number++, what));
  }

  /** The server does it as soon as it has time, and its watchers hear of it a latency later. */
  private void write(Runnable heard) {
    serverFree = Math.max(now, serverFree) + serviceMicros;
    at(serverFree + latencyMicros, heard);
  }

  private Instant clock() {
    return START.plusNanos(now * 1_000);
  }

  private void created(Job job) {
    job.created = clock();
    pending(job);
  }

  private void pending(Job job) {
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", job.size.cpu * 1_000)),
                    NodeConstraints.ANYWHERE,
                    "")));
    engine.fold(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                job.id,
                version++,
                job.queue,
                shape,
                job.size.priority,
                job.created,
                job.created,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private void admitted(Job job) {
    engine.fold(new SchedulerEvent.AdmissionWritten(job.id, version++));
    double[] sum = waited.computeIfAbsent(job.size.name, name -> new double[2]);
    if (job.run == 0) {
      sum[0] += Duration.between(job.created, clock()).toNanos() / 1e9;
      sum[1]++;
    }
    int run = ++job.run;
    at(now + job.size.runMicros, () -> stop(job, run));
  }

  private void stop(Job job, int run) {
    if (job.run == run && !job.evicted && !job.done) {
      job.done = true;
      write(
          () -> {
            ended++;
            engine.fold(new SchedulerEvent.WorkloadReleased(job.id, Long.MAX_VALUE));
          });
    }
  }

  private void evict(Job job) {
    if (job.done) {
      return; // its end is on its way, and overtakes
    }
    job.evicted = true;
    evictions++;
    write(
        () -> {
          engine.fold(new SchedulerEvent.WorkloadReserving(reserving(job)));
          write(
              () -> {
                job.evicted = false;
                job.run++;
                pending(job);
              });
        });
  }

  private ReservingWorkload reserving(Job job) {
    return new ReservingWorkload(
        job.id,
        version++,
        job.queue,
        job.queue,
        job.podSets,
        job.size.priority,
        job.created,
        true,
        true,
        true,
        job.reserved);
  }

  private Job job(WorkloadId id) {
    return Objects.requireNonNull(jobs.get(id), "decided about one that was never made");
  }

  private void decide() {
    long began = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    engine.fold(new SchedulerEvent.TimePassed(clock()));
    while (engine.cycle()) {
      cycles++;
    }
    engineNanos += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - began;
    for (Decision decision : engine.takeDecisions()) {
      switch (decision) {
        case Decision.Admit admit -> {
          Job job = job(admit.id());
          job.podSets = admit.podSets();
          job.reserved = admit.at();
          writes++;
          write(() -> admitted(job));
        }
        case Decision.Preempt preempt -> {
          for (Decision.Target target : preempt.targets()) {
            writes++;
            evict(job(target.id()));
          }
        }
        case PlacementDecision placement -> {}
      }
    }
  }

  private void run() {
    while (ended < jobs.size()) {
      Event next = events.poll();
      if (next == null) {
        throw new IllegalStateException(
            "nothing happens any more, and %d of %d have ended".formatted(ended, jobs.size()));
      }
      now = next.at;
      next.what.run();
      while (!events.isEmpty() && events.peek().at == now) {
        events.poll().what.run();
      }
      decide();
    }
    StringBuilder times = new StringBuilder();
    waited.forEach(
        (size, sum) -> times.append(String.format(Locale.ROOT, " %s %.2f", size, sum[0] / sum[1])));
    System.out.printf(
        Locale.ROOT,
        "| %.1f | %.1f | %.1f | %.2f | %.2f | %,d | %.1f |%s |%n",
        serviceMicros / 1e3,
        latencyMicros / 1e3,
        now / 1e6,
        writes / (double) jobs.size(),
        evictions / (double) jobs.size(),
        cycles,
        engineNanos / 1e3 / jobs.size(),
        times);
  }

  /**
   * Prints one line per server.
   *
   * @param args none
   */
  public static void main(String[] args) {
    System.out.println(
        "| service, ms | latency, ms | makespan, s (ideal 66) | writes per Workload | evictions per"
            + " Workload | cycles | engine, µs per Workload | waited, s |");
    System.out.println("|---:|---:|---:|---:|---:|---:|---:|---|");
    for (double[] server : new double[][] {{0, 0}, {0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}}) {
      new EngineMakespan(micros(server[0]), micros(server[1])).run();
    }
  }

  private static Duration micros(double millis) {
    return Duration.ofNanos(Math.round(millis * 1e6));
  }
}
