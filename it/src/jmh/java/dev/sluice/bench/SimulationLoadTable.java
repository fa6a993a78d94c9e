package dev.sluice.bench;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.RunBounds;
import dev.sluice.forecast.feed.RunTimeEstimator;
import dev.sluice.forecast.feed.SharedEngineState;
import dev.sluice.forecast.feed.StartEstimator;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * What questions about jobs that don't exist cost the engine's thread (docs/simulate.md#costs), as
 * a table in Markdown: the thread as the operator runs it, with 10,000 pending Workloads, a hundred
 * of which end, arrive and are admitted in a second; without and with 50 questions a second, in
 * turn.
 */
public final class SimulationLoadTable {

  private static final int QUEUES = 100;
  private static final int PER_COHORT = 10;
  private static final int PENDING = 10_000;
  private static final int ENDS_PER_SECOND = 100;
  private static final int QUESTIONS_PER_SECOND = 50;
  private static final long CPU_OF_QUEUE = 20_000;

  /** A user has at most two questions a second. */
  private static final int USERS = 25;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Random random = new Random(1);
  private final Queue<Decision> decisions = new ConcurrentLinkedQueue<>();
  private final Queue<WorkloadId> running = new ConcurrentLinkedQueue<>();
  private final Map<WorkloadId, Long> released = new ConcurrentHashMap<>();
  private final ExecutorService oneByOne = Executors.newSingleThreadExecutor();
  private final ExecutorService users = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong engineNanos = new AtomicLong();
  private final Map<String, Durations> answers = new TreeMap<>();
  private final Observer observer = new Observer();
  private final SchedulerThread thread;
  private final WorkloadSimulator simulator;
  private final CachedWorkload asked;
  private long version = 1;

  /** Measures on the engine's thread. */
  private final class Observer implements EngineListener {

    private Durations cycles = new Durations();
    private Durations waits = new Durations();
    private long cycleBegan;

    @Override
    public synchronized void applies(SchedulerEvent event) {
      if (event instanceof SchedulerEvent.WorkloadReleased(var id, var _)) {
        Long at = released.remove(id);
        if (at != null) {
          waits.add(System.nanoTime() - at);
        }
      }
    }

    @Override
    public void cycles() {
      cycleBegan = THREADS.getCurrentThreadCpuTime();
    }

    @Override
    public synchronized void cycled(CycleStatistics statistics) {
      long now = THREADS.getCurrentThreadCpuTime();
      cycles.add(now - cycleBegan);
      engineNanos.set(now);
    }

    synchronized Durations takeCycles() {
      return cycles.take();
    }

    synchronized Durations takeWaits() {
      return waits.take();
    }
  }

  private SimulationLoadTable() throws IOException {
    thread =
        new SchedulerThread(
            EngineOptions.DEFAULT,
            decisions::add,
            (nanos, success) -> {},
            () -> Instant.now().truncatedTo(ChronoUnit.MICROS),
            failure -> {
              throw new AssertionError(failure);
            });
    thread.record(observer);
    asked =
        new WorkloadParser()
            .parse(
                """
                {"metadata": {"name": "asked", "namespace": "team", "uid": "asked",
                  "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z",
                  "annotations": {"sluice.dev/expected-run-time": "1h"}},
                 "spec": {"queueName": "queue-0", "podSets": []}, "status": {}}
                """
                    .getBytes(StandardCharsets.UTF_8));
    RunTimeEstimator runTimes =
        new RunTimeEstimator(_ -> Optional.empty(), _ -> Optional.empty(), InstantSource.system());
    simulator =
        new WorkloadSimulator(
            new StartEstimator(
                new SharedEngineState(thread::state, thread::stateTook, InstantSource.system()),
                _ -> Optional.of(asked),
                runTimes::of,
                _ -> "queue-0",
                InstantSource.system(),
                oneByOne),
            new RunBounds(runTimes::of, _ -> Optional.empty()),
            InstantSource.system(),
            oneByOne,
            THREADS::getCurrentThreadCpuTime);
  }

  /** Prints the table; the arguments are the seconds of a turn, and how many turns there are. */
  public static void main(String[] args) throws IOException {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 20;
    int turns = args.length > 1 ? Integer.parseInt(args[1]) : 6;
    SimulationLoadTable table = new SimulationLoadTable();
    try (table.thread;
        table.oneByOne;
        table.users) {
      table.fill();
      System.out.println(
          "| questions a second | cycles | median, ms | 99 of 100 | longest | ends that waited for"
              + " the thread: median, ms | 99 of 100 | longest | processor time of the thread, ms a"
              + " second | answered | refused | answers: 99 of 100, ms |");
      System.out.println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
      for (int turn = -2; turn < turns; turn++) {
        String line = table.measure(seconds, turn % 2 != 0);
        if (turn >= 0) {
          System.out.println(line);
        }
      }
    }
  }

  private void fill() {
    thread.start();
    thread.submit(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    thread.submit(
        new SchedulerEvent.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    for (int i = 0; i < QUEUES; i++) {
      String name = "queue-" + i;
      Quota cpu = new Quota(CPU_OF_QUEUE, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
      thread.submit(
          new SchedulerEvent.ClusterQueueChanged(
              new ClusterQueueSpec(
                  name,
                  "cohort-" + i / PER_COHORT,
                  List.of(
                      new ResourceGroup(
                          List.of("cpu"),
                          List.of(new ResourceGroup.FlavorQuotas("default", Map.of("cpu", cpu))))),
                  QueueingStrategy.BEST_EFFORT_FIFO,
                  new LabelSelector.Requirements(List.of()),
                  StopPolicy.NONE,
                  false,
                  PreemptionPolicies.NEVER,
                  FlavorFungibility.DEFAULT,
                  List.of(),
                  List.of())));
      thread.submit(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("team", name), name, StopPolicy.NONE, 1)));
    }
    thread.submit(new SchedulerEvent.DecidingEnabled(true));
    int fits = (int) (QUEUES * CPU_OF_QUEUE / 2_000);
    for (int i = 0; i < PENDING + fits; i++) {
      arrive();
    }
    while (running.size() < fits) {
      follow();
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
    }
  }

  private void arrive() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    String uid = new UUID(random.nextLong(), random.nextLong()).toString();
    thread.submit(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId(uid, "team", "job-" + version),
                version++,
                "queue-" + random.nextInt(QUEUES),
                shape(1_000L + 100L * random.nextInt(20)),
                0,
                now,
                now,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private static RequestShape shape(long cpu) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main", 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "")));
  }

  /** Admissions are written at once. */
  private void follow() {
    for (Decision next = decisions.poll(); next != null; next = decisions.poll()) {
      if (next instanceof Decision.Admit admit) {
        thread.submit(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
        running.add(admit.id());
      }
    }
  }

  private String measure(int seconds, boolean asking) {
    Durations unused = observer.takeCycles();
    unused = observer.takeWaits();
    refused.set(0);
    synchronized (answers) {
      answers.clear();
    }
    long cpu = engineNanos.get();
    long start = System.nanoTime();
    int steps = seconds * ENDS_PER_SECOND;
    for (int step = 0; step < steps; step++) {
      long due = start + TimeUnit.SECONDS.toNanos(1) / ENDS_PER_SECOND * step;
      for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
        LockSupport.parkNanos(wait);
      }
      follow();
      WorkloadId ended = running.poll();
      if (ended != null) {
        released.put(ended, System.nanoTime());
        thread.submit(new SchedulerEvent.WorkloadReleased(ended, version++));
        arrive();
      }
      if (asking && step % (ENDS_PER_SECOND / QUESTIONS_PER_SECOND) == 0) {
        int question = step;
        users.execute(() -> ask(question));
      }
    }
    double took = (System.nanoTime() - start) / 1e9;
    Durations cycles = observer.takeCycles();
    Durations waits = observer.takeWaits();
    return String.format(
        Locale.ROOT,
        "| %d | %d | %.3f | %.3f | %.1f | %.2f | %.1f | %.1f | %.1f | %d | %d | %s |",
        asking ? QUESTIONS_PER_SECOND : 0,
        cycles.count(),
        cycles.millis(0.5),
        cycles.millis(0.99),
        cycles.millis(1),
        waits.millis(0.5),
        waits.millis(0.99),
        waits.millis(1),
        (engineNanos.get() - cpu) / 1e6 / took,
        answered(),
        refused.get(),
        latencies());
  }

  private int answered() {
    synchronized (answers) {
      return answers.values().stream().mapToInt(Durations::count).sum();
    }
  }

  private String latencies() {
    StringBuilder text = new StringBuilder();
    synchronized (answers) {
      answers.forEach(
          (answer, times) ->
              text.append(String.format(Locale.ROOT, "%s %.0f ", answer, times.millis(0.99))));
    }
    return text.toString().strip();
  }

  /** A third fits, a third waits, and a third never fits. */
  private void ask(int question) {
    long cpu = List.of(0L, 1_000L, 100_000_000L).get(question / 2 % 3);
    Instant now = Instant.now();
    PendingWorkload workload =
        new PendingWorkload(
            new WorkloadId("asked-" + question, "team", "asked"),
            1,
            "queue-" + question % QUEUES,
            shape(cpu),
            cpu == 1_000 ? -1 : 1_000,
            now,
            now,
            Optional.empty(),
            false,
            Optional.empty());
    long start = System.nanoTime();
    Optional<SimulationResult> result =
        simulator.of(
            asked,
            workload,
            new WorkloadSimulator.Asker("user-" + question % USERS, Duration.ofSeconds(3)));
    long took = System.nanoTime() - start;
    if (result.isEmpty()) {
      refused.incrementAndGet();
      return;
    }
    synchronized (answers) {
      answers
          .computeIfAbsent(result.get().feasibility().apiName(), any -> new Durations())
          .add(took);
    }
  }
}
