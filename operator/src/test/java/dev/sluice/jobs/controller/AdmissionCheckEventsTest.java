package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.controller.JobController.AdmissionCheckEvents;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** People see at the job what its admission checks say. */
class AdmissionCheckEventsTest {

  private final List<String> told = new ArrayList<>();
  private boolean leading = true;
  private final AdmissionCheckEvents messages = of(BatchJob.KIND);

  private AdmissionCheckEvents of(JobKind kind) {
    return new AdmissionCheckEvents(
        kind,
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
  }

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

  /** Workload lifecycle, section 10: on jobs and pods. Nobody controls the Workload of a group. */
  @Test
  void theFirstOfAGroupIsTold() {
    AdmissionCheckEvents events = of(SinglePod.KIND);
    events.changed(ofGroup(""), ofGroup("ETA 10m"));
    messages.changed(ofGroup(""), ofGroup("ETA 10m"));
    assertThat(told).containsExactly("Pod team/a UpdatedAdmissionCheck capacity: ETA 10m");
  }

  /** Whoever controls a Workload is told alone. */
  @Test
  void whoOwnsAWorkloadBesideItsJobIsNotTold() {
    AdmissionCheckEvents events = of(SinglePod.KIND);
    events.changed(
        waiting("Pending", "").ownedBy("v1", "Pod", "a").get(),
        waiting("Pending", "ETA 10m").ownedBy("v1", "Pod", "a").get());
    assertThat(told).isEmpty();
  }

  private static CachedWorkload ofGroup(String message) {
    return waiting("Pending", message)
        .unowned()
        .ownedBy("v1", "Pod", "a")
        .ownedBy("v1", "Pod", "b")
        .get();
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
