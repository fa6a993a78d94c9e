package dev.sluice.lab.bench.month;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.lab.bench.month.MonthFigures.WaitTimes;
import dev.sluice.testing.BuildBreadth;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A few days of a small cluster, played as the whole month is. */
@Tag(BuildBreadth.NIGHTLY)
class MonthSimulationTest {

  private static final MonthSize SMALL = new MonthSize(1, 4, 1_500, 2, 3, 4, 40, 0.8);

  private final List<WeakReference<WorkloadId>> created = new ArrayList<>();

  private MonthSimulation month(MonthSize size) {
    return new MonthSimulation(size, midnight -> {}, id -> created.add(new WeakReference<>(id)));
  }

  @Test
  void everyJobEndsAndNoQuotaIsEverExceeded() {
    MonthSimulation month = month(SMALL);
    MonthFigures figures = month.run();

    assertThat(figures.arrived).isEqualTo(SMALL.jobs());
    assertThat(figures.ended()).isEqualTo(SMALL.jobs());
    assertThat(figures.waits.count()).isEqualTo(SMALL.jobs());
    // Whatever the ledger doesn't see can't be judged by it.
    assertThat(figures.admissions)
        .isEqualTo(SMALL.jobs() + figures.runsFailed + figures.evictions + figures.refused);
    assertThat(figures.runsFailed).isPositive();
    assertThat(figures.failed).isPositive();
    assertThat(figures.refused).isPositive();
    assertThat(figures.evictions).isPositive();
    assertThat(figures.changes).isEqualTo((long) SMALL.days() * SMALL.changesPerDay());
    assertThat(month.nothingInUse()).isTrue();
  }

  @Test
  void nothingIsLeftOfJobsThatEnded() {
    MonthSimulation month = month(SMALL);
    month.run();

    assertThat(month.views().clusterQueues())
        .hasSize(SMALL.allQueues())
        .allSatisfy(MonthSimulationTest::isEmpty);
    assertThat(month.views().localQueues()).hasSize(SMALL.allQueues());
    for (int i = 0; i < 10 && created.stream().anyMatch(id -> id.get() != null); i++) {
      System.gc();
    }
    assertThat(created).hasSize(SMALL.jobs());
    assertThat(created.stream().map(WeakReference::get).filter(id -> id != null)).isEmpty();
    assertThat(month.nothingInUse()).isTrue();
  }

  private static void isEmpty(ClusterQueueView queue) {
    assertThat(queue.pendingActive()).isZero();
    assertThat(queue.pendingInadmissible()).isZero();
    assertThat(queue.reserving()).isZero();
    assertThat(queue.admitted()).isZero();
    assertThat(queue.usage()).allSatisfy(usage -> assertThat(usage.reserved()).isZero());
  }

  @Test
  void theSameSeedLeadsToTheSameDecisions() {
    MonthSize size = SMALL.with(1_000, 2, 7);
    long digest = month(size).run().digest();
    assertThat(month(size).run().digest()).isEqualTo(digest);
    assertThat(month(SMALL.with(1_000, 2, 8)).run().digest()).isNotEqualTo(digest);
  }

  @Test
  void theTraceHasADayAndAWeek() {
    MonthSize size = new MonthSize(3, 14, 20_000, 1, 1, 1, 0, 0.8);
    JobTrace trace = new JobTrace(size, 1_000);
    long[] perHour = new long[24];
    long[] perDay = new long[7];
    long last = 0;
    long jobs = 0;
    while (trace.hasNext()) {
      JobTrace.Submission next = trace.next();
      assertThat(next.at()).isGreaterThanOrEqualTo(last);
      last = next.at();
      perHour[(int) (last / 3_600_000 % 24)]++;
      perDay[(int) (last / 86_400_000 % 7)]++;
      jobs++;
    }
    assertThat(jobs).isEqualTo(size.jobs());
    assertThat(last).isBetween(13 * 86_400_000L, 14 * 86_400_000L);
    assertThat(perHour[14]).isGreaterThan(4 * perHour[3]);
    assertThat(perDay[2]).isGreaterThan(2 * perDay[5]);
  }

  @Test
  void theLedgerSeesWhatExceedsAQueueOrItsTree() {
    MonthSize size = new MonthSize(1, 1, 1, 1, 1, 8, 0, 0.8);
    List<DeclaredQueue> queues = new ArrayList<>();
    for (int i = 0; i < size.allQueues(); i++) {
      queues.add(new DeclaredQueue(i, size, 10));
    }
    // The eighth borrows 20 at most. The fifth keeps 5, two have 3 of their 10 in another flavor.
    assertThatIllegalStateException()
        .isThrownBy(() -> new MonthLedger(queues, size).admit(7, cpus(31)))
        .withMessageContaining("queue-7");
    MonthLedger ledger = new MonthLedger(queues, size);
    ledger.admit(7, cpus(30));
    ledger.admit(0, cpus(39));
    assertThatIllegalStateException()
        .isThrownBy(() -> ledger.admit(2, cpus(1)))
        .withMessageContaining("tree-0");
    ledger.release(2, cpus(1));
    ledger.admit(4, cpus(5));
    ledger.release(7, cpus(30));
    ledger.release(0, cpus(39));
    ledger.release(4, cpus(5));
    assertThat(ledger.isEmpty()).isTrue();
  }

  private static List<PodSetAssignment> cpus(long cpus) {
    return List.of(
        new PodSetAssignment(
            "main",
            new TreeMap<>(Map.of("cpu", "reserved")),
            new TreeMap<>(Map.of("cpu", 1_000 * cpus)),
            1));
  }

  @Test
  void waitsAreExactToAnEighth() {
    WaitTimes waits = new WaitTimes();
    for (int second = 1; second <= 1_000; second++) {
      waits.add(1_000L * second);
    }
    assertThat(waits.seconds(0.5)).isBetween(500.0, 570.0);
    assertThat(waits.seconds(0.95)).isBetween(950.0, 1_000.0);
    assertThat(waits.seconds(1)).isEqualTo(1_000.0);
    assertThat(new WaitTimes().seconds(0.5)).isZero();
  }

  @Test
  void aChartHasItsLinesAndNames() {
    String svg =
        new SvgChart("a < b", "day", "jobs", false)
            .line("one", new double[] {0, 1, 2}, new double[] {0, 50, 100})
            .svg();
    assertThat(svg).startsWith("<svg ").endsWith("</svg>\n");
    assertThat(svg).contains("a &lt; b", ">one<", "points=\"64.0,256.0 384.0,145.0 704.0,34.0\"");
  }
}
