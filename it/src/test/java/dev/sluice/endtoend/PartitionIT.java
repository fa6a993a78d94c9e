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

/** The partition of {@link Partitions} that is noticed at once. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag("faults")
class PartitionIT {

  /**
   * Before the fence, and so late that a fence which began anew would be later than the manager.
   */
  private static final Duration HALFWAY = Duration.ofSeconds(30);

  @Test
  void aWorkerWhoseOperatorIsKilledWhileItIsCutOffStopsItsJobInTime(
      ControlPlane controlPlane, TestCluster cluster) throws Exception {
    Partitions.endure(
        controlPlane,
        cluster,
        worker -> {
          worker.cut();
          Partitions.lastRenewalIs(HALFWAY, worker);
          worker.restartOperator();
        });
  }
}
