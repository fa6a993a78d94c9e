package dev.sluice.endtoend;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Ten minutes of {@link MultiClusterFaults}, with 500 Jobs and three workers. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag("faults")
class FullMultiClusterFaultsIT {

  @Test
  void tenMinutesOfFaults(ControlPlane controlPlane, TestCluster cluster) throws Exception {
    MultiClusterFaults.endure(
        new MultiClusterFaults.Size(3, 500, Duration.ofMinutes(10), true), controlPlane, cluster);
  }
}
