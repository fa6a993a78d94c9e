package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.pods;
import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.CycleStatistics.Recomputation;
import dev.sluice.core.model.CycleStatistics.Result;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the engine tells of its cycles and of pending Workloads, for metrics. */
class CycleMetricsTest {

  private static final PreemptionPolicies RECLAIM =
      new PreemptionPolicies(
          WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty());

  private final SchedulerFixture world = new SchedulerFixture();

  @BeforeEach
  void owners() {
    world.flavor("f");
    world.queue("one", "co", RECLAIM, quota("f", 5));
    world.queue("two", "co", RECLAIM, quota("f", 5));
    world.queue("borrower", "co", quota("f", 0));
  }

  @Test
  void aHeadThatFitsAfterThePreemptionsOfOthersIsDeferred() {
    world.submit("large", "borrower", 10);
    assertThat(world.admitted()).containsExactly("large");
    assertThat(world.engine.statistics()).isEqualTo(CycleStatistics.NONE);

    world.submit("a", "one", 5);
    world.submit("b", "two", 5);
    assertThat(world.engine.cycle()).isTrue();

    assertThat(world.engine.statistics().recomputations())
        .singleElement()
        .extracting(Recomputation::result)
        .isEqualTo(Result.DEFERRED_FIT);
    assertThat(world.preempted()).hasSize(1);
  }

  @Test
  void aHeadWhoseTargetsOthersPreemptFindsNewOnes() {
    world.submit("left", "borrower", 5);
    world.submit("right", "borrower", 5);
    assertThat(world.admitted()).containsExactlyInAnyOrder("left", "right");

    world.submit("a", "one", 5);
    world.submit("b", "two", 5);
    assertThat(world.engine.cycle()).isTrue();

    assertThat(world.engine.statistics().recomputations())
        .singleElement()
        .extracting(Recomputation::result)
        .isEqualTo(Result.NEW_TARGETS);
    assertThat(world.preempted()).hasSize(2);
  }

  @Test
  void pendingWorkloadsAreSummedUp() {
    world.submit("large", "borrower", 10);
    world.admitted();
    world.submit("first", "borrower", 3, 0, 7);
    world.submit("second", "borrower", 3, 0, 8);
    world.submit("third", "borrower", 4, 0, 9);

    PendingTotals before = Objects.requireNonNull(summaries().get("borrower"));
    assertThat(before.activeHashes()).isEqualTo(2);
    assertThat(before.inadmissibleHashes()).isZero();
    assertThat(before.requests()).isEqualTo(Map.of("cpu", 10L));
    assertThat(before.oldest()).contains(SchedulerFixture.START.plusSeconds(7));

    assertThat(world.admitted()).isEmpty();

    PendingTotals after = Objects.requireNonNull(summaries().get("borrower"));
    assertThat(after.activeHashes()).isZero();
    assertThat(after.inadmissibleHashes()).isEqualTo(2);
    assertThat(after.requests()).isEqualTo(Map.of("cpu", 10L));
    assertThat(summaries().get("one"))
        .extracting(PendingTotals::activeHashes, PendingTotals::oldest)
        .containsExactly(0, Optional.empty());
  }

  /** What ran until it was preempted keeps its place, but has not waited all the time. */
  @Test
  void theOneThatWaitsLongestIsNotTheOneThatRanMeanwhile() {
    world.submit("large", "borrower", 10);
    world.admitted();
    world.submit("fresh", "borrower", 3, 0, 70);
    evicted("preempted", 7, 80);
    evicted("alike", 8, 75);

    assertThat(oldest()).contains(SchedulerFixture.START.plusSeconds(70));
    assertThat(world.admitted()).isEmpty();
    assertThat(oldest()).contains(SchedulerFixture.START.plusSeconds(70));
    assertThat(world.engine.queries().pendingIn("borrower"))
        .extracting(position -> position.id().name())
        .containsExactly("preempted", "alike", "fresh");
    world.finish("fresh");
    assertThat(oldest()).contains(SchedulerFixture.START.plusSeconds(75));
  }

  private void evicted(String name, int created, int evicted) {
    Instant at = SchedulerFixture.START.plusSeconds(created);
    PendingWorkload workload =
        new PendingWorkload(
            new WorkloadId("uid-" + name, "ns", name),
            1,
            "borrower",
            SchedulerFixture.shape(3),
            0,
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty());
    world.tell(
        new SchedulerEvent.WorkloadPending(
            workload.withHistory(
                new PreemptionHistory(
                    Optional.of(SchedulerFixture.START.plusSeconds(evicted)), List.of()))));
  }

  private Optional<Instant> oldest() {
    return Objects.requireNonNull(summaries().get("borrower")).oldest();
  }

  /**
   * Changes of 0.20, section 4, SchedulingEquivalenceHashingIgnorePodSetName: requests that differ
   * in the names of pod sets only are parked by the same cycles, for the same reason, and looked at
   * again together. They count as one request.
   */
  @Test
  void requestsWithOtherNamesOfPodSetsParkTogether() {
    world.submit("large", "one", 10);
    assertThat(world.admitted()).containsExactly("large");
    for (String name : List.of("worker", "Replica")) {
      world.submit(name, "one", new RequestShape(List.of(pods(name, 4, 4))), 0);
    }
    assertThat(world.admitted()).isEmpty();

    assertThat(world.waitsFor("worker")).isPresent().isEqualTo(world.waitsFor("Replica"));
    assertThat(world.engine.cycle()).as("nobody is looked at before something changes").isFalse();
    assertThat(summaries().get("one"))
        .extracting(PendingTotals::activeHashes, PendingTotals::inadmissibleHashes)
        .containsExactly(0, 1);
    assertThat(world.engine.queries().pendingTotals(true).get("one"))
        .as("without the gate")
        .extracting(PendingTotals::activeHashes, PendingTotals::inadmissibleHashes)
        .containsExactly(0, 2);
    world.finish("large");
    assertThat(world.admitted()).containsExactlyInAnyOrder("worker", "Replica");
    assertThat(world.admission("Replica").podSets().getFirst().name()).isEqualTo("Replica");
  }

  private Map<String, PendingTotals> summaries() {
    return world.engine.queries().pendingTotals(false);
  }
}
