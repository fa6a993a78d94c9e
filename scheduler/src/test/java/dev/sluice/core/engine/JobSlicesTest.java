package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the slices of elastic jobs are charged (docs/elastic-jobs.md#what-the-engine-charges). */
class JobSlicesTest {

  private final SchedulerFixture world = new SchedulerFixture();

  @BeforeEach
  void flavors() {
    world.flavor("f");
    world.flavor("g");
  }

  private static Optional<JobSlice> slice(String name, String replaces) {
    return Optional.of(new JobSlice("job", name, replaces));
  }

  private void submit(String name, String replaces, long cpu) {
    submit(name, replaces, cpu, 0);
  }

  private void submit(String name, String replaces, long cpu, long priority) {
    world.submit(name, "q", SchedulerFixture.shape(cpu).withSlice(slice(name, replaces)), priority);
  }

  private void reserving(
      String name, String replaces, String flavor, long cpu, boolean admitted, boolean evicted) {
    world.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                world.nextVersion(),
                "q",
                "q",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", flavor)),
                        new TreeMap<>(Map.of("cpu", cpu)),
                        1)),
                0,
                SchedulerFixture.START,
                evicted,
                admitted,
                true,
                SchedulerFixture.START,
                true,
                false,
                slice(name, replaces))));
  }

  private void assertFree(long cpu) {
    world.submit("probe-more", "q", cpu + 1);
    assertThat(world.admitted()).as("more than " + cpu).isEmpty();
    world.finish("probe-more");
    if (cpu > 0) {
      world.submit("probe", "q", cpu);
      assertThat(world.admitted()).as("all of " + cpu).containsExactly("probe");
      world.finish("probe");
    }
  }

  @Test
  void aReplacementIsChargedForWhatItHasMore() {
    world.queue("q", "", quota("f", 10));
    submit("a", "", 6);
    assertThat(world.admitted()).containsExactly("a");
    submit("b", "a", 9);

    assertThat(world.admitted()).containsExactly("b");

    assertThat(world.admission("b").podSets().getFirst().usage()).containsEntry("cpu", 9L);
    assertFree(1);
    world.finish("a");
    assertFree(1);
    world.finish("b");
    assertFree(10);
  }

  @Test
  void afterARestartBothAreChargedAsBefore() {
    world.queue("q", "", quota("f", 10));
    reserving("b", "a", "f", 9, true, false);
    reserving("a", "", "f", 6, true, false);
    assertFree(1);
    world.finish("a");
    assertFree(1);
  }

  @Test
  void onlyOneReplacementShares() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "", "f", 3, true, false);
    reserving("b", "a", "f", 5, false, false);
    submit("c", "a", 5);
    assertThat(world.admitted()).containsExactly("c");
    assertFree(0);
    world.finish("a");
    assertFree(0);
  }

  @Test
  void aSliceThatShrinksGivesBack() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "", "f", 8, true, false);
    submit("b", "a", 12);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("b")).contains(PendingReason.WAITING_FOR_QUOTA);
    reserving("a", "", "f", 4, true, false);
    assertFree(6);
  }

  @Test
  void aReplacementIsLookedAtAgainWhenItsSliceIsGone() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "", "f", 8, true, false);
    world.submit("other", "q", 2);
    assertThat(world.admitted()).containsExactly("other");
    submit("b", "a", 9);
    assertThat(world.admitted()).isEmpty();
    world.finish("a");
    assertThat(world.admitted()).isEmpty();
    world.finish("other");
    assertThat(world.admitted()).containsExactly("b");
    assertFree(1);
  }

  @Test
  void aReplacementGetsTheSameFlavor() {
    world.queue("q", "", quota("g", 20), quota("f", 10));
    reserving("a", "", "f", 6, true, false);
    submit("b", "a", 10);
    assertThat(world.admitted()).containsExactly("b");
    assertThat(world.admission("b").podSets().getFirst().flavors()).containsEntry("cpu", "f");
    submit("c", "b", 11);
    world.finish("a");
    assertThat(world.admitted()).isEmpty();
    assertThat(world.explanation("c").orElseThrow().attempts().toString())
        .contains("ReplacedSliceFlavor[flavor=f]");
  }

  @Test
  void aReplacementPreemptsOthersForWhatItHasMoreButNotItsOwnSlice() {
    world.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        FlavorFungibility.DEFAULT,
        quota("f", 10));
    reserving("a", "", "f", 6, true, false);
    world.submit("low", "q", 3, -1, 0);
    world.submit("lower", "q", 1, -2, 0);
    assertThat(world.admitted()).containsExactly("low", "lower");

    submit("b", "a", 7, 5);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("lower for b: InClusterQueue");
    world.finish("lower");
    assertThat(world.admitted()).containsExactly("b");
    submit("c", "b", 11, 5);
    world.finish("a");
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
  }

  /** Changes of 0.20, section 2: preemption for a slice is sized with quota of pods, too. */
  @Test
  void aReplacementPreemptsForThePodsThatItHasMore() {
    world.tell(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "q",
                "",
                List.of(
                    new ResourceGroup(List.of("cpu"), List.of(quota("f", 100))),
                    new ResourceGroup(
                        List.of("pods"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "g", Map.of("pods", new Quota(6, UNLIMITED, UNLIMITED)))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                new PreemptionPolicies(
                    PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
                    PreemptionPolicies.ReclaimWithinCohort.NEVER,
                    false,
                    OptionalInt.empty()),
                FlavorFungibility.DEFAULT,
                List.of(),
                List.of())));
    world.tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "q"), "q", StopPolicy.NONE)));
    world.submit("a", "q", workers("a", "", 2, false), 5);
    world.submit("low", "q", 1, -1, 0);
    world.submit("lower", "q", 1, -2, 0);
    world.submit("lowest", "q", 1, -3, 0);
    assertThat(world.admitted()).containsExactly("a", "low", "lower", "lowest");

    world.submit("b", "q", workers("b", "a", 4, false), 5);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted())
        .containsExactlyInAnyOrder("lowest for b: InClusterQueue", "lower for b: InClusterQueue");
    world.finish("lowest");
    world.finish("lower");
    assertThat(world.admitted()).containsExactly("b");
  }

  @Test
  void aReplacementWaitsWhileItsSliceIsEvictedOrPending() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "", "f", 6, true, true);
    submit("b", "a", 7);
    assertThat(world.admitted()).isEmpty();
    submit("a", "", 6);
    assertThat(world.admitted()).containsExactly("a");
    assertThat(world.admitted()).containsExactly("b");
  }

  @Test
  void aSliceOfAnotherJobOrQueueIsNotShared() {
    world.queue("q", "", quota("f", 10));
    world.queue("r", "", quota("f", 10));
    reserving("a", "", "f", 6, true, false);
    world.submit(
        "b",
        "q",
        SchedulerFixture.shape(7).withSlice(Optional.of(new JobSlice("another job", "b", "a"))),
        0);
    world.submit("c", "r", SchedulerFixture.shape(11).withSlice(slice("c", "a")), 0);
    assertThat(world.admitted()).isEmpty();
  }

  /** Changes of 0.20, section 4: ElasticJobsViaWorkloadSlicesFlavorChangeFromZero. */
  @Test
  void podSetsThatHadNoPodsMayGetAnotherFlavorWithTheGate() {
    world.queue("q", "", quota("f", 10), quota("g", 10));
    world.submit("a", "q", workers("a", "", 0, false), 0);
    assertThat(world.admitted()).containsExactly("a");
    world.submit("other", "q", 9);
    assertThat(world.admitted()).containsExactly("other");

    world.submit("b", "q", workers("b", "a", 4, false), 0);
    assertThat(world.admitted()).isEmpty();
    world.finish("b");
    world.submit("c", "q", workers("c", "a", 4, true), 0);
    assertThat(world.admitted()).containsExactly("c");
    assertThat(world.admission("c").podSets().getFirst().flavors()).containsEntry("cpu", "f");
    assertThat(world.admission("c").podSets().getLast().flavors()).containsEntry("cpu", "g");
  }

  /** A leader that needs 1, and workers that need 1 each. */
  private static RequestShape workers(
      String name, String replaces, int count, boolean choosesFromZero) {
    return new RequestShape(
            List.of(
                SchedulerFixture.pods("leader", 1, 1),
                SchedulerFixture.pods("workers", count, count)))
        .withSlice(Optional.of(new JobSlice("job", name, replaces, choosesFromZero)));
  }

  @Test
  void slicesThatReplaceEachOtherShareNothing() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "b", "f", 4, true, false);
    reserving("b", "a", "f", 4, true, false);
    assertFree(2);
    reserving("b", "", "f", 4, true, false);
    assertFree(6);
  }

  @Test
  void whenACircleOfThreeBreaksAllOfItAreChargedAnew() {
    world.queue("q", "", quota("f", 10));
    reserving("a", "b", "f", 2, true, false);
    reserving("b", "c", "f", 2, true, false);
    reserving("c", "a", "f", 2, true, false);
    assertFree(4);
    reserving("c", "", "f", 2, true, false);
    assertFree(8);
    reserving("c", "a", "f", 2, true, false);
    assertFree(4);
    world.finish("c");
    assertFree(8);
  }

  @Test
  void slicesThatReplaceEachOtherDoNotWaitForEachOther() {
    world.queue("q", "", quota("f", 10));
    submit("a", "b", 2);
    submit("b", "c", 2);
    submit("c", "a", 2);
    assertThat(world.admitted()).containsExactly("a", "b", "c");
    assertFree(4);
  }

  @Test
  void whenACircleOfThreeThatWaitBreaksTheyAreAdmittedOneAfterTheOther() {
    world.queue("q", "", quota("f", 10));
    submit("a", "b", 6);
    submit("b", "c", 5);
    submit("c", "a", 4);
    submit("c", "", 4);
    assertThat(world.admitted()).containsExactly("c");
    assertThat(world.admitted()).containsExactly("b");
    assertThat(world.admitted()).containsExactly("a");
    assertFree(4);
  }
}
