package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice demo promises}: a large Job among small ones, under three policies. */
@Command(
    name = "promises",
    description = {
      "Plays a large Job among small ones on a real control plane that is started for it, in three"
          + " queues: BestEffortFIFO starves it, StrictFIFO lets CPUs stay idle for it, and with"
          + " back-fill it is promised a start and starts by then, while small ones run before it."
          + " Beside them a Job runs for its sluice.dev/min-run-time before it is preempted, and a"
          + " rack is empty when its maintenance begins. Judges seven expectations, with a table of"
          + " waits and use. Ends by itself after about two minutes."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class PromisesCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, List.of(PromisesScenario.PromisesExpectation.values()));
    ControlPlaneSpec wanted =
        ControlPlaneSpec.named("promises-" + Integer.toString(random.nextInt(1 << 24), 36))
            .living(Lifetime.WITH_THIS_PROCESS)
            .withNodes(PromisesScenario.nodes());
    try (ControlPlane controlPlane = DemoOutput.start(out, wanted, binaries.obtain());
        KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
      OperatorSettings settings = OperatorSettings.onFreePorts(random);
      try (OperatorProcess operator =
          OperatorProcess.start(
              "operator",
              controlPlane.kubeconfig(),
              settings,
              controlPlane.logs(),
              List.of(),
              Lifetime.WITH_THIS_PROCESS)) {
        DemoOutput.awaitReady(out, "starting the operator", operator);
        return tell(
            client,
            out,
            PromisesScenario.explanation(
                client, controlPlane.kubeconfig(), settings.visibilityPort(), controlPlane.logs()));
      }
    }
  }

  private static List<ExpectationResult> tell(
      KubernetesClient client, PrintWriter out, UnaryOperator<String> explanation) {
    InstantSource clock = InstantSource.system();
    Instant begin = clock.instant();
    List<ExpectationResult> results;
    List<String> table;
    PolicyTrial trial = new PolicyTrial();
    try (WatchRecorder recorder =
            new WatchRecorder(client, clock, change -> trial.see(change, clock.instant()));
        EventLog events = new EventLog(client, PromisesScenario.BACK_FILL)) {
      recorder.start();
      try (Screen screen =
          Screens.open(
              out,
              new PoolDashboard(recorder, events),
              List.of(PromisesScenario.PromisesExpectation.values()),
              clock)) {
        PromisesScenario scenario =
            new PromisesScenario(client, recorder, trial, screen, explanation);
        results = scenario.tell();
        table = scenario.table();
      }
    }
    Screens.summary(out, results, Duration.between(begin, clock.instant()), "promises");
    out.println();
    table.forEach(out::println);
    Screens.nowTry(out);
    return results;
  }
}
