package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class EngineTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @Test
  void admitsUpToTheQuotaInOrderOfAge() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("second", "q", 6, 0, 2);
    schedulerFixture.submit("first", "q", 6, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("first");
    schedulerFixture.finish("first");
    assertThat(schedulerFixture.admitted()).containsExactly("second");
  }

  @Test
  void higherPriorityGoesFirst() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("old", "q", 6, 0, 1);
    schedulerFixture.submit("important", "q", 6, 5, 2);

    assertThat(schedulerFixture.admitted()).containsExactly("important");
  }

  @Test
  void bestEffortLetsSmallerOnesPass() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("large", "q", 11, 0, 1);
    schedulerFixture.submit("small", "q", 3, 0, 2);

    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  /**
   * Whatever quota of the covered resource says, no other quota will ever cover the rest (changes
   * of 0.20, section 1).
   */
  @Test
  void aRequestForCoveredAndUncoveredResourcesMatchesNoFlavor() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    for (long cpu : List.of(1L, 11L)) {
      SortedMap<String, Long> request = new TreeMap<>(Map.of("cpu", cpu, "example.com/gpu", 1L));
      schedulerFixture.submit(
          "both-" + cpu,
          "q",
          new RequestShape(
              List.of(
                  new PodSetRequest(
                      "main", 1, 0, request, NodeConstraints.ANYWHERE, "", TopologyRequest.NONE))),
          0);
      assertThat(schedulerFixture.admitted()).isEmpty();
      assertThat(schedulerFixture.waitsFor("both-" + cpu))
          .contains(PendingReason.NO_MATCHING_FLAVOR);
    }
  }

  @Test
  void strictFifoBlocksBehindItsHead() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    schedulerFixture.submit("running", "q", 8, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("head", "q", 5, 0, 1);
    schedulerFixture.submit("behind", "q", 1, 0, 2);

    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("head", "behind");
  }

  @Test
  void aHigherPriorityPassesABlockedStrictHead() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    schedulerFixture.submit("running", "q", 8, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("head", "q", 5, 0, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.submit("urgent", "q", 2, 9, 2);
    assertThat(schedulerFixture.admitted()).containsExactly("urgent");
  }

  @Test
  void fallsThroughToTheNextFlavorAndSkipsTaintedOnes() {
    schedulerFixture.flavor("a");
    schedulerFixture.flavor("b", new Taint("spot", "true", "NoSchedule"));
    schedulerFixture.flavor("c");
    schedulerFixture.queue("q", "", quota("a", 2), quota("b", 10), quota("c", 10));
    schedulerFixture.submit("w", "q", 5);

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.admission("w").podSets().getFirst().flavors())
        .containsEntry("cpu", "c");
  }

  @Test
  void borrowsFromTheCohortWithinTheLimit() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "co", quota("f", 5, 3, Long.MAX_VALUE));
    schedulerFixture.queue("b", "co", quota("f", 10));
    schedulerFixture.submit("nine", "a", 9);
    schedulerFixture.submit("eight", "a", 8);

    assertThat(schedulerFixture.admitted()).containsExactly("eight");
    assertThat(schedulerFixture.engine.unreported().take(10))
        .extracting(PendingExplanation::id, each -> each.explanation().reason())
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(
                new WorkloadId("uid-nine", "ns", "nine"), PendingReason.EXCEEDS_MAX_QUOTA));
  }

  @Test
  void lendsNoMoreThanItsLendingLimit() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "co", quota("f", 0));
    schedulerFixture.queue("b", "co", quota("f", 10, Long.MAX_VALUE, 4));
    schedulerFixture.submit("five", "a", 5);
    schedulerFixture.submit("four", "a", 4);
    schedulerFixture.submit("six", "b", 6);

    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("four", "six");
  }

  @Test
  void thoseWhoBorrowLessGoFirstAcrossACohort() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "co", quota("f", 2));
    schedulerFixture.queue("b", "co", quota("f", 8));
    schedulerFixture.submit("borrower", "a", 8, 100, 1);
    schedulerFixture.submit("owner", "b", 8, 0, 2);

    assertThat(schedulerFixture.admitted()).containsExactly("owner");
  }

  @Test
  void membersOfACyclicCohortWaitUntilTheCycleIsGone() {
    schedulerFixture.flavor("f");
    schedulerFixture.cohort("x", "y");
    schedulerFixture.cohort("y", "x");
    schedulerFixture.queue("q", "x", quota("f", 5));
    schedulerFixture.submit("w", "q", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.cohort("y", "");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  @Test
  void aWorkloadWaitsForItsQueuesToAppear() {
    schedulerFixture.flavor("f");
    schedulerFixture.submit("w", "q", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.engine.unreported().take(1).getFirst().explanation().reason())
        .isEqualTo(PendingReason.MISCONFIGURED);

    schedulerFixture.queue("q", "", quota("f", 5));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  @Test
  void anOlderStateNeverUndoesAnAdmission() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 5));
    WorkloadId id = schedulerFixture.submit("w", "q", 5);
    schedulerFixture.submit("other", "q", 5, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("w");

    Decision.Admit admit = schedulerFixture.admission("w");
    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionRefused(
            id, admit.version(), true)); // a late answer of a former try
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void aRefusedAdmissionGivesItsQuotaBackAndWaitsForNews() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 5));
    WorkloadId id = schedulerFixture.submit("w", "q", 5);
    while (schedulerFixture.engine.cycle()) {
      // decide, without confirming
    }
    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionRefused(id, schedulerFixture.admission("w").version(), true));
    schedulerFixture.submit("other", "q", 5, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("other");

    schedulerFixture.finish("other");
    schedulerFixture.submit("w", "q", 5);
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  /** Its devices aren't known any more, say; whether it holds quota only the answer tells. */
  @Test
  void anAdmissionThatIsBeingWrittenKeepsItsQuota() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 5));
    WorkloadId id = schedulerFixture.submit("w", "q", 5);
    while (schedulerFixture.engine.cycle()) {
      // decide, without confirming
    }
    long version = schedulerFixture.admission("w").version();
    schedulerFixture.engine.apply(new SchedulerEvent.WorkloadReleased(id, version));
    schedulerFixture.submit("other", "q", 5, 0, 1);
    assertThat(schedulerFixture.admitted()).doesNotContain("other");
    schedulerFixture.engine.apply(new SchedulerEvent.WorkloadReleased(id, version + 1));
    assertThat(schedulerFixture.admitted()).containsExactly("other");
  }

  @Test
  void explanationsAreToldOnceAndToLatecomersToo() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.submit("running", "q", 5);
    schedulerFixture.admitted();
    schedulerFixture.submit("a", "q", 5, 0, 1);
    schedulerFixture.submit("b", "q", 5, 0, 2);
    schedulerFixture.admitted();
    assertThat(told()).containsExactly("a", "b");
    assertThat(told()).isEmpty();

    schedulerFixture.submit("c", "q", 5, 0, 3);
    schedulerFixture.admitted();
    assertThat(told()).containsExactly("c");
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("a");
    assertThat(told()).isEmpty();
  }

  private List<String> told() {
    return schedulerFixture.engine.unreported().take(100).stream()
        .map(each -> each.id().name())
        .toList();
  }
}
