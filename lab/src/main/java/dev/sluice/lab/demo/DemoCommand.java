package dev.sluice.lab.demo;

import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.demo.DemoCommand.MultiClusterCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code sluice demo}: runs the scenario of the first Job. */
@Command(
    name = "demo",
    subcommands = {
      MultiClusterCommand.class,
      PoolDemo.KindsDemo.class,
      PoolDemo.KubeQueueDemo.class,
      PoolDemo.AutoscalerDemo.class,
      PoolDemo.TimeDemo.class,
      PoolDemo.PromisesDemo.class,
      PoolDemo.BudgetDemo.class
    },
    description = {
      "Tells the story of the first Job on a real control plane: starts one on this machine, starts"
          + " the operator, applies manifests, and judges six expectations. Ends by itself after"
          + " about a minute.",
      "The first time, the control plane's programs are fetched or built; progress is shown."
    })
public final class DemoCommand extends StoryCommand {

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = {
        "Tells it in this cluster instead, and leaves nothing behind. Its API server must reach"
            + " this machine at 127.0.0.1, unless the cluster has an operator already. Pods don't"
            + " run there, so Jobs are ended by deleting them."
      })
  private @Nullable Path kubeconfig;

  @Option(
      names = "--without-operator",
      description = "The cluster has an operator already; with --kubeconfig only.")
  private boolean withoutOperator;

  @Option(
      names = "--keep",
      description = "Leaves cluster, operator and objects as they are at the end.")
  private boolean keep;

  @Option(
      names = "--api-version",
      paramLabel = "VERSION",
      description = "In which the queues are written: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private ScenarioManifests.Version version = ScenarioManifests.Version.V1BETA2;

  @Option(
      names = "--queue-name-as",
      paramLabel = "FORM",
      description = "How Jobs name their queue: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private ScenarioManifests.Form form = ScenarioManifests.Form.LABEL;

  @Override
  public Integer call() {
    if (withoutOperator && kubeconfig == null) {
      throw new ParameterException(
          spec.commandLine(), "--without-operator: allowed together with --kubeconfig only");
    }
    return DemoOutput.exitCode(spec, Optional.ofNullable(kubeconfig), this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    DemoRun run =
        new DemoRun(new ScenarioManifests(version, form), keep, out, InstantSource.system());
    List<ExpectationResult> results =
        kubeconfig == null
            ? run.onOwnControlPlane(binaries.obtain())
            : run.inCluster(kubeconfig, !withoutOperator);
    Screens.nowTry(out);
    return results;
  }

  /** {@code sluice demo multi-cluster}: runs the multi-cluster scenario. */
  @Command(
      name = "multi-cluster",
      description = {
        "Tells the story of many clusters on three real control planes: starts a manager and two"
            + " workers on this machine, an operator in each, applies manifests, cuts one worker"
            + " off for a while, and judges nine expectations. Ends by itself after about two"
            + " minutes."
      },
      exitCodeList = {
        "0:every expectation held",
        "1:one did not hold, or the story could not be told; the message says why",
        "2:the command line is wrong",
        "3:the control planes' programs can't be had, or a cluster can't be reached"
      })
  public static final class MultiClusterCommand extends StoryCommand {

    private static final Duration LOST_TIMEOUT = Duration.ofSeconds(10);

    @Option(
        names = "--keep",
        description = "Leaves clusters, operators and objects as they are at the end.")
    private boolean keep;

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
              InstantSource.system())) {
        Screens.announce(out, List.of(MultiClusterExpectation.values()));
        try (StepTimer timer =
            StepTimer.of(
                out, "starting a manager, a site and a remote cluster, each with its operator")) {
          stage.start();
        }
        List<ExpectationResult> results = tell(stage, out);
        if (keep) {
          stage.whatStays().forEach(line -> DemoOutput.say(out, line));
        }
        Screens.nowTry(out);
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
}
