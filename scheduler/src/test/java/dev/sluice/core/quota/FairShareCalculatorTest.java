package dev.sluice.core.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Shares, computed by hand from docs/scheduling-semantics.md#fair-sharing. */
class FairShareCalculatorTest {

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final CohortHierarchy forest = new CohortHierarchy(pairs);
  private final FairShareCalculator shares = new FairShareCalculator(pairs);
  private final int cpu = pairs.number("f", "cpu");
  private final int memory = pairs.number("f", "memory");
  private final int otherCpu = pairs.number("g", "cpu");

  private static Quota quota(long nominal) {
    return new Quota(nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
  }

  private static List<ResourceGroup> cpu(Quota quota) {
    return List.of(
        new ResourceGroup(
            List.of("cpu"), List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", quota)))));
  }

  private void queue(String name, String cohort, long nominal, String weight) {
    forest.declareQueue(name, cohort, cpu(quota(nominal)), new BigDecimal(weight));
  }

  private QuotaNode use(String name, int pair, long amount) {
    forest.rebuildIfDirty();
    QuotaNode node = Objects.requireNonNull(forest.queue(name));
    node.add(pair, amount);
    return node;
  }

  private DominantResourceShare ofCohort(String name) {
    return shares.of(Objects.requireNonNull(forest.cohort(name)));
  }

  @Test
  void whatIsBorrowedCountsInThousandthsOfWhatTheCohortCanLend() {
    queue("a", "co", 10, "1");
    queue("b", "co", 20, "1");
    QuotaNode a = use("a", cpu, 16);

    assertThat(shares.of(a).value()).isEqualTo(200);
    assertThat(shares.of(a).rounded()).isEqualTo(200);
    assertThat(ofCohort("co")).isEqualTo(DominantResourceShare.NONE);
    a.remove(cpu, 6);
    assertThat(shares.of(a)).isEqualTo(DominantResourceShare.NONE);
    a.add(cpu, 1);
    assertThat(shares.of(a).rounded()).isEqualTo(34); // 33.3, rounded up
  }

  @Test
  void withoutCohortThereIsNoShare() {
    queue("a", "", 1, "1");
    assertThat(shares.of(use("a", cpu, 5))).isEqualTo(DominantResourceShare.NONE);
  }

  /** Changes of 0.20, section 1. */
  @Test
  void aShareIsNeverNegative() {
    queue("a", "co", 0, "0.000001");
    queue("b", "co", 1, "1");
    QuotaNode a = use("a", cpu, Long.MAX_VALUE);
    assertThat(shares.of(a).rounded()).isEqualTo(Long.MAX_VALUE);
    a.add(cpu, Long.MAX_VALUE);
    assertThat(shares.of(a).rounded()).isEqualTo(Long.MAX_VALUE);
    a.remove(cpu, Long.MAX_VALUE);
    a.remove(cpu, Long.MAX_VALUE);
    assertThat(shares.of(a).rounded()).isZero();
  }

  @Test
  void theWeightDivides() {
    queue("heavy", "co", 0, "2");
    queue("light", "co", 0, "0.1");
    queue("lender", "co", 12, "1");

    assertThat(shares.of(use("heavy", cpu, 6)).rounded()).isEqualTo(250);
    assertThat(shares.of(use("light", cpu, 6)).rounded()).isEqualTo(5000);
  }

  @Test
  void withoutWeightItIsInfiniteAsSoonAsItBorrows() {
    queue("none", "co", 2, "0");
    queue("lender", "co", 10, "1");
    QuotaNode node = use("none", cpu, 2);
    assertThat(shares.of(node).isInfinite()).isFalse();
    assertThat(shares.of(node).rounded()).isZero();

    node.add(cpu, 1);
    assertThat(shares.of(node).isInfinite()).isTrue();
    assertThat(shares.of(node).rounded()).isEqualTo(9223372036854775807L);
  }

  @Test
  void flavorsOfAResourceAreAddedAndTheScarcestResourceCounts() {
    Map<String, Quota> both = Map.of("cpu", quota(10), "memory", quota(100));
    Map<String, Quota> more = Map.of("cpu", quota(30), "memory", quota(100));
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu", "memory"),
                List.of(
                    new ResourceGroup.FlavorQuotas("f", both),
                    new ResourceGroup.FlavorQuotas("g", more))));
    forest.declareQueue("lender", "co", groups);
    forest.declareQueue("a", "co", List.of());
    QuotaNode a = use("a", cpu, 4);
    a.add(otherCpu, 6);
    a.add(memory, 20);

    assertThat(shares.of(a))
        .isEqualTo(new DominantResourceShare(10, 40, BigDecimal.ONE, true)); // 250, not 100
  }

  /** A double doesn't tell the two ratios apart, whichever of the resources is looked at first. */
  @Test
  void theScarcestResourceCountsHoweverLittleScarcerItIs() {
    for (long difference : List.of(-1L, 1L)) {
      String cohort = "co" + difference;
      long most = Long.MAX_VALUE / 4;
      Map<String, Quota> lent = Map.of("cpu", quota(most), "memory", quota(most + difference));
      forest.declareQueue(
          "lender" + difference,
          cohort,
          List.of(
              new ResourceGroup(
                  List.of("cpu", "memory"), List.of(new ResourceGroup.FlavorQuotas("f", lent)))));
      forest.declareQueue("a" + difference, cohort, List.of());
      QuotaNode a = use("a" + difference, cpu, 1);
      a.add(memory, 1);

      assertThat(shares.of(a))
          .isEqualTo(
              new DominantResourceShare(
                  1, Math.min(most, most + difference), BigDecimal.ONE, true));
    }
  }

  @Test
  void whatIsNeverLentDoesNotCount() {
    forest.declareQueue("keeper", "co", cpu(new Quota(10, ResourceAmounts.UNLIMITED, 4)));
    queue("lender", "co", 6, "1");
    queue("a", "co", 0, "1");

    assertThat(shares.of(use("a", cpu, 5)).rounded()).isEqualTo(500);
  }

  @Test
  void aCohortHasAShareOfWhatTheOneAboveCanLend() {
    forest.declareCohort("root", "", List.of());
    forest.declareCohort("left", "root", List.of(), new BigDecimal("2"));
    forest.declareCohort("right", "root", List.of());
    queue("own", "left", 10, "1");
    queue("a", "left", 0, "1");
    queue("other", "right", 10, "1");
    QuotaNode a = use("a", cpu, 5);

    assertThat(shares.of(a).rounded()).isEqualTo(250); // 5 of 20
    assertThat(ofCohort("left")).isEqualTo(DominantResourceShare.NONE); // within its 10
    a.add(cpu, 10);
    assertThat(shares.of(a).rounded()).isEqualTo(750);
    assertThat(ofCohort("left").rounded()).isEqualTo(125); // 5 of 20, of weight 2
    assertThat(ofCohort("root")).isEqualTo(DominantResourceShare.NONE);
  }

  @Test
  void aBorrowingLimitOfTheCohortLimitsWhatItCanLend() {
    forest.declareCohort("root", "", List.of());
    forest.declareCohort("left", "root", cpu(new Quota(2, 3, ResourceAmounts.UNLIMITED)));
    queue("a", "left", 0, "1");
    queue("lender", "root", 100, "1");

    assertThat(shares.of(use("a", cpu, 1)).rounded()).isEqualTo(200); // 1 of 5
  }

  @Test
  void infiniteOnesCompareByWhatTheyHave() {
    DominantResourceShare finite = new DominantResourceShare(9, 10, BigDecimal.ONE, true);
    DominantResourceShare little = new DominantResourceShare(1, 10, BigDecimal.ZERO, true);
    DominantResourceShare much = new DominantResourceShare(2, 10, BigDecimal.ZERO, true);

    assertThat(little).isGreaterThan(finite);
    assertThat(much).isGreaterThan(little);
    assertThat(little)
        .isEqualByComparingTo(new DominantResourceShare(2, 20, BigDecimal.ZERO, true));
    assertThat(finite).isGreaterThan(DominantResourceShare.NONE);
  }

  @Test
  void equalSharesOfUnequalWeightsAreEqual() {
    DominantResourceShare third = new DominantResourceShare(1, 3, new BigDecimal("7"), true);
    DominantResourceShare same = new DominantResourceShare(1, 21, BigDecimal.ONE, true);
    DominantResourceShare tenth = new DominantResourceShare(3, 7, new BigDecimal("0.1"), true);

    assertThat(third).isEqualByComparingTo(same);
    assertThat(tenth).isEqualByComparingTo(new DominantResourceShare(30, 7, BigDecimal.ONE, true));
    assertThat(new DominantResourceShare(1_000_000_000_001L, 3, BigDecimal.ONE, true))
        .isGreaterThan(new DominantResourceShare(1_000_000_000_000L, 3, BigDecimal.ONE, true));
  }

  @Test
  void aRankingHasTheHighestShareBesideEachChild() {
    queue("lender", "co", 100, "1");
    queue("a", "co", 0, "1");
    queue("b", "co", 0, "2");
    queue("c", "co", 0, "1");
    QuotaNode a = use("a", cpu, 10);
    QuotaNode b = use("b", cpu, 16);
    QuotaNode c = use("c", cpu, 4);
    ShareRanking ranking = shares.ranking(Objects.requireNonNull(c.parent()));

    assertThat(ranking.highestBeside(c)).isEqualByComparingTo(shares.of(a));
    assertThat(ranking.highestBeside(a)).isEqualByComparingTo(shares.of(b));
    assertThat(shares.ranking(Objects.requireNonNull(c.parent()))).isSameAs(ranking);
  }

  @Test
  void aRankingHoldsUntilUsageOrReservationsBelowChange() {
    queue("lender", "co", 100, "1");
    queue("a", "co", 0, "1");
    QuotaNode a = use("a", cpu, 10);
    QuotaNode lender = use("lender", cpu, 0);
    QuotaNode cohort = Objects.requireNonNull(a.parent());
    assertThat(shares.ranking(cohort).highestBeside(lender)).isEqualByComparingTo(shares.of(a));

    a.remove(cpu, 10);
    assertThat(shares.ranking(cohort).highestBeside(lender)).isNull();
    a.add(cpu, 30);
    ShareRanking before = shares.ranking(cohort);
    assertThat(before.highestBeside(lender)).isEqualByComparingTo(shares.of(a));
    a.reservationsChanged();
    assertThat(shares.ranking(cohort)).isNotSameAs(before);
  }

  @Test
  void whatIsKeptOfSharesHoldsAgainAfterATrial() {
    queue("lender", "co", 100, "1");
    queue("a", "co", 0, "1");
    QuotaNode a = use("a", cpu, 10);
    DominantResourceShare before = shares.of(a);
    ShareRanking ranking = shares.ranking(Objects.requireNonNull(a.parent()));

    a.keepShares();
    a.add(cpu, 5);
    assertThat(shares.of(a)).isGreaterThan(before);
    a.remove(cpu, 5);
    a.restoreShares();

    assertThat(shares.of(a)).isSameAs(before);
    assertThat(shares.ranking(Objects.requireNonNull(a.parent()))).isSameAs(ranking);
  }

  @Test
  void theBoundOnWhatIsLeftIsTheShareWithoutTheLeastReservation() {
    // a and b in left, which keeps 3 of its 10 for itself.
    forest.declareCohort("left", "root", cpu(new Quota(10, ResourceAmounts.UNLIMITED, 7)));
    forest.declareCohort("right", "root", cpu(quota(30)));
    queue("a", "left", 0, "1");
    queue("b", "left", 0, "1");
    QuotaNode a = use("a", cpu, 12);
    QuotaNode b = use("b", cpu, 4);
    QuotaNode left = Objects.requireNonNull(forest.cohort("left"));
    QuotaNode right = Objects.requireNonNull(forest.cohort("right"));
    ShareRanking ranking = shares.ranking(Objects.requireNonNull(left.parent()));

    DominantResourceShare bound =
        ranking.highestFinalBeside(right, cpu, (queue, pair) -> queue == a ? 5 : 2);

    b.remove(cpu, 2);
    assertThat(bound).isEqualTo(shares.of(left));
    b.add(cpu, 2);
    a.remove(cpu, 5);
    assertThat(bound).isGreaterThan(shares.of(left));
    a.add(cpu, 5);
    assertThat(
            shares
                .ranking(Objects.requireNonNull(left.parent()))
                .highestFinalBeside(right, cpu, (queue, pair) -> 0))
        .isNull();
  }
}
