package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.batch.BatchJob;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** People see at the job what its admission checks say. */
class AdmissionCheckEventsTest {

  private final List<String> told = new ArrayList<>();
  private boolean leading = true;
  private final AdmissionCheckEvents messages =
      new AdmissionCheckEvents(
          BatchJob.KIND,
          new JobEvents() {
            @Override
            public void normal(JobRef job, String reason, String note) {
              told.add(job + " " + reason + " " + note);
            }

            @Override
            public void warning(JobRef job, String reason, String note) {
              throw new AssertionError("nothing to warn of");
            }
          },
          () -> leading);

  private static GivenWorkload waiting(String state, String message) {
    return workloadOf(job()).reserved("spot").check("capacity", state, message);
  }

  @Test
  void anEventTellsWhatPendingChecksSayWhenThatChanges() {
    messages.changed(waiting("Pending", "").get(), waiting("Pending", "ETA 10m").get());
    messages.changed(waiting("Pending", "ETA 10m").get(), waiting("Pending", "ETA 10m").get());
    messages.changed(waiting("Pending", "ETA 10m").get(), waiting("Ready", "done").get());
    assertThat(told).containsExactly("Job team/sample UpdatedAdmissionCheck capacity: ETA 10m");
  }

  @Test
  void onlyTheLeaderTells() {
    leading = false;
    messages.changed(waiting("Pending", "").get(), waiting("Pending", "ETA 10m").get());
    assertThat(told).isEmpty();
  }

  @Test
  void nothingIsToldOfWhatHoldsNoQuota() {
    messages.changed(
        workloadOf(job()).get(), workloadOf(job()).check("capacity", "Pending", "ETA 10m").get());
    assertThat(told).isEmpty();
  }
}
