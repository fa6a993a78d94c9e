package dev.sluice.jobs.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names of Workloads follow from the job alone. */
class WorkloadNamesTest {

  private static final String UID = GivenJob.UID;

  @ParameterizedTest
  @CsvSource({
    "Job, batch, sample, '', job-sample-355fa",
    "Job, batch, sample, 3, job-sample-388c3",
    "Pod, '', p1, '', pod-p1-73ac2",
    "LeaderWorkerSet, leaderworkerset.x-k8s.io, lws-0, '', leaderworkerset-lws-0-9d38b",
    "StatefulSet, apps, web, '', statefulset-web-0012b",
  })
  void vectors(String kind, String group, String job, String extra, String expected) {
    assertThat(WorkloadNames.of(kind, group, job, UID, extra, WorkloadNames.LONGEST))
        .isEqualTo(expected);
  }

  @Test
  void longNamesAreCutBeforeTheHash() {
    String name = WorkloadNames.of("Job", "batch", "a".repeat(300), UID, "", 253);
    assertThat(name).hasSize(253).startsWith("job-aaa").matches(".*-[0-9a-f]{5}");
  }

  /** Gate ShortWorkloadNames. */
  @Test
  void shortNamesHaveRoomInALabel() {
    String name = WorkloadNames.of("Job", "batch", "a".repeat(63), UID, "", WorkloadNames.SHORT);
    assertThat(name).hasSize(63).startsWith("job-aaa").matches(".*-[0-9a-f]{5}");
  }
}
