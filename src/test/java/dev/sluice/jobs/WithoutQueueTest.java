package dev.sluice.jobs;

import static dev.sluice.jobs.GivenCluster.cluster;
import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.FinishWorkload;
import dev.sluice.jobs.JobAction.RemoveFinalizer;
import dev.sluice.jobs.JobAction.Stop;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.workloads.Workload;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Workloads of a Job whose queue name was taken off. */
class WithoutQueueTest {

  private JobRules rules = JobRules.defaults("kueue-system");

  private List<JobAction> decide(GivenJob job, Workload... workloads) {
    GivenCluster cluster = cluster();
    return new JobDecisions(new BatchJob(), rules, Elsewhere.whereMarked(() -> true, sent -> false))
        .decide(
            new Situation(
                job.queue("").view(),
                new Standing.Unmanaged(),
                Arrays.asList(workloads),
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  @Test
  void ofASuspendedJobAreDeletedThenReleased() {
    for (Workload workload :
        List.of(
            workloadOf(job()).get(),
            workloadOf(job()).reserved("spot").get(),
            workloadOf(job()).admitted("spot").get())) {
      assertThat(decide(job(), workload))
          .singleElement()
          .isEqualTo(new DeleteWorkload(workload, "its job names no queue any more"));
    }
    assertThat(decide(job(), workloadOf(job()).admitted("spot").deleting().get()))
        .singleElement()
        .isInstanceOf(RemoveFinalizer.class);
  }

  @Test
  void keepTheirQuotaUntilTheJobHasStopped() {
    Workload evicted = workloadOf(job()).admitted("spot").evicted("Preempted", "").get();
    assertThat(decide(job().status("active", "1"), evicted)).isEmpty();
    assertThat(decide(job().annotation(Keys.STOPPING, "true"), evicted))
        .singleElement()
        .isInstanceOfSatisfying(Stop.class, stop -> assertThat(stop.original()).contains(evicted));
  }

  @Test
  void ofARunningJobCountUntilItEnds() {
    Workload admitted = workloadOf(job()).admitted("spot").get();
    assertThat(decide(job().running(3), admitted)).isEmpty();
    assertThat(decide(job().running(3), workloadOf(job()).get()))
        .singleElement()
        .isInstanceOf(DeleteWorkload.class);
    assertThat(decide(job().ended("Complete", "done"), admitted))
        .singleElement()
        .isInstanceOfSatisfying(
            FinishWorkload.class, finish -> assertThat(finish.reason()).isEqualTo("Succeeded"));
  }

  @Test
  void thatOthersMadeOrThatAreFinishedAreLeftAlone() {
    assertThat(decide(job(), workloadOf(job()).finished().get())).isEmpty();
    assertThat(decide(job(), workloadOf(job()).unowned().admitted("spot").get())).isEmpty();
  }

  @Test
  void whereNoJobIsHandledAreLeftAlone() {
    rules =
        new JobRules(
            false,
            namespace -> false,
            rules.labelKeysToCopy(),
            rules.longestWorkloadName(),
            true,
            true,
            false,
            Optional.empty(),
            true);
    assertThat(decide(job(), workloadOf(job()).admitted("spot").get())).isEmpty();
  }
}
