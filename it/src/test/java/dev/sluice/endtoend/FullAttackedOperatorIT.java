package dev.sluice.endtoend;

import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Three hundred honest Jobs, and an {@linkplain AttackedOperator adversary} with more of all. */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Isolated("needs the processors for itself")
@Tag("faults")
class FullAttackedOperatorIT {

  @Test
  void honestJobsFinishWithinTheirQuota(ControlPlane controlPlane, TestCluster cluster)
      throws Exception {
    new AttackedOperator(
            controlPlane,
            cluster,
            new AttackedOperator.Size(
                120, 60, 10, Duration.ofSeconds(3), 5, 4, Duration.ofMinutes(30)))
        .play();
  }
}
