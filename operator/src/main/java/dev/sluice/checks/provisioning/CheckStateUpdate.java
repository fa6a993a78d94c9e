package dev.sluice.checks.provisioning;

import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningEvents;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the states of checks, with a log line and an event for what changes. Thread-safe. */
final class CheckStateUpdate {

  private static final Logger LOG = LoggerFactory.getLogger(CheckStateUpdate.class);
  private static final Duration AFTER_CONFLICT = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  private final CheckStateWriter writer;
  private final ProvisioningEvents events;

  CheckStateUpdate(CheckStateWriter writer, ProvisioningEvents events) {
    this.writer = writer;
    this.events = events;
  }

  /**
   * Writes the states of all checks of a Workload, and tells which have changed.
   *
   * @return after what time to try again, if they weren't written
   */
  Optional<Duration> write(CachedWorkload workload, List<CheckState> states)
      throws InterruptedException {
    Outcome outcome = Futures.forResult(writer.write(workload, CheckStateWriter.patch(states)));
    return switch (outcome) {
      case Outcome.Written written -> {
        tell(workload, states);
        yield Optional.empty();
      }
      case Outcome.Gone gone -> Optional.empty();
      case Outcome.Conflict conflict -> Optional.of(AFTER_CONFLICT);
      case Outcome.Refused refused -> {
        LOG.warn("workload={} checks=refused reason=\"{}\"", workload.id(), refused.message());
        yield Optional.of(AFTER_REFUSAL);
      }
    };
  }

  private void tell(CachedWorkload workload, List<CheckState> states) {
    for (CheckState before : workload.status().admissionChecks()) {
      for (CheckState after : states) {
        if (after.name().equals(before.name()) && !after.equals(before)) {
          LOG.info(
              "workload={} check={} state={} reason=\"{}\"",
              workload.id(),
              after.name(),
              after.state(),
              after.message());
          if (!after.state().equals(before.state())) {
            events.record(
                workload,
                false,
                "AdmissionCheckUpdated",
                "Admission check "
                    + after.name()
                    + " changed from "
                    + before.state()
                    + " to "
                    + after.state()
                    + (after.message().isEmpty() ? "" : ": " + after.message()));
          }
        }
      }
    }
  }
}
