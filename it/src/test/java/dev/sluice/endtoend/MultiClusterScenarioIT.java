package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Progress;
import dev.sluice.lab.demo.DemoCommand.MultiClusterExpectation;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.MultiClusterEnvironment;
import dev.sluice.lab.demo.ProgressListener;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.LocalOperator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The story of many clusters, every sentence of it, on three real control planes. */
@Tag(BuildBreadth.NIGHTLY)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@Tag("scenario")
class MultiClusterScenarioIT {

  private static final Logger LOG = LoggerFactory.getLogger(MultiClusterScenarioIT.class);

  @Test
  void everyExpectationHolds() throws BinariesMissingException, InterruptedException {
    Binaries binaries =
        DefaultBinarySources.standard(
                Optional.empty(),
                System.getenv(),
                InstantSource.system(),
                Progress.onStandardError())
            .obtain();
    try (MultiClusterEnvironment stage =
        new MultiClusterEnvironment(
            binaries,
            Lifetime.WITH_THIS_PROCESS,
            Duration.ofSeconds(10),
            InstantSource.system(),
            (name, controlPlane, settings) ->
                LocalOperator.start(name, controlPlane.kubeconfig(), settings))) {
      List<ExpectationResult> expectationResults = stage.start().tell(new Logged());

      assertThat(expectationResults)
          .allSatisfy(
              expectationResult ->
                  assertThat(expectationResult.held()).as("%s", expectationResult).isTrue());
      assertThat(expectationResults)
          .extracting(ExpectationResult::expectation)
          .containsExactly(MultiClusterExpectation.values());
    }
  }

  /** What happens goes to the log of the test. */
  private static final class Logged implements ProgressListener {
    @Override
    public void say(String line) {
      LOG.info("story: {}", line);
    }

    @Override
    public void waits(String what) {}

    @Override
    public void judged(ExpectationResult expectationResult) {
      LOG.info("expectation: {}", expectationResult);
    }
  }
}
