package dev.sluice.endtoend;

import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Forty honest Jobs, and an {@linkplain AttackedOperator adversary} who does all at once. */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag("faults")
class AttackedOperatorIT {

  @Test
  void honestJobsFinishWithinTheirQuota(ControlPlane controlPlane, TestCluster cluster)
      throws Exception {
    new AttackedOperator(
            controlPlane,
            cluster,
            new AttackedOperator.Size(
                15, 10, 4, Duration.ofSeconds(2), 3, 1, Duration.ofMinutes(15)))
        .play();
  }
}
