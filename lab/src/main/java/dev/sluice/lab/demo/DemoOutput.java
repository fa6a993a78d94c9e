package dev.sluice.lab.demo;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ClientConfigs;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.demo.Screens.TerminalSize;
import dev.sluice.lab.process.OperatorProcess;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;

/** What all demos print, and how they end. */
final class DemoOutput {

  private DemoOutput() {}

  /** A demo; it returns its expectations and whether they held. */
  @FunctionalInterface
  interface Demo {
    List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException;
  }

  /**
   * Runs a demo; says on standard error why it could not be told.
   *
   * @return the exit code: 0 if every expectation held, 3 if the control plane's programs can't be
   *     had or the cluster can't be reached, otherwise 1
   */
  static int exitCode(CommandSpec command, Demo demo) {
    return exitCode(command, Optional.empty(), demo);
  }

  /** The same for a demo in a cluster that somebody has, who is told its address. */
  static int exitCode(CommandSpec command, Optional<Path> kubeconfig, Demo demo) {
    PrintWriter err = command.commandLine().getErr();
    try {
      List<ExpectationResult> results = demo.run(command.commandLine().getOut());
      return results.stream().allMatch(ExpectationResult::held) ? 0 : 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    } catch (ControlPlaneException | ScenarioException e) {
      err.println(e.getMessage());
      return 1;
    } catch (KubernetesClientException e) {
      err.println(ApiErrorText.of(e, kubeconfig.flatMap(DemoOutput::server)));
      return ApiErrorText.unreachable(e) ? 3 : 1;
    }
  }

  private static Optional<String> server(Path kubeconfig) {
    try {
      return Optional.of(ClientConfigs.of(Optional.of(kubeconfig)).getMasterUrl());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Starts a control plane, and says how long that has taken.
   *
   * @throws ControlPlaneException if it can't be started
   */
  static ControlPlane start(PrintWriter out, ControlPlaneSpec spec, Binaries binaries) {
    try (StepTimer timer =
        StepTimer.of(out, "starting etcd, API server, controllers, scheduler and nodes")) {
      return new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
          .start(spec, binaries);
    }
  }

  /** Waits until an operator that was started is ready, and says how long that has taken. */
  static OperatorProcess awaitReady(PrintWriter out, String what, OperatorProcess operator) {
    try (StepTimer timer = StepTimer.of(out, what)) {
      return operator.awaitReady();
    }
  }

  /** Prints a line at once. */
  static void say(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }

  /**
   * Says what is being done until it is closed, and, when that lasts, for how long already: on a
   * terminal in the same line each second, elsewhere in a line of its own each ten seconds.
   */
  static final class StepTimer implements AutoCloseable {

    private static final long FIRST_WORD = 2;
    private static final long PAUSE = 10;

    /** The characters of ", 9999 s": a line that doesn't fit can't be written anew in place. */
    private static final int LONGEST_TIME = 8;

    private final PrintWriter out;
    private final String what;
    private final boolean inPlace;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private long seconds;

    private StepTimer(PrintWriter out, String what, boolean inPlace) {
      this.out = out;
      this.what = what;
      this.inPlace = inPlace;
      out.print(what + (inPlace ? "" : System.lineSeparator()));
      out.flush();
      var unused = timer.scheduleAtFixedRate(this::tick, 1, 1, TimeUnit.SECONDS);
    }

    /** Says it, and goes on until it is closed. */
    static StepTimer of(PrintWriter out, String what) {
      boolean inPlace = TerminalSize.isTerminal();
      return new StepTimer(
          out, inPlace ? TerminalSize.now().fitting(what, LONGEST_TIME) : what, inPlace);
    }

    private synchronized void tick() {
      seconds++;
      if (inPlace && seconds >= FIRST_WORD) {
        out.printf("\r%s, %d s", what, seconds);
      } else if (!inPlace && seconds % PAUSE == 0) {
        out.printf("%s, %d s%n", what, seconds);
      }
      out.flush();
    }

    @Override
    public void close() {
      timer.shutdownNow();
      synchronized (this) {
        if (inPlace) {
          out.println();
        }
        out.flush();
      }
    }
  }
}
