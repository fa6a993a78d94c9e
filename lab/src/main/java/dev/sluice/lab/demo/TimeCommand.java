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

/** {@code sluice demo time}: when Jobs start, what would be otherwise, and what was decided. */
@Command(
    name = "time",
    description = {
      "Plays a day of two teams in two minutes on a real control plane that is started for it, an"
          + " hour in five seconds: Jobs that wait are told when they start, a dry run says whether"
          + " one would, what-if compares the day with another one in which the teams lend each"
          + " other quota, and the journal is replayed. Judges seven expectations. Leaves the"
          + " journal and the page of what-if."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every expectation held",
      "1:one did not hold, or the story could not be told; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had, or the cluster can't be reached"
    })
public final class TimeCommand implements Callable<Integer> {

  private final SecureRandom random = new SecureRandom();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, List.of(TimeScenario.Point.values()));
    Path files = directory();
    Path journal = files.resolve("journal");
    OperatorSettings settings =
        OperatorSettings.onFreePorts(random)
            .with(
                "journal: {enable: true, syncInterval: 10ms, directory: \"%s\"}\n"
                    .formatted(journal));
    try (ControlPlane controlPlane =
        DemoOutput.start(
            out,
            ControlPlaneSpec.named("time-" + Integer.toString(random.nextInt(1 << 24), 36))
                .withNodes(List.of(NodeGroup.plentiful("node", 1))),
            binaries.obtain())) {
      try (OperatorProcess operator =
              DemoOutput.awaitReady(
                  out,
                  "starting the operator, which writes a journal",
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
        try (WatchRecorder recorder = new WatchRecorder(client, clock);
            EventLog events = new EventLog(client, TimeScenario.NAMESPACE)) {
          recorder.start();
          try (Screen screen =
              Screens.open(
                  out,
                  new PoolDashboard(recorder, events),
                  List.of(TimeScenario.Point.values()),
                  clock)) {
            results =
                new TimeScenario(client, recorder, screen, settings.visibilityPort(), files).tell();
          }
        }
        Screens.summary(
            out, results, Duration.between(begin, clock.instant()), "an hour in five seconds");
        out.printf(
            """

            The page of the comparison: %s
            The journal: ./sluice replay %2$s
                         ./sluice what-if -f changed.yaml --journal %2$s
            """,
            files.resolve(TimeScenario.PAGE), journal);
        Screens.nowTry(out);
        return results;
      }
    }
  }

  private static Path directory() {
    try {
      return Files.createTempDirectory("sluice-demo-time-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
