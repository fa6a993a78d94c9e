package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenCluster.cluster;
import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Workloads of a Job whose queue name was taken off. */
class UnqueuedJobPolicyTest {

  private JobOptions rules = JobOptions.defaults("kueue-system");

  private List<JobAction> decide(GivenJob job, CachedWorkload... workloads) {
    GivenCluster cluster = cluster();
    return new JobPolicy(
            new BatchJob(), rules, RemoteExecutionCheck.whereMarked(() -> true, sent -> false))
        .decide(
            new ReconcileContext(
                job.queue("").view(),
                new ManagementStatus.Unmanaged(),
                Arrays.asList(workloads),
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  @Test
  void ofASuspendedJobAreDeletedThenReleased() {
    for (CachedWorkload workload :
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
    CachedWorkload evicted = workloadOf(job()).admitted("spot").evicted("Preempted", "").get();
    assertThat(decide(job().status("active", "1"), evicted)).isEmpty();
    assertThat(decide(job().annotation(KueueConstants.STOPPING, "true"), evicted))
        .singleElement()
        .isInstanceOfSatisfying(Stop.class, stop -> assertThat(stop.original()).contains(evicted));
  }

  @Test
  void ofARunningJobCountUntilItEnds() {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    assertThat(decide(job().running(3), admitted)).isEmpty();
    assertThat(decide(job().running(3), workloadOf(job()).get()))
        .singleElement()
        .isInstanceOf(DeleteWorkload.class);
    assertThat(decide(job().ended("Complete", "done"), admitted))
        .singleElement()
        .isInstanceOfSatisfying(
            FinishWorkload.class, finish -> assertThat(finish.reason()).isEqualTo("Succeeded"));
  }

  /** Whoever takes the queue off a job that has quota doesn't keep it from being preempted. */
  @Test
  void ofARunningJobAreEvictedLikeOthers() {
    CachedWorkload evicted = workloadOf(job()).admitted("spot").evicted("Preempted", "").get();
    assertThat(decide(job().running(3), evicted))
        .singleElement()
        .isInstanceOfSatisfying(
            Stop.class,
            stop -> {
              assertThat(stop.reason()).isEqualTo(JobAction.StopReason.WORKLOAD_EVICTED);
              assertThat(stop.original()).contains(evicted);
            });
  }

  @Test
  void thatOthersMadeOrThatAreFinishedAreLeftAlone() {
    assertThat(decide(job(), workloadOf(job()).finished().get())).isEmpty();
    assertThat(decide(job(), workloadOf(job()).unowned().admitted("spot").get())).isEmpty();
  }

  @Test
  void whereNoJobIsHandledAreLeftAlone() {
    rules =
        new JobOptions(
            rules.gates(),
            false,
            namespace -> false,
            rules.copied(),
            rules.readiness(),
            rules.afterDeactivated(),
            rules.admittedRequests(),
            rules.clusterState());
    assertThat(decide(job(), workloadOf(job()).admitted("spot").get())).isEmpty();
  }
}
