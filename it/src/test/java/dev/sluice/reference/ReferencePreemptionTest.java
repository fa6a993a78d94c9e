package dev.sluice.reference;

import static dev.sluice.core.model.Decision.PreemptionReason.IN_CLUSTER_QUEUE;
import static dev.sluice.core.model.Decision.PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING;
import static dev.sluice.core.model.Decision.PreemptionReason.IN_COHORT_RECLAMATION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.reference.Decided.Admission;
import dev.sluice.reference.Decided.Preemption;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** The reference itself: small worlds worked out by hand, each from a sentence of the contract. */
class ReferencePreemptionTest extends SmallWorld {

  private static final PreemptionPolicies LOWER =
      policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER);
  private static final PreemptionPolicies RECLAIM_ANY =
      policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY);
  private static final PreemptionPolicies WHILE_BORROWING =
      new PreemptionPolicies(
          WithinClusterQueue.NEVER, ReclaimWithinCohort.LOWER_PRIORITY, true, OptionalInt.of(5));

  @Test
  void victimsInTheOwnQueueHaveLowerPriority() {
    queue("q", "", LOWER, flavor("f", 4));
    running("equal", "q", 2, 5);
    running("lower", "q", 2, 4);

    submit("new", "q", 2, 5);

    assertThat(victims("new")).isEqualTo(Map.of("lower", IN_CLUSTER_QUEUE));
  }

  @Test
  void aPreemptorThatWasAwayIsStillTheFirstOfItsQueue() {
    queue("q", "", LOWER, flavor("f", 2));
    running("low", "q", 2, 0);
    Instant queuedAt = START.plusSeconds(++second);
    submit("high", "q", 2, 8, queuedAt);
    assertThat(victims("high")).containsOnlyKeys("low");

    finish("high");
    submit("higher", "q", 2, 9);
    submit("high", "q", 2, 8, queuedAt);
    finish("low");
    assertThat(engine.cycle())
        .singleElement()
        .isInstanceOfSatisfying(
            Admission.class, admission -> assertThat(admission.id().uid()).isEqualTo("high"));
  }

  @Test
  void amongEqualsOnlyTheNewerOneIsAVictim() {
    queue(
        "q",
        "",
        policies(WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY, ReclaimWithinCohort.NEVER),
        flavor("f", 4));
    running("older", "q", 2, 5);
    Instant between = START.plusSeconds(++second);
    running("newer", "q", 2, 5);

    submit("new", "q", 2, 5, between);

    assertThat(victims("new")).isEqualTo(Map.of("newer", IN_CLUSTER_QUEUE));
  }

  @Test
  void theLowestPriorityGoesFirstAndAmongEqualsTheOneThatReservedLast() {
    queue("q", "", LOWER, flavor("f", 4));
    running("middle", "q", 1, 3);
    running("first", "q", 1, 2);
    running("last", "q", 1, 2);
    running("high", "q", 1, 4);

    submit("new", "q", 1, 9);

    assertThat(victims("new")).isEqualTo(Map.of("last", IN_CLUSTER_QUEUE));
  }

  @Test
  void whoeverTurnsOutNotToBeNeededIsPutBack() {
    queue("q", "", LOWER, flavor("f", 6));
    running("small", "q", 1, 1);
    running("large", "q", 5, 2);

    submit("new", "q", 5, 9);

    assertThat(victims("new")).isEqualTo(Map.of("large", IN_CLUSTER_QUEUE));
  }

  @Test
  void aQueueThatBorrowsGivesBackButNotBelowItsNominalQuota() {
    queue("lender", "c", RECLAIM_ANY, flavor("f", 4));
    queue("borrower", "c", PreemptionPolicies.NEVER, flavor("f", 2));
    running("one", "borrower", 2, 9);
    running("two", "borrower", 2, 9);
    running("three", "borrower", 2, 9);

    submit("new", "lender", 4, 0);

    assertThat(victims("new"))
        .isEqualTo(Map.of("three", IN_COHORT_RECLAMATION, "two", IN_COHORT_RECLAMATION));
  }

  @Test
  void lowerPriorityProtectsEqualsInOtherQueues() {
    queue(
        "lender",
        "c",
        policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.LOWER_PRIORITY),
        flavor("f", 4));
    queue("borrower", "c", PreemptionPolicies.NEVER, flavor("f", 0));
    running("equal", "borrower", 4, 3);

    submit("new", "lender", 4, 3);

    assertThat(engine.cycle()).isEmpty();
  }

  @Test
  void whoWouldBorrowHimselfTakesOnlyFromThoseUpToTheThreshold() {
    queue("a", "c", WHILE_BORROWING, flavor("f", 2));
    queue("b", "c", PreemptionPolicies.NEVER, flavor("f", 2));
    queue("spare", "c", PreemptionPolicies.NEVER, flavor("f", 2));
    running("above", "b", 3, 6);
    running("below", "b", 3, 5);

    submit("new", "a", 3, 9);

    assertThat(victims("new")).isEqualTo(Map.of("below", IN_COHORT_RECLAIM_WHILE_BORROWING));
  }

  @Test
  void withinTheQuotaOfAVisitedAncestorTheReclaimIsHierarchical() {
    queue(
        "a",
        "left",
        new PreemptionPolicies(
            WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, true, OptionalInt.of(0)),
        flavor("f", 1));
    queue("sibling", "left", PreemptionPolicies.NEVER, flavor("f", 3));
    queue("b", "right", PreemptionPolicies.NEVER, flavor("f", 0));
    cohort("left", "root");
    cohort("right", "root");
    running("far", "b", 4, 9);

    submit("new", "a", 3, 0);

    // Borrows from its sibling, within what "left" has: priorities don't protect "far".
    assertThat(victims("new")).isEqualTo(Map.of("far", IN_COHORT_RECLAMATION));
  }

  @Test
  void aCohortWithinItsQuotaIsPassedOver() {
    queue("a", "left", RECLAIM_ANY, flavor("f", 2));
    cohort("left", "root");
    cohort("right", "root");
    queue("b", "right", PreemptionPolicies.NEVER, flavor("f", 0));
    queue("c", "right", PreemptionPolicies.NEVER, flavor("f", 2));
    queue("d", "root", PreemptionPolicies.NEVER, flavor("f", 0));
    running("inside", "b", 2, 0);
    running("outside", "d", 2, 9);

    submit("new", "a", 2, 0);

    // b borrows, but only what c has left: "right" as a whole doesn't.
    assertThat(victims("new")).isEqualTo(Map.of("outside", IN_COHORT_RECLAMATION));
  }

  @Test
  void thoseOnTheirWayOutGoFirstAndAreNotEvictedTwice() {
    queue("q", "", LOWER, flavor("f", 4));
    running("leaving", "q", 2, 8, true);
    running("low", "q", 2, 0);

    submit("new", "q", 4, 9);

    assertThat(victims("new")).isEqualTo(Map.of("low", IN_CLUSTER_QUEUE));
    assertThat(engine.cycle()).isEmpty();

    finish("low");
    assertThat(engine.cycle()).isEmpty(); // waits for the other one
    finish("leaving");
    assertThat(engine.cycle()).hasOnlyElementsOfType(Admission.class).hasSize(1);
  }

  @Test
  void aRefusedEvictionIsDecidedAnew() {
    queue("q", "", LOWER, flavor("f", 2));
    running("low", "q", 2, 0);
    submit("new", "q", 2, 9);
    assertThat(victims("new")).containsKey("low");
    long decided = Objects.requireNonNull(engine.questions().evictions().get("low"));

    engine.fold(new SchedulerEvent.EvictionRefused(id("low"), decided + 100));
    assertThat(engine.cycle()).isEmpty();
    engine.fold(new SchedulerEvent.EvictionRefused(id("low"), decided));

    assertThat(victims("new")).isEqualTo(Map.of("low", IN_CLUSTER_QUEUE));
  }

  @Test
  void oneWithoutVictimsKeepsWhatIsItsOwn() {
    queue("a", "c", LOWER, flavor("f", 4));
    queue("b", "c", PreemptionPolicies.NEVER, flavor("f", 2));
    running("high", "b", 4, 9);

    submit("needy", "a", 4, 9);
    submit("small", "b", 1, 0);

    // "small" could borrow one of the two that are left, but both belong to a, whose head waits.
    assertThat(engine.cycle()).isEmpty();
    // That head is parked now: nobody keeps anything free.
    assertThat(engine.cycle()).extracting(each -> each.id().uid()).containsExactly("small");
  }

  @Test
  void whoReclaimsAnyKeepsNothingFree() {
    queue("a", "c", RECLAIM_ANY, flavor("f", 4));
    queue("b", "c", PreemptionPolicies.NEVER, flavor("f", 2));
    running("own", "a", 3, 9);

    submit("needy", "a", 4, 9);
    submit("small", "b", 3, 0);

    assertThat(engine.cycle()).extracting(each -> each.id().uid()).containsExactly("small");
  }

  @Test
  void theNextFlavorIsTriedBeforeAnybodyIsPreemptedUnlessTheSearchMayStop() {
    FlavorFungibility next = new FlavorFungibility(false, true, false);
    FlavorFungibility stop = new FlavorFungibility(false, false, false);
    queue("n", "", LOWER, next, flavor("f", 2), flavor("g", 2));
    queue("s", "", LOWER, stop, flavor("f", 2), flavor("g", 2));
    running("in-n", "n", 2, 0);
    running("in-s", "s", 2, 0);

    submit("new-n", "n", 2, 9);
    submit("new-s", "s", 2, 9);

    List<Decided> decided = engine.cycle();
    assertThat(decided).hasSize(2);
    assertThat(decided.get(0))
        .isInstanceOfSatisfying(
            Admission.class,
            admission -> assertThat(admission.podSets().getFirst().flavors()).containsValue("g"));
    assertThat(decided.get(1))
        .isInstanceOfSatisfying(
            Preemption.class, each -> assertThat(each.victims()).containsOnlyKeys("in-s"));
  }

  @Test
  void preemptionOverBorrowingEvictsWhereTheOtherPreferenceBorrows() {
    for (boolean preemptionFirst : List.of(false, true)) {
      String cohort = "c" + preemptionFirst;
      String queue = "q" + preemptionFirst;
      FlavorFungibility preference = new FlavorFungibility(true, true, preemptionFirst);
      queue(queue, cohort, LOWER, preference, flavor("f", 0), flavor("g", 2));
      queue("other" + preemptionFirst, cohort, PreemptionPolicies.NEVER, flavor("f", 2));
      runningIn("low-" + preemptionFirst, queue, "g", 2, 0, false);
      submit("new-" + preemptionFirst, queue, 2, 9);
    }

    List<Decided> decided = engine.cycle();

    assertThat(decided).hasSize(2);
    assertThat(decided)
        .filteredOn(Admission.class::isInstance)
        .extracting(each -> each.id().uid())
        .containsExactly("new-false");
    assertThat(decided)
        .filteredOn(Preemption.class::isInstance)
        .extracting(each -> each.id().uid())
        .containsExactly("new-true");
  }

  @Test
  void twoWhoWantTheSameVictimDontBothCountOnIt() {
    queue("a", "c", RECLAIM_ANY, flavor("f", 2));
    queue("b", "c", RECLAIM_ANY, flavor("f", 2));
    queue("x", "c", PreemptionPolicies.NEVER, flavor("f", 0));
    running("v1", "x", 2, 0);
    running("v2", "x", 2, 0);

    submit("first", "a", 2, 0);
    submit("second", "b", 2, 0);

    List<Decided> decided = engine.cycle();
    assertThat(decided).hasSize(2).hasOnlyElementsOfType(Preemption.class);
    assertThat(((Preemption) decided.get(0)).victims()).containsOnlyKeys("v2");
    assertThat(((Preemption) decided.get(1)).victims()).containsOnlyKeys("v1");
  }

  @Test
  void whoPreemptedComesFirstInItsQueue() {
    queue("q", "", LOWER, flavor("f", 2));
    running("low", "q", 2, 0);
    submit("new", "q", 2, 5);
    assertThat(victims("new")).containsKey("low");
    submit("higher", "q", 2, 9);

    finish("low");

    assertThat(engine.cycle()).extracting(each -> each.id().uid()).containsExactly("new");
  }
}
