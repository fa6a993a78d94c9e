package dev.sluice.endtoend;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The partition of {@link Partitions} in which nobody is told that a link is broken. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag("faults")
class SilentPartitionIT {

  @Test
  void aWorkerThatOnlyFallsSilentStopsItsJobLongBeforeThatIsNoticed(
      ControlPlane controlPlane, TestCluster cluster) throws Exception {
    Partitions.endure(controlPlane, cluster, MultiClusterLoad.Worker::swallow);
  }
}
