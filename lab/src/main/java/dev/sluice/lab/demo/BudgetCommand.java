package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** {@code sluice demo budget}: prices, a budget that is spent, and the bill. */
@Command(
    name = "budget",
    description = {
      "Plays a week's budget in two minutes on a real control plane that is started for it: two"
          + " teams take spot before on-demand where it starts soon enough, one of them is warned,"
          + " held, and goes on in the next week, and the bill from the ledger is compared with"
          + " what ran. Judges seven expectations."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class BudgetCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, List.of(BudgetScenario.Point.values()));
    Path files = directory();
    OperatorSettings settings =
        OperatorSettings.onFreePorts(random)
            .with(
                "ledger: {enable: true, currency: %s, directory: \"%s\"}\n"
                    .formatted(BudgetScenario.CURRENCY, files));
    try (ControlPlane controlPlane =
        DemoOutput.start(
            out,
            ControlPlaneSpec.named("budget-" + Integer.toString(random.nextInt(1 << 24), 36))
                .withNodes(List.of(NodeGroup.plentiful("node", 1))),
            binaries.obtain())) {
      try (OperatorProcess operator =
              DemoOutput.awaitReady(
                  out,
                  "starting the operator, which keeps a ledger",
                  OperatorProcess.start(
                      "operator",
                      controlPlane.kubeconfig(),
                      settings,
                      controlPlane.logs(),
                      List.of()));
          KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
        InstantSource clock = InstantSource.system();
        Instant begin = clock.instant();
        List<ExpectationResult> results;
        List<String> bill;
        try (WatchRecorder recorder = new WatchRecorder(client, clock);
            EventLog events = new EventLog(client, BudgetScenario.NAMESPACE)) {
          recorder.start();
          try (Screen screen =
              Screens.open(
                  out,
                  new PoolDashboard(recorder, events),
                  List.of(BudgetScenario.Point.values()),
                  clock)) {
            BudgetScenario scenario =
                new BudgetScenario(client, recorder, screen, settings.visibilityPort());
            results = scenario.tell();
            bill = scenario.bill();
          }
        }
        Screens.summary(
            out, results, Duration.between(begin, clock.instant()), "a week in two minutes");
        out.println();
        bill.forEach(out::println);
        Screens.nowTry(out);
        return results;
      }
    }
  }

  private static Path directory() {
    try {
      return Files.createTempDirectory("sluice-demo-budget-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
