package dev.sluice.app.module;

import dev.sluice.kube.events.EventRecorder.Routine;
import java.time.Duration;
import java.util.Set;

/**
 * The events of the usual course of a job. Each of them says what the status of the job or of its
 * Workload says, too, and nobody has to act upon it; evictions and warnings are not among them.
 */
final class RoutineEvents {

  /** All steps of about fifteen jobs after a quiet time, and of one more each second. */
  static final Routine BUDGET =
      new Routine(
          Set.of(
              "CreatedWorkload",
              "QuotaReserved",
              "Admitted",
              "Started",
              "MultiKueue",
              "ProvisioningRequestCreated",
              "AdmissionCheckUpdated",
              "FinishedWorkload"),
          5,
          100,
          100,
          Duration.ofSeconds(30));

  private RoutineEvents() {}
}
