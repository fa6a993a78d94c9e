package dev.sluice.core.quota;

import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** One pair: cpu of flavor f. */
class QuotaTreeTest {

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final CohortHierarchy forest = new CohortHierarchy(pairs);
  private final int cpu = pairs.number("f", "cpu");

  private static List<ResourceGroup> quota(long nominal, long borrow, long lend) {
    return List.of(
        new ResourceGroup(
            List.of("cpu"),
            List.of(
                new ResourceGroup.FlavorQuotas(
                    "f", Map.of("cpu", new Quota(nominal, borrow, lend))))));
  }

  private static List<ResourceGroup> quota(long nominal) {
    return quota(nominal, UNLIMITED, UNLIMITED);
  }

  private QuotaNode queue(String name) {
    return Objects.requireNonNull(forest.queue(name));
  }

  private QuotaNode cohort(String name) {
    return Objects.requireNonNull(forest.cohort(name));
  }

  @Test
  void aQueueOfItsOwnHasItsNominalQuotaAndNoMore() {
    forest.declareQueue("q", "", quota(10, 5, UNLIMITED));
    forest.rebuildIfDirty();
    queue("q").add(cpu, 4);
    assertThat(queue("q").available(cpu)).isEqualTo(6);
    assertThat(queue("q").potential(cpu)).isEqualTo(10);
    assertThat(queue("q").borrowLevel(cpu, 100)).isZero();
  }

  @Test
  void borrowingIsLimitedAndSharedQuotaCountsOnce() {
    forest.declareQueue("a", "co", quota(10, 3, UNLIMITED));
    forest.declareQueue("b", "co", quota(10));
    forest.rebuildIfDirty();
    assertThat(queue("a").available(cpu)).isEqualTo(13);
    assertThat(queue("b").available(cpu)).isEqualTo(20);

    queue("b").add(cpu, 15);
    assertThat(queue("a").available(cpu)).isEqualTo(5);
    assertThat(queue("b").borrowing(cpu)).isTrue();
    assertThat(cohort("co").usage(cpu)).isEqualTo(15);

    queue("b").remove(cpu, 15);
    assertThat(queue("a").available(cpu)).isEqualTo(13);
  }

  @Test
  void whatIsNeverLentIsUsedFirstAndGivenBackLast() {
    // a lends 4 of 10: 6 are local.
    forest.declareQueue("a", "co", quota(10, UNLIMITED, 4));
    forest.declareQueue("b", "co", quota(0));
    forest.rebuildIfDirty();
    assertThat(queue("a").local(cpu)).isEqualTo(6);
    assertThat(cohort("co").subtreeQuota(cpu)).isEqualTo(4);
    assertThat(queue("b").available(cpu)).isEqualTo(4);

    queue("a").add(cpu, 5);
    assertThat(cohort("co").usage(cpu)).isZero();
    queue("a").add(cpu, 3);
    assertThat(cohort("co").usage(cpu)).isEqualTo(2);
    assertThat(queue("b").available(cpu)).isEqualTo(2);

    queue("a").remove(cpu, 4);
    assertThat(cohort("co").usage(cpu)).isZero();
    assertThat(queue("a").usage(cpu)).isEqualTo(4);
  }

  @Test
  void limitsOfCohortsHoldForAllBelowThem() {
    // root (6) <- left (4, may borrow 2) <- a (1); root <- right (5, lends 3) <- b (0)
    forest.declareCohort("root", "", quota(6));
    forest.declareCohort("left", "root", quota(4, 2, UNLIMITED));
    forest.declareCohort("right", "root", quota(5, UNLIMITED, 3));
    forest.declareQueue("a", "left", quota(1));
    forest.declareQueue("b", "right", quota(0));
    forest.rebuildIfDirty();
    assertThat(cohort("left").subtreeQuota(cpu)).isEqualTo(5);
    assertThat(cohort("root").subtreeQuota(cpu)).isEqualTo(6 + 5 + 3);
    assertThat(queue("a").available(cpu)).isEqualTo(7);
    assertThat(queue("a").potential(cpu)).isEqualTo(7);
    assertThat(queue("b").potential(cpu)).isEqualTo(2 + 14);

    queue("b").add(cpu, 12);
    assertThat(cohort("right").usage(cpu)).isEqualTo(12);
    assertThat(cohort("root").usage(cpu)).isEqualTo(10);
    assertThat(queue("a").available(cpu)).isEqualTo(4);
  }

  @Test
  void theBorrowLevelIsTheHeightOfWhereTheRequestFits() {
    forest.declareCohort("root", "", quota(10));
    forest.declareCohort("middle", "root", quota(2));
    forest.declareQueue("a", "middle", quota(1));
    forest.rebuildIfDirty();
    assertThat(cohort("middle").height()).isEqualTo(1);
    assertThat(cohort("root").height()).isEqualTo(2);
    assertThat(queue("a").borrowLevel(cpu, 1)).isZero();
    assertThat(queue("a").borrowLevel(cpu, 3)).isEqualTo(1);
    assertThat(queue("a").borrowLevel(cpu, 4)).isEqualTo(2);
    assertThat(queue("a").borrowLevel(cpu, 400)).isEqualTo(2);
  }

  @Test
  void loweredQuotaMakesWhatIsFreeNegativeForACohortAndNothingForAQueue() {
    forest.declareQueue("a", "co", quota(10));
    forest.rebuildIfDirty();
    queue("a").add(cpu, 10);
    forest.declareQueue("a", "co", quota(4));
    forest.rebuildIfDirty();
    assertThat(queue("a").usage(cpu)).isEqualTo(10);
    assertThat(queue("a").available(cpu)).isZero();
    assertThat(cohort("co").available(cpu)).isEqualTo(-6);
  }

  @Test
  void usageGoesWithAQueueThatMovesToAnotherCohort() {
    forest.declareQueue("a", "one", quota(10));
    forest.declareQueue("b", "two", quota(10));
    forest.rebuildIfDirty();
    queue("a").add(cpu, 7);
    forest.declareQueue("a", "two", quota(10));
    forest.rebuildIfDirty();
    assertThat(cohort("two").usage(cpu)).isEqualTo(7);
    assertThat(queue("b").available(cpu)).isEqualTo(13);
    assertThat(forest.cohort("one")).isNull();
  }

  @Test
  void membersOfACycleHaveNoTree() {
    forest.declareCohort("x", "y", List.of());
    forest.declareCohort("y", "x", List.of());
    forest.declareCohort("below", "x", List.of());
    forest.declareQueue("q", "below", quota(10));
    forest.rebuildIfDirty();
    assertThat(forest.inCycle("x")).isTrue();
    assertThat(forest.inCycle("below")).isTrue();
    assertThat(forest.cycleAbove("below")).containsExactly("x", "y", "x");

    forest.declareCohort("y", "", List.of());
    forest.rebuildIfDirty();
    assertThat(forest.inCycle("below")).isFalse();
    assertThat(forest.cycleAbove("below")).isEmpty();
    assertThat(queue("q").root()).isSameAs(cohort("y"));
  }

  @Test
  void anUnlimitedQuotaStaysUnlimitedOnTheWayUp() {
    forest.declareCohort("root", "", quota(0));
    forest.declareQueue("a", "root", quota(UNLIMITED, UNLIMITED, UNLIMITED));
    forest.declareQueue("b", "root", quota(5));
    forest.rebuildIfDirty();
    queue("b").add(cpu, 1_000);
    assertThat(cohort("root").subtreeQuota(cpu)).isEqualTo(UNLIMITED);
    assertThat(queue("b").available(cpu)).isEqualTo(UNLIMITED);
    assertThat(queue("a").borrowLevel(cpu, Long.MAX_VALUE - 1)).isZero();
  }

  @Test
  void quotasWhoseSumIsTooLargeAreTheLargestLimit() {
    forest.declareQueue("a", "co", quota(Long.MAX_VALUE - 10));
    forest.declareQueue("b", "co", quota(Long.MAX_VALUE - 10));
    forest.rebuildIfDirty();
    assertThat(cohort("co").subtreeQuota(cpu)).isEqualTo(UNLIMITED - 1);
    assertThat(queue("a").potential(cpu)).isEqualTo(UNLIMITED - 1);
    assertThat(queue("a").available(cpu)).isEqualTo(UNLIMITED - 1);
    queue("b").add(cpu, Long.MAX_VALUE - 10);
    queue("a").add(cpu, Long.MAX_VALUE - 10);
    assertThat(queue("a").available(cpu)).isZero();
    queue("a").remove(cpu, Long.MAX_VALUE - 10);
    assertThat(queue("a").available(cpu)).isEqualTo(9);
  }

  @Test
  void usageTooLargeForANumberCanBeGivenBack() {
    forest.declareQueue("a", "co", quota(10));
    forest.declareQueue("b", "co", quota(10));
    forest.rebuildIfDirty();
    queue("a").add(cpu, Long.MAX_VALUE - 3);
    queue("a").add(cpu, 7);
    queue("b").add(cpu, 2);
    assertThat(queue("b").available(cpu)).isZero();

    queue("a").remove(cpu, Long.MAX_VALUE - 3);
    assertThat(queue("a").usage(cpu)).isEqualTo(7);
    assertThat(cohort("co").usage(cpu)).isEqualTo(9);
    assertThat(queue("b").available(cpu)).isEqualTo(11);
  }

  @Test
  void anUnlimitedUseCanBeGivenBack() {
    forest.declareQueue("a", "co", quota(10));
    forest.rebuildIfDirty();
    queue("a").add(cpu, 3);
    queue("a").add(cpu, UNLIMITED);
    assertThat(queue("a").available(cpu)).isZero();
    queue("a").remove(cpu, UNLIMITED);
    assertThat(queue("a").usage(cpu)).isEqualTo(3);
    assertThat(queue("a").available(cpu)).isEqualTo(7);
  }
}
