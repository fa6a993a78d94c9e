package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.demo.KindsScenario.KindsExpectation;
import dev.sluice.lab.player.PlayedKinds;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice demo kinds}: runs one job of each kind through one pool. */
@Command(
    name = "kinds",
    description = {
      "Submits the manifest of every kind of job (docs/manifests) to one pool with room for three"
          + " at a time, on a real control plane that is started for it, and judges six"
          + " expectations. The controllers of kinds that aren't Kubernetes' own are played. Ends"
          + " by itself after about two minutes."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class KindsCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, List.of(KindsExpectation.values()));
    ControlPlaneSpec wanted =
        ControlPlaneSpec.named("kinds-" + Integer.toString(random.nextInt(1 << 24), 36))
            .living(Lifetime.WITH_THIS_PROCESS)
            .withNodes(List.of(NodeGroup.plentiful("node", 1)));
    try (ControlPlane controlPlane = DemoOutput.start(out, wanted, binaries.obtain())) {
      try (OperatorProcess operator = operator(controlPlane);
          KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig());
          PlayedKinds players = play(out, operator, client)) {
        DemoOutput.say(out, "playing the controllers of %d kinds".formatted(players.count()));
        return tell(client, out);
      }
    }
  }

  private OperatorProcess operator(ControlPlane controlPlane) {
    return OperatorProcess.start(
        "operator",
        controlPlane.kubeconfig(),
        OperatorSettings.onFreePorts(random).with(PlayedKinds.configuration()),
        controlPlane.logs(),
        List.of(),
        Lifetime.WITH_THIS_PROCESS);
  }

  private static PlayedKinds play(
      PrintWriter out, OperatorProcess operator, KubernetesClient client) {
    DemoOutput.awaitReady(out, "starting the operator", operator);
    return PlayedKinds.play(client);
  }

  private static List<ExpectationResult> tell(KubernetesClient client, PrintWriter out) {
    InstantSource clock = InstantSource.system();
    Instant begin = clock.instant();
    List<ExpectationResult> results;
    try (WatchRecorder recorder = new WatchRecorder(client, clock);
        EventLog events = new EventLog(client, KindsScenario.NAMESPACE)) {
      recorder.start();
      try (Screen screen =
          Screens.open(
              out,
              new PoolDashboard(recorder, events),
              List.of(KindsExpectation.values()),
              clock)) {
        results = new KindsScenario(client, recorder, screen).tell();
      }
    }
    Screens.summary(out, results, Duration.between(begin, clock.instant()), "one job of each kind");
    Screens.nowTry(out);
    return results;
  }
}
