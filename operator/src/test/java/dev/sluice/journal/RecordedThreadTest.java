package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.journal.JournalWriter.JournalOptions;
import dev.sluice.journal.ReplayCommand.Replay;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine's thread with a journal, with Workloads as the feed tells of them. */
class RecordedThreadTest {

  /** How many bytes an event may take on average. */
  private static final long MOST_BYTES = 64;

  /** A writer that gets no processor for long would lose records. */
  private static final long MOST_UNWRITTEN = 30_000;

  /** So many Workloads may wait for a decision; there is quota for more. */
  private static final int MOST_UNDECIDED = 50;

  private static final int QUEUES = 20;

  @TempDir private Path root = Path.of("");

  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong records = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final Queue<Decision> decisions = new ConcurrentLinkedQueue<>();
  private final Map<WorkloadId, Long> submitted = new ConcurrentHashMap<>();
  private final Queue<Long> waits = new ConcurrentLinkedQueue<>();
  private long version = 123_456_789;
  private long events;

  private final JournalWriter.Listener listener =
      new JournalWriter.Listener() {
        @Override
        public void written(long writtenRecords, long writtenBytes) {
          records.addAndGet(writtenRecords);
          bytes.addAndGet(writtenBytes);
        }

        @Override
        public void dropped(long droppedRecords) {
          dropped.addAndGet(droppedRecords);
        }
      };

  private void tell(SchedulerThread thread, SchedulerEvent event) {
    events++;
    thread.submit(event);
  }

  private void declare(SchedulerThread thread) {
    tell(thread, new SchedulerEvent.NamespaceChanged("team", Map.of()));
    tell(
        thread,
        new SchedulerEvent.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    Quota quota = new Quota(50_000, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    Quota memory = new Quota(1L << 40, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    for (int i = 0; i < QUEUES; i++) {
      String name = "queue-" + i;
      ResourceGroup group =
          new ResourceGroup(
              List.of("cpu", "memory"),
              List.of(
                  new ResourceGroup.FlavorQuotas(
                      "default", Map.of("cpu", quota, "memory", memory))));
      tell(
          thread,
          new SchedulerEvent.ClusterQueueChanged(
              new ClusterQueueSpec(
                  name,
                  "all",
                  List.of(group),
                  QueueingStrategy.BEST_EFFORT_FIFO,
                  new LabelSelector.Requirements(List.of()),
                  StopPolicy.NONE,
                  false,
                  PreemptionPolicies.NEVER,
                  FlavorFungibility.DEFAULT,
                  List.of(),
                  List.of())));
      tell(
          thread,
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("team", name), name, StopPolicy.NONE, 1)));
    }
    tell(thread, new SchedulerEvent.DecidingEnabled(true));
  }

  private static RequestShape shape(int size) {
    return new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1 + size % 4,
                    0,
                    new TreeMap<>(Map.of("cpu", 1000L, "memory", 1L << 30)),
                    NodeConstraints.ANYWHERE,
                    "")))
        .withSlice(Optional.empty());
  }

  private PendingWorkload pending(int n) {
    Instant created = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    return new PendingWorkload(
        new WorkloadId(UUID.randomUUID().toString(), "team", "job-sample-" + n + "-" + hash(n)),
        version++,
        "queue-" + n % QUEUES,
        shape(n),
        0,
        created,
        created,
        Optional.empty(),
        false,
        Optional.empty());
  }

  private static String hash(int n) {
    return Integer.toHexString(0x10000 + n * 7919 % 0xefff);
  }

  /**
   * Workloads come, get quota, and end.
   *
   * @param mostUnwritten how many events the journal may be behind
   */
  private int play(SchedulerThread thread, int workloads, long mostUnwritten) {
    int ended = 0;
    List<WorkloadId> running = new ArrayList<>();
    for (int i = 0; i < workloads || ended < workloads; i++) {
      if (i < workloads) {
        while (submitted.size() >= MOST_UNDECIDED) {
          Thread.onSpinWait();
        }
        PendingWorkload next = pending(i);
        submitted.put(next.id(), System.nanoTime());
        tell(thread, new SchedulerEvent.WorkloadPending(next));
      } else {
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> !decisions.isEmpty() || !running.isEmpty());
      }
      if (events - records.get() > mostUnwritten) {
        await()
            .atMost(Duration.ofSeconds(60))
            .until(() -> events - records.get() < mostUnwritten / 2);
      }
      for (Decision next = decisions.poll(); next != null; next = decisions.poll()) {
        if (next instanceof Decision.Admit admit) {
          write(thread, admit);
          running.add(admit.id());
        }
      }
      while (running.size() > (i < workloads ? 300 : 0)) {
        tell(thread, new SchedulerEvent.WorkloadReleased(running.removeFirst(), version++));
        ended++;
      }
    }
    return ended;
  }

  /** What follows an admission: the answer, its Workload with quota, and with ready pods. */
  private void write(SchedulerThread thread, Decision.Admit admit) {
    long written = version++;
    tell(thread, new SchedulerEvent.AdmissionWritten(admit.id(), written));
    tell(thread, reserving(admit, written));
    tell(thread, reserving(admit, version++));
  }

  private static SchedulerEvent reserving(Decision.Admit admit, long version) {
    return new SchedulerEvent.WorkloadReserving(
        new ReservingWorkload(
            admit.id(),
            version,
            admit.clusterQueue(),
            admit.clusterQueue(),
            admit.podSets(),
            0,
            admit.queuedAt(),
            false,
            true,
            true,
            admit.at().truncatedTo(ChronoUnit.SECONDS),
            true,
            false,
            Optional.empty(),
            Optional.empty(),
            PreemptionProtection.NONE));
  }

  private JournalWriter writer(JournalOptions options, JournalDirectory.Storage storage) {
    return new JournalWriter(
        options,
        new JournalWriter.Source("pod-0", "1", () -> 0),
        InstantSource.system(),
        System::nanoTime,
        listener,
        storage);
  }

  private SchedulerThread thread() {
    return new SchedulerThread(
        EngineOptions.DEFAULT,
        this::decided,
        (nanos, success) -> {},
        () -> Instant.now().truncatedTo(ChronoUnit.MICROS),
        failure -> {
          throw new AssertionError(failure);
        });
  }

  private void decided(Decision decision) {
    Long at = submitted.remove(decision.id());
    if (at != null) {
      waits.add(System.nanoTime() - at);
    }
    decisions.add(decision);
  }

  private JournalOptions options() {
    return new JournalOptions(
        root.resolve("journal"), 1L << 40, Duration.ofDays(30), 1L << 40, Duration.ofMillis(100));
  }

  /** A disk that never answers; the buffer is full after a while. */
  @Test
  void aDiskThatHangsDelaysNoDecision() {
    CountDownLatch hangs = new CountDownLatch(1);
    decidesWithout(
        "hangs",
        file -> {
          awaitUninterruptibly(hangs);
          return JournalDirectory.createFile(file);
        },
        hangs::countDown);
  }

  @Test
  void aDiskThatIsFullDelaysNoDecision() {
    decidesWithout(
        "full",
        file -> {
          throw new IOException("No space left on device");
        },
        () -> {});
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void decidesWithout(String what, JournalDirectory.Storage storage, Runnable end) {
    int workloads = 15_000;
    try (SchedulerThread thread = thread()) {
      thread.start();
      declare(thread);
      assertThat(play(thread, workloads, Long.MAX_VALUE)).isEqualTo(workloads);
    }
    printWaits("without a journal");
    try (JournalWriter writer = writer(options(), storage)) {
      writer.start();
      try (SchedulerThread thread = thread()) {
        thread.record(new JournalRecorder(writer));
        thread.start();
        declare(thread);
        assertThat(play(thread, workloads, Long.MAX_VALUE)).isEqualTo(workloads);
      }
      assertThat(dropped.get()).as("records that are counted as lost").isPositive();
      assertThat(records).hasValue(0);
      end.run();
    }
    printWaits("disk " + what);
  }

  private void printWaits(String what) {
    long[] sorted = waits.stream().mapToLong(Long::longValue).sorted().toArray();
    waits.clear();
    System.out.printf(
        "journal: %s: decisions=%d median=%.2fms p99=%.2fms%n",
        what,
        sorted.length,
        sorted[sorted.length / 2] / 1e6,
        sorted[sorted.length * 99 / 100] / 1e6);
  }

  @Test
  void everythingIsReplayedAndSmall() throws IOException {
    int workloads = 5_000 * Integer.getInteger("sluice.property.factor", 1);
    JournalOptions options = options();
    long start = System.nanoTime();
    long cpu;
    try (JournalWriter writer = writer(options, JournalDirectory::createFile)) {
      writer.start();
      try (SchedulerThread thread = thread()) {
        thread.record(new JournalRecorder(writer));
        thread.start();
        declare(thread);
        assertThat(play(thread, workloads, MOST_UNWRITTEN)).isEqualTo(workloads);
        cpu = writerNanos();
      }
    }
    double played = (System.nanoTime() - start) / 1e9;
    assertThat(dropped).hasValue(0);
    assertThat(events).isGreaterThan(5L * workloads);
    double average = (double) bytes.get() / events;
    try (Stream<Path> files = Files.walk(root)) {
      assertThat(
              files
                  .filter(it -> it.toString().endsWith(".segment"))
                  .mapToLong(RecordedThreadTest::size)
                  .sum())
          .isEqualTo(bytes.get());
    }
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long used = threads.getCurrentThreadCpuTime();
    start = System.nanoTime();
    Replay.Result result = new Replay(options.directory(), Instant.MIN, Instant.MAX).run();
    double replayed = (System.nanoTime() - start) / 1e9;
    double replaying = (threads.getCurrentThreadCpuTime() - used) / 1e9;
    System.out.printf(
        "journal: events=%d records=%d bytes=%d bytes/event=%.1f bytes/record=%.1f cpu/event=%.1fus"
            + " play=%.1fs replay=%.1fs, of the processor %.1fs%n",
        events,
        records.get(),
        bytes.get(),
        average,
        (double) bytes.get() / records.get(),
        cpu / 1e3 / events,
        played,
        replayed,
        replaying);
    assertThat(result.skipped()).isEmpty();
    assertThat(result.difference().map(Replay::lines)).isEmpty();
    assertThat(result.decisions()).isEqualTo(workloads);
    assertThat(average).isLessThan(MOST_BYTES);
  }

  /** The processor time of the writing threads of this process. */
  private static long writerNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("journal"))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.threadId()))
        .sum();
  }

  private static long size(Path file) {
    return file.toFile().length();
  }
}
