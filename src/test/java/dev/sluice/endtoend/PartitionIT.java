package dev.sluice.endtoend;

import dev.sluice.cli.controlplane.ControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** The partition of {@link Partitions} that is noticed at once. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@Isolated("needs the processors for itself")
class PartitionIT {

  @Test
  @Tag("faults")
  void aWorkerWhoseOperatorIsKilledWhileItIsCutOffStopsItsJobInTime(
      ControlPlane controlPlane, TestCluster cluster) throws Exception {
    Partitions.endure(
        controlPlane,
        cluster,
        worker -> {
          worker.cut();
          worker.restartOperator();
        });
  }
}
