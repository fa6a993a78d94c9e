package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.NodeGroup;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice demo kube-queue}: a quota tree, over-selling, and the three policies. */
@Command(
    name = "kube-queue",
    description = {
      "Plays what people of Kube Queue know, on a real control plane that is started for it: a quota"
          + " tree with Jobs that name no queue, at over-sell rates of 1 and 2; then the same 60 Jobs"
          + " under the policies Round, Block and StrictPriority, with a table of their waits."
          + " Judges seven expectations. Ends by itself after about three minutes."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class KubeQueueCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, List.of(KubeQueueScenario.Point.values()));
    ControlPlaneSpec wanted =
        ControlPlaneSpec.named("kube-queue-" + Integer.toString(random.nextInt(1 << 24), 36))
            .living(Lifetime.WITH_THIS_PROCESS)
            .withNodes(List.of(NodeGroup.plentiful("node", 2)));
    try (ControlPlane controlPlane = DemoOutput.start(out, wanted, binaries.obtain());
        KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
      // with other ports the definitions would change, and watches of their objects end
      OperatorSettings settings = OperatorSettings.onFreePorts(random);
      return tell(
          client, out, configuration -> operator(controlPlane, settings.with(configuration)));
    }
  }

  private KubeQueueScenario.Operators.Running operator(
      ControlPlane controlPlane, OperatorSettings settings) {
    OperatorProcess operator =
        OperatorProcess.start(
            "operator",
            controlPlane.kubeconfig(),
            settings,
            controlPlane.logs(),
            List.of(),
            Lifetime.WITH_THIS_PROCESS);
    operator.awaitReady();
    return operator::close;
  }

  /** The watches begin when the definitions are there: after the first operator has started. */
  private static List<ExpectationResult> tell(
      KubernetesClient client, PrintWriter out, KubeQueueScenario.Operators operators) {
    InstantSource clock = InstantSource.system();
    Instant begin = clock.instant();
    List<ExpectationResult> results;
    Optional<PolicyFigures> figures;
    PolicyTrial trial = new PolicyTrial();
    try (WatchRecorder recorder =
            new WatchRecorder(client, clock, change -> trial.see(change, clock.instant()));
        EventLog events = new EventLog(client, KubeQueueScenario.NAMESPACE);
        Screen screen =
            Screens.open(
                out,
                new PoolDashboard(recorder, events),
                List.of(KubeQueueScenario.Point.values()),
                clock)) {
      KubeQueueScenario scenario =
          new KubeQueueScenario(client, recorder, trial, screen, operators);
      results = scenario.tell();
      figures = scenario.figures();
    }
    Screens.summary(out, results, Duration.between(begin, clock.instant()), "Kube Queue's ways");
    figures.ifPresent(each -> print(each, out));
    Screens.nowTry(out);
    return results;
  }

  private static void print(PolicyFigures figures, PrintWriter out) {
    out.println();
    out.println("Waits for quota in seconds: mean (longest)");
    figures.table().forEach(out::println);
    out.println();
    Screens.paragraphs(out, figures.words());
    out.flush();
  }
}
