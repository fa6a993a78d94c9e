package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.AutoscalerPlayer;
import dev.sluice.lab.controlplane.AutoscalerPlayer.Pool;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
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
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice demo autoscaler}: nodes that are made when a Workload has quota. */
@Command(
    name = "autoscaler",
    description = {
      "Plays an autoscaler on a real control plane that is started for it: nodes come for a"
          + " ProvisioningRequest and for placeholder pods, and where a pool of nodes is at its"
          + " limit a Job runs in the next flavor. Judges five expectations. Ends by itself after"
          + " about a minute."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class AutoscalerCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    DemoOutput.say(out, "starting a control plane: etcd, API server, controllers, scheduler");
    ControlPlaneSpec wanted =
        ControlPlaneSpec.named("autoscaler-" + Integer.toString(random.nextInt(1 << 24), 36))
            .living(Lifetime.WITH_THIS_PROCESS)
            .withNodes(List.of(NodeGroup.plentiful("system", 1)));
    try (ControlPlane controlPlane =
        new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
            .start(wanted, binaries.obtain())) {
      DemoOutput.say(out, "starting the operator");
      try (OperatorProcess operator =
              OperatorProcess.start(
                  "operator",
                  controlPlane.kubeconfig(),
                  OperatorSettings.onFreePorts(random),
                  controlPlane.logs(),
                  List.of(),
                  Lifetime.WITH_THIS_PROCESS);
          KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
        operator.awaitReady();
        return tell(client, out);
      }
    }
  }

  private static List<ExpectationResult> tell(KubernetesClient client, PrintWriter out) {
    InstantSource clock = InstantSource.system();
    Instant begin = clock.instant();
    List<ExpectationResult> results;
    List<Pool> pools = List.of(pool("reserved", 4), pool("spot", 1), pool("steady", 4));
    try (WatchRecorder recorder = new WatchRecorder(client, clock);
        EventLog events = new EventLog(client, AutoscalerScenario.NAMESPACE);
        AutoscalerPlayer _ = new AutoscalerPlayer(client, pools)) {
      recorder.start();
      try (Screen screen =
          Screens.open(
              out,
              new PoolDashboard(recorder, events),
              List.of(AutoscalerScenario.Point.values()),
              clock)) {
        results = new AutoscalerScenario(client, recorder, screen).tell();
      }
    }
    Screens.summary(out, results, Duration.between(begin, clock.instant()), "a played autoscaler");
    return results;
  }

  private static Pool pool(String name, int limit) {
    return new Pool(
        NodeGroup.plentiful(name, 1).withCapacity("cpu", "1").withLabel("pool", name), limit);
  }
}
