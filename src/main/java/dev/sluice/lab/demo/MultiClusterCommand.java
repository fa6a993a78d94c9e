package dev.sluice.lab.demo;

import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice demo multi-cluster}: runs the multi-cluster scenario. */
@Command(
    name = "multi-cluster",
    description = {
      "Tells the story of many clusters on three real control planes: starts a manager and two"
          + " workers on this machine, an operator in each, applies manifests, cuts one worker off"
          + " for a while, and judges nine expectations. Ends by itself after about two minutes."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control planes' programs can't be had, or a cluster can't be reached"
    })
public final class MultiClusterCommand implements Callable<Integer> {

  private static final Duration LOST_TIMEOUT = Duration.ofSeconds(10);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--keep",
      description = "Leaves clusters, operators and objects as they are at the end.")
  private boolean keep;

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    try (MultiClusterEnvironment stage =
        new MultiClusterEnvironment(
            binaries.obtain(),
            keep ? Lifetime.UNTIL_STOPPED : Lifetime.WITH_THIS_PROCESS,
            LOST_TIMEOUT,
            InstantSource.system(),
            line -> DemoOutput.say(out, line))) {
      stage.start();
      List<ExpectationResult> results = tell(stage, out);
      if (keep) {
        stage.whatStays().forEach(line -> DemoOutput.say(out, line));
      }
      return results;
    }
  }

  private static List<ExpectationResult> tell(MultiClusterEnvironment stage, PrintWriter out) {
    InstantSource clock = InstantSource.system();
    Instant begin = clock.instant();
    ScenarioClusters clusters = stage.clusters();
    List<ExpectationResult> expectationResults;
    try (EventLog events =
            new EventLog(clusters.manager().client(), MultiClusterScenario.NAMESPACE);
        Screen screen =
            Screens.open(
                out,
                new ClusterDashboard(clusters, events),
                List.of(MultiClusterExpectation.values()),
                clock)) {
      expectationResults = stage.tell(screen);
    }
    Screens.summary(
        out,
        expectationResults,
        Duration.between(begin, clock.instant()),
        "a manager and two workers");
    return expectationResults;
  }
}
