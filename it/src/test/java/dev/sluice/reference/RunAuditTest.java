package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.FairSharing;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Does the audit of random runs find what is wrong, and leave alone what is right? */
class RunAuditTest {

  private static final String PREEMPTING =
      "preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}";
  private static final String STRICT = "queueingStrategy: StrictFIFO";

  private final RunStory story = new RunStory();

  @Test
  void aRunInOrderIsLeftAlone() {
    story
        .queue("a", 4, PREEMPTING)
        .queue("b", 2, "")
        .admitted("guest", "b", 5, 0)
        .waits("host", "a", 4, 0)
        .preempted("guest", "b", 5, 0, "InCohortReclamation", "host", "a", 0)
        .waits("guest", "b", 5, 0)
        .admitted("host", "a", 4, 0);

    RunAudit.Report report = story.audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.admissions()).isEqualTo(2);
    assertThat(report.victims()).isEqualTo(Map.of("InCohortReclamation", 1));
  }

  @Test
  void anAdmissionBeyondTheTreeIsFound() {
    story.queue("a", 4, "").queue("b", 2, "").admitted("one", "a", 3, 0).later();
    assertFound(story.admitted("two", "b", 4, 0), "two: admitted beyond");
  }

  @Test
  void quotaThatWasTakenAwayAMomentAgoMayStillBeGiven() {
    story.queue("a", 4, "").later().queue("a", 2, "").admitted("one", "a", 4, 0);
    assertThat(story.audit().violations()).isEmpty();
  }

  @Test
  void quotaThatWasTakenAwayLongAgoMayNotBeGiven() {
    story.queue("a", 4, "").later().queue("a", 2, "").later();
    assertFound(story.admitted("one", "a", 4, 0), "one: admitted beyond");
  }

  @Test
  void whoPassesTheHeadOfAStrictQueueIsFound() {
    story.queue("a", 4, STRICT).waits("head", "a", 5, 1).waits("small", "a", 1, 0).later();
    assertFound(story.admitted("small", "a", 1, 0), "small: admitted past head");
  }

  @Test
  void whoComesInTheSameMomentMayBePassed() {
    story.queue("a", 4, STRICT).waits("head", "a", 5, 1).waits("small", "a", 1, 0);
    assertThat(story.admitted("small", "a", 1, 0).audit().violations()).isEmpty();
  }

  @Test
  void whoPassesAnElderThatAsksForTheSameIsFound() {
    story.queue("a", 1, "").waits("elder", "a", 1, 0).waits("younger", "a", 1, 0).later();
    assertFound(story.admitted("younger", "a", 1, 0), "younger: admitted past elder");
  }

  @Test
  void whoWaitsInAQueueOnHoldMayBePassed() {
    story.queue("a", 1, "").localQueue("held", "a", "Hold");
    story.waits("elder", "held", 1, 0).waits("younger", "a", 1, 0).later();
    assertThat(story.admitted("younger", "a", 1, 0).audit().violations()).isEmpty();
  }

  @Test
  void whoPassesAnElderWhoseQueueIsNotOnHoldAnyMoreIsFound() {
    story.queue("a", 1, "").localQueue("held", "a", "Hold");
    story.waits("elder", "held", 1, 0).waits("younger", "a", 1, 0).later();
    story.localQueue("held", "a", "None").later();
    assertFound(story.admitted("younger", "a", 1, 0), "younger: admitted past elder");
  }

  @Test
  void whoIsAdmittedAtTheSameTimeIsNotPassed() {
    story.queue("a", 2, "").waits("elder", "a", 1, 0).waits("younger", "a", 1, 0).later();
    story.admitted("younger", "a", 1, 0).admitted("elder", "a", 1, 0);
    assertThat(story.audit().violations()).isEmpty();
  }

  @Test
  void whoIsAdmittedLongAfterThoseBehindItWasPassed() {
    story.queue("a", 2, "").waits("elder", "a", 1, 0).waits("younger", "a", 1, 0).later();
    story.admitted("younger", "a", 1, 0).later();
    assertFound(story.admitted("elder", "a", 1, 0), "younger: admitted past elder");
  }

  @Test
  void whoAsksForSomethingElseMayPass() {
    story.queue("a", 4, "").waits("large", "a", 5, 1).waits("small", "a", 1, 0).later();
    assertThat(story.admitted("small", "a", 1, 0).audit().violations()).isEmpty();
  }

  @Test
  void aVictimWhomItsOwnQueueProtectsIsFound() {
    story.queue("a", 2, "").admitted("low", "a", 2, 0).waits("high", "a", 2, 1);
    assertFound(
        story.preempted("low", "a", 2, 0, "InClusterQueue", "high", "a", 1),
        "low: preempted although WithinClusterQueue");
  }

  @Test
  void aVictimWhomItsPriorityProtectsIsFound() {
    story.queue("a", 2, PREEMPTING).admitted("equal", "a", 2, 1).waits("other", "a", 2, 1);
    assertFound(
        story.preempted("equal", "a", 2, 1, "InClusterQueue", "other", "a", 1),
        "equal: preempted although WithinClusterQueue");
  }

  @Test
  void aVictimOfAQueueThatBorrowsNothingIsFound() {
    story
        .queue("a", 2, PREEMPTING)
        .queue("b", 2, "")
        .admitted("own", "b", 2, 0)
        .waits("greedy", "a", 3, 5);
    assertFound(
        story.preempted("own", "b", 2, 0, "InCohortReclamation", "greedy", "a", 5),
        "own: preempted although nobody there borrows");
  }

  @Test
  void aVictimWhoseQueueBorrowsByWhatIsWrittenALittleLaterMayGo() {
    story
        .queue("a", 2, PREEMPTING)
        .queue("b", 2, "")
        .admitted("own", "b", 2, 0)
        .waits("late", "b", 1, 0)
        .waits("host", "a", 2, 5)
        .preempted("own", "b", 2, 0, "InCohortReclamation", "host", "a", 5)
        .admitted("late", "b", 1, 0);
    assertThat(story.audit().violations()).noneMatch(it -> it.contains("preempted"));
  }

  @Test
  void aVictimWhoseCohortMayNotReclaimIsFound() {
    story
        .queue("a", 2, "preemption: {reclaimWithinCohort: LowerPriority}")
        .queue("b", 0, "")
        .admitted("guest", "b", 2, 3)
        .waits("host", "a", 2, 3);
    assertFound(
        story.preempted("guest", "b", 2, 3, "InCohortReclamation", "host", "a", 3),
        "guest: preempted although ReclaimWithinCohort");
  }

  @Test
  void aVictimAboveTheThresholdIsFound() {
    String borrowing =
        "preemption: {reclaimWithinCohort: Any,"
            + " borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 2}}";
    story
        .queue("a", 1, borrowing)
        .queue("b", 1, "")
        .admitted("guest", "b", 2, 3)
        .waits("host", "a", 2, 5);
    assertFound(
        story.preempted("guest", "b", 2, 3, "InCohortReclaimWhileBorrowing", "host", "a", 5),
        "guest: preempted although not by InCohortReclaimWhileBorrowing");
  }

  @Test
  void aVictimOfFairSharingIsFoundWhereNobodySharesFairly() {
    story
        .queue("a", 2, PREEMPTING)
        .queue("b", 0, "")
        .admitted("guest", "b", 2, 0)
        .waits("host", "a", 2, 0);
    story.preempted("guest", "b", 2, 0, "InCohortFairSharing", "host", "a", 0);
    assertFound(story, "guest: preempted although not by InCohortFairSharing");
    FairSharing sharing =
        new FairSharing(
            List.of(FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true);
    assertThat(story.audit(sharing).violations()).noneMatch(it -> it.contains("preempted"));
  }

  @Test
  void aVictimForOneWhoDoesNotWaitIsFound() {
    story.queue("a", 2, PREEMPTING).admitted("low", "a", 2, 0);
    assertFound(
        story.preempted("low", "a", 2, 0, "InClusterQueue", "nobody", "a", 1),
        "low: preempted for one who doesn't wait");
  }

  @Test
  void aWrongPriorityInTheMessageIsFound() {
    story.queue("a", 2, PREEMPTING).admitted("low", "a", 2, 0).waits("high", "a", 2, 1);
    assertFound(
        story.preempted("low", "a", 2, 0, "InClusterQueue", "high", "a", 7),
        "low: preempted with other priorities");
  }

  @Test
  void whoFitsWhenNothingHappensAnyMoreIsFound() {
    story.queue("a", 2, "").waits("left", "a", 2, 0);
    assertThat(story.audit().violations())
        .anyMatch(it -> it.startsWith("left although it fits"))
        .anyMatch(it -> it.startsWith("the naive engine would do: Admission"));
  }

  @Test
  void whoCouldPreemptAtTheHeadWhenNothingHappensAnyMoreIsFound() {
    story
        .queue("a", 2, PREEMPTING + "\n  " + STRICT)
        .admitted("low", "a", 2, 0)
        .waits("high", "a", 2, 1);
    assertThat(story.audit().violations())
        .anyMatch(it -> it.startsWith("the naive engine would do: Preemption"));
  }

  private static void assertFound(RunStory story, String complaint) {
    assertThat(story.audit().violations()).anyMatch(it -> it.startsWith(complaint));
  }
}
