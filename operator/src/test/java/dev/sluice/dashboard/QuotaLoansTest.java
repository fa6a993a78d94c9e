package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.dashboard.OverviewDocument.QuotaLoans;
import dev.sluice.dashboard.OverviewDocument.QuotaLoans.Loan;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuotaLoansTest {

  private static FlavorUsage usage(long nominal, long used) {
    return usage(nominal, used, ResourceAmounts.UNLIMITED);
  }

  private static FlavorUsage usage(long nominal, long used, long lendingLimit) {
    return new FlavorUsage(
        "spot", "cpu", nominal, ResourceAmounts.UNLIMITED, lendingLimit, used, used);
  }

  private static ClusterQueueView queue(String name, String cohort, FlavorUsage usage) {
    return new ClusterQueueView(name, cohort, cohort, List.of(), 0, 0, 0, 0, List.of(usage));
  }

  private static CohortView cohort(String name, String parent, String root, FlavorUsage usage) {
    return new CohortView(name, parent, root, List.of(usage));
  }

  @Test
  void aQueueWithoutCohortNeitherBorrowsNorLends() {
    QuotaLoans loans = new QuotaLoans(List.of(queue("a", "", usage(10, 4))), List.of());
    assertThat(loans.ofClusterQueue("a", usage(10, 4))).isEqualTo(Loan.NONE);
  }

  @Test
  void whatIsBorrowedIsDividedAmongThoseWithIdleQuota() {
    QuotaLoans loans =
        new QuotaLoans(
            List.of(
                queue("a", "co", usage(10, 16)),
                queue("b", "co", usage(10, 2)),
                queue("c", "co", usage(10, 6))),
            List.of(cohort("co", "", "co", usage(30, 24))));
    assertThat(loans.ofClusterQueue("a", usage(10, 16))).isEqualTo(new Loan(6, 0));
    assertThat(loans.ofClusterQueue("b", usage(10, 2))).isEqualTo(new Loan(0, 4));
    assertThat(loans.ofClusterQueue("c", usage(10, 6))).isEqualTo(new Loan(0, 2));
  }

  @Test
  void nobodyLendsMoreThanItsLimitAndTheQuotaOfTheCohortLends() {
    QuotaLoans limited =
        new QuotaLoans(
            List.of(queue("a", "co", usage(10, 12)), queue("b", "co", usage(10, 0, 2))),
            List.of(cohort("co", "", "co", usage(20, 12))));
    assertThat(limited.ofClusterQueue("b", usage(10, 0, 2))).isEqualTo(new Loan(0, 2));
    QuotaLoans own =
        new QuotaLoans(
            List.of(queue("a", "co", usage(10, 20)), queue("b", "co", usage(10, 0))),
            List.of(cohort("co", "", "co", usage(30, 20))));
    assertThat(own.ofClusterQueue("b", usage(10, 0))).isEqualTo(new Loan(0, 5));
  }

  @Test
  void aCohortLendsToItsSisterByItsMembers() {
    List<CohortView> cohorts =
        List.of(
            cohort("root", "", "root", usage(20, 14)),
            cohort("left", "root", "root", usage(10, 14)),
            cohort("right", "root", "root", usage(10, 0)));
    QuotaLoans loans =
        new QuotaLoans(
            List.of(queue("a", "left", usage(10, 14)), queue("b", "right", usage(10, 0))), cohorts);
    assertThat(loans.ofCohort("left", usage(10, 14))).isEqualTo(new Loan(4, 0));
    assertThat(loans.ofCohort("right", usage(10, 0))).isEqualTo(new Loan(0, 4));
    assertThat(loans.ofClusterQueue("a", usage(10, 14))).isEqualTo(new Loan(4, 0));
    assertThat(loans.ofClusterQueue("b", usage(10, 0))).isEqualTo(new Loan(0, 4));
  }

  @Test
  void parentsThatFormACycleDoNotMatter() {
    List<CohortView> cycle =
        List.of(cohort("x", "y", "", usage(0, 0)), cohort("y", "x", "", usage(0, 0)));
    QuotaLoans loans = new QuotaLoans(List.of(queue("a", "x", usage(10, 12))), cycle);
    assertThat(loans.ofClusterQueue("a", usage(10, 12))).isEqualTo(new Loan(2, 0));
  }
}
