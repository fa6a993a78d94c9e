package dev.sluice.lab.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import dev.sluice.lab.audit.Auditor.FlavorResourcePair;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The auditor finds what is planted, names the revision, and finds nothing else. */
class AuditorTest {

  private final PlayedHistory history = new PlayedHistory();

  private static List<Rule> broken(AuditReport report) {
    return report.violations().stream().map(Violation::rule).toList();
  }

  @Test
  void aCleanHistoryHasNoViolations() {
    AuditReport report = history.quota(2).life("one").life("two").audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs())
        .containsExactly(
            new JobRecord("team/one", 1, 0, 2, 2, "Complete"),
            new JobRecord("team/two", 1, 0, 2, 2, "Complete"));
    assertThat(report.unfinished()).isEmpty();
    assertThat(report.peaks())
        .hasEntrySatisfying(
            new FlavorResourcePair("pool", "only", "cpu"),
            peak -> assertThat(peak).isEqualByComparingTo("2"));
    assertThat(report.summary()).contains("21 writes", "2 Jobs", "4 pods");
  }

  @Test
  void moreAdmittedThanTheQuotaIsFoundAtTheInstantEvenWhenItIsSoonOver() {
    AuditReport report =
        history
            .quota(3)
            .suspended("one")
            .suspended("two")
            .admitted("one")
            .admitted("two")
            .workload("two", "status: {}")
            .audit();

    assertThat(broken(report)).containsExactly(Rule.QUOTA_KEPT);
    assertThat(report.violations().getFirst().revision()).isEqualTo(104);
    assertThat(report.violations().getFirst().detail()).contains("4", "of 3", "flavor only");
    assertThat(report.peaks().get(new FlavorResourcePair("pool", "only", "cpu")))
        .isEqualByComparingTo(BigDecimal.valueOf(4));
  }

  @Test
  void whatAFinishedOrReclaimedWorkloadHeldIsFree() {
    AuditReport report =
        history
            .quota(3)
            .suspended("one")
            .suspended("two")
            .admitted("one")
            .reclaimed("one", 1)
            .admitted("two")
            .finished("one")
            .finished("two")
            .audit();

    assertThat(report.violations()).isEmpty();
  }

  @Test
  void aFlavorThatTheQueueHasNotIsBeyondQuota() {
    assertThat(broken(history.suspended("one").admitted("one").audit()))
        .containsExactly(Rule.QUOTA_KEPT);
  }

  @Test
  void podsThatStillRunWhenTheirQuotaIsGivenAwayAreFound() {
    AuditReport report =
        history
            .quota(2)
            .suspended("one")
            .suspended("two")
            .admitted("one")
            .unsuspended("one")
            .pod("one", "one-1", "Running")
            .pod("one", "one-2", "Running")
            .suspended("one")
            .workload("one", "status: {}")
            .admitted("two")
            .unsuspended("two")
            .pod("two", "two-1", "Pending")
            .audit();

    assertThat(broken(report)).containsExactly(Rule.PODS_WITHIN_QUOTA);
  }

  @Test
  void aJobThatIsUnsuspendedBeforeItsWorkloadHoldsQuotaIsFound() {
    assertThat(broken(history.quota(2).suspended("one").waiting("one").unsuspended("one").audit()))
        .containsExactly(Rule.HELD_UNTIL_ADMITTED);
  }

  @Test
  void aJobThatIsCreatedUnsuspendedIsFound() {
    assertThat(broken(history.quota(2).unsuspended("one").audit()))
        .containsExactly(Rule.HELD_UNTIL_ADMITTED);
  }

  @Test
  void aJobThatGoesOnWithoutQuotaIsFound() {
    AuditReport report =
        history
            .quota(2)
            .suspended("one")
            .admitted("one")
            .unsuspended("one")
            .workload("one", "status: {}")
            .audit();

    assertThat(broken(report)).containsExactly(Rule.HELD_UNTIL_ADMITTED);
  }

  @Test
  void aPodThatIsMadeForAJobThatIsBeingDeletedIsNobodysFault() {
    AuditReport report =
        history
            .quota(2)
            .suspended("one")
            .admitted("one")
            .unsuspended("one")
            .leaving("one")
            .waiting("one")
            .pod("one", "one-1", "Pending")
            .audit();

    assertThat(broken(report)).doesNotContain(Rule.NO_POD_BEFORE_ADMISSION);
  }

  @Test
  void aPodBeforeAdmissionIsFound() {
    AuditReport report =
        history.quota(2).suspended("one").waiting("one").pod("one", "one-1", "Pending").audit();

    assertThat(broken(report)).containsExactly(Rule.NO_POD_BEFORE_ADMISSION);
    assertThat(report.violations().getFirst().subject()).isEqualTo("team/one-1");
  }

  @Test
  void aSecondStartIsFoundUnlessItFollowsAnEviction() {
    assertThat(
            broken(
                history
                    .quota(2)
                    .suspended("one")
                    .admitted("one")
                    .unsuspended("one")
                    .suspended("one")
                    .unsuspended("one")
                    .audit()))
        .containsExactly(Rule.STARTED_ONCE);

    assertThat(
            broken(
                new PlayedHistory()
                    .quota(2)
                    .suspended("one")
                    .admitted("one")
                    .unsuspended("one")
                    .evicted("one")
                    .suspended("one")
                    .workload("one", "status: {}")
                    .admitted("one")
                    .unsuspended("one")
                    .audit()))
        .isEmpty();
  }

  @Test
  void aThirdPodOfAJobOfTwoIsFoundUnlessOneFailed() {
    assertThat(
            broken(
                history
                    .quota(9)
                    .life("one")
                    .admitted("one")
                    .pod("one", "one-3", "Pending")
                    .audit()))
        .containsExactly(Rule.ONE_SET_OF_PODS);

    assertThat(
            broken(
                new PlayedHistory()
                    .quota(9)
                    .suspended("one")
                    .admitted("one")
                    .unsuspended("one")
                    .pod("one", "one-1", "Running")
                    .pod("one", "one-2", "Running")
                    .podDeleted("one", "one-2", "Running")
                    .pod("one", "one-1", "Failed")
                    .pod("one", "one-3", "Pending")
                    .pod("one", "one-4", "Pending")
                    .audit()))
        .isEmpty();
  }

  /** The Job controller counts a pod that is being deleted as failed, whatever comes of it. */
  @Test
  void aPodThatSucceedsWhileItIsBeingDeletedMayBeReplacedOrCounted() {
    assertThat(
            broken(
                oneIsDeletedAndSucceeds(new PlayedHistory())
                    .pod("one", "one-3", "Pending")
                    .pod("one", "one-3", "Succeeded")
                    .completed("one")
                    .finished("one")
                    .audit()))
        .isEmpty();
    assertThat(
            broken(
                oneIsDeletedAndSucceeds(new PlayedHistory())
                    .completed("one")
                    .finished("one")
                    .audit()))
        .isEmpty();
    assertThat(
            broken(
                oneIsDeletedAndSucceeds(new PlayedHistory())
                    .pod("one", "one-3", "Succeeded")
                    .pod("one", "one-4", "Succeeded")
                    .completed("one")
                    .finished("one")
                    .audit()))
        .containsExactly(Rule.ONE_SET_OF_PODS, Rule.ONE_SET_OF_PODS);
  }

  private static PlayedHistory oneIsDeletedAndSucceeds(PlayedHistory history) {
    return history
        .quota(9)
        .suspended("one")
        .admitted("one")
        .unsuspended("one")
        .pod("one", "one-1", "Running")
        .pod("one", "one-2", "Running")
        .podTerminating("one", "one-1", "Running")
        .podTerminating("one", "one-1", "Succeeded")
        .podDeleted("one", "one-1", "Succeeded")
        .pod("one", "one-2", "Succeeded");
  }

  @Test
  void aPodTooManyIsNotHeldAgainstTheQuotaAsWell() {
    assertThat(
            broken(
                history
                    .quota(2)
                    .suspended("one")
                    .admitted("one")
                    .unsuspended("one")
                    .pod("one", "one-1", "Running")
                    .pod("one", "one-2", "Running")
                    .pod("one", "one-3", "Running")
                    .audit()))
        .containsExactly(Rule.ONE_SET_OF_PODS);
  }

  @Test
  void aJobThatIsCompleteWithTooFewPodsIsFound() {
    assertThat(
            broken(
                history
                    .quota(2)
                    .suspended("one")
                    .admitted("one")
                    .unsuspended("one")
                    .pod("one", "one-1", "Succeeded")
                    .completed("one")
                    .finished("one")
                    .audit()))
        .containsExactly(Rule.ONE_SET_OF_PODS);
  }

  @Test
  void aSecondWorkloadOfAJobIsFound() {
    assertThat(
            broken(
                history
                    .quota(9)
                    .suspended("one")
                    .waiting("one")
                    .namedWorkload("another", "one", "status: {}")
                    .audit()))
        .containsExactly(Rule.ONE_WORKLOAD);
  }

  @Test
  void aTemplateThatChangesWhileTheJobWaitsIsFound() {
    assertThat(
            broken(
                history
                    .quota(9)
                    .suspended("one")
                    .suspendedWithImage("one", "registry.example/image:2")
                    .audit()))
        .containsExactly(Rule.TEMPLATE_KEPT);
  }

  @Test
  void changesOutOfOrderAreNotAHistory() {
    Auditor auditor = new Auditor();
    history.quota(2).suspended("one").changes().reversed().forEach(auditor::accept);

    assertThat(broken(auditor.report())).containsExactly(Rule.WHOLE_HISTORY);
  }

  @Test
  void aJobThatHasNotEndedIsReported() {
    assertThat(history.quota(2).suspended("stuck").waiting("stuck").audit().unfinished())
        .extracting(JobRecord::name)
        .containsExactly("team/stuck");
  }

  /** An elastic Job with an open pod, a gated one, and a slice for one. */
  private PlayedHistory oneOfTwo() {
    return history
        .quota(9)
        .suspended("one")
        .slice("one", "a", 1, 1, "", false)
        .unsuspended("one")
        .pod("one", "one-1", "Running")
        .podGated("one", "one-2");
  }

  @Test
  void anElasticJobMayHaveAsManyOpenPodsAsItsSlicesHold() {
    AuditReport report =
        oneOfTwo()
            .slice("one", "b", 2, 2, "a", false)
            .pod("one", "one-2", "Running")
            .slice("one", "a", 1, 1, "", true)
            .podDeleted("one", "one-2", "Running")
            .slice("one", "b", 2, 1, "a", false)
            .audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.peaks().get(new FlavorResourcePair("pool", "only", "cpu")))
        .isEqualByComparingTo("2");
  }

  @Test
  void aPodOfAnElasticJobThatIsOpenedTooEarlyIsFound() {
    AuditReport report = oneOfTwo().pod("one", "one-2", "Pending").audit();

    assertThat(broken(report)).containsExactly(Rule.PODS_WITHIN_SLICES);
    assertThat(report.violations().getFirst().revision()).isEqualTo(106);
    assertThat(report.violations().getFirst().detail()).contains("2 requested", "1 held");
  }

  @Test
  void aSliceThatGivesBackWhatItsPodsStillUseIsFound() {
    oneOfTwo().slice("one", "b", 2, 2, "a", false).pod("one", "one-2", "Running");
    assertThat(broken(history.audit())).isEmpty();
    assertThat(broken(history.slice("one", "b", 2, 1, "a", false).audit()))
        .containsExactly(Rule.PODS_WITHIN_SLICES);
  }
}
