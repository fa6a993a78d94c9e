package dev.sluice.lab.bench;

import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice bench start}: how long an operator takes to start and to take over. */
@Command(
    name = "start",
    description = {
      "Measures how long an operator takes from its start until it is ready and until it decides,"
          + " without and with Workloads that wait, and how long a standby takes to decide when the"
          + " leader was told to end and when it was killed.",
      "It brings up a control plane and operators of its own."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything was decided",
      "1:it was not; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had"
    })
public final class StartCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--pending",
      paramLabel = "NUMBER",
      defaultValue = "5000",
      description = "How many Workloads wait in 30 queues (default: ${DEFAULT-VALUE}).")
  private int pending = 5000;

  @Option(
      names = "--lease",
      paramLabel = "SECONDS",
      defaultValue = "15",
      description =
          "How long a leader that is not heard of stays leader; a busy machine needs more (default:"
              + " ${DEFAULT-VALUE}).")
  private int leaseSeconds = 15;

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    int least = Math.toIntExact(StartBenchmark.scenario(1).nominalCpu()) + 100;
    if (pending < least) {
      throw new ParameterException(
          spec.commandLine(),
          "--pending is %d, must be %d or more: the first fill the quota"
              .formatted(pending, least));
    }
    if (leaseSeconds < 6) {
      throw new ParameterException(
          spec.commandLine(), "--lease is " + leaseSeconds + ", must be 6 or more");
    }
    PrintWriter err = spec.commandLine().getErr();
    String name = BenchmarkTarget.newRun();
    try (StartBenchmark benchmark =
        new StartBenchmark(
            name,
            binaries.obtain(),
            pending,
            Duration.ofSeconds(leaseSeconds),
            line -> {
              err.println(line);
              err.flush();
            })) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(benchmark.run().text());
      out.flush();
      return 0;
    } catch (BenchException | ControlPlaneException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    }
  }
}
