package dev.sluice.lab.bench;

import dev.sluice.app.JvmOptions;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorProcess.JavaCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sluice train-cache}: makes the ahead-of-time cache of the operator. */
@Command(
    name = "train-cache",
    description = {
      "Makes the ahead-of-time cache of the operator: its loaded and linked classes, and the"
          + " profiles of its methods.",
      "An operator of its own runs through a scenario in a control plane of its own. What it used"
          + " is recorded, and the cache is made from that. It is good for the same jar, Java"
          + " machine and collector."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the cache is there",
      "1:it is not; the message says why",
      "3:the control plane's programs can't be had"
    })
public final class TrainCacheCommand implements Callable<Integer> {

  private static final Duration RUN_LIMIT = Duration.ofMinutes(20);
  private static final Duration RECORD_LIMIT = Duration.ofMinutes(3);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "FILE", description = "Where the cache goes.")
  private Path file = Path.of("");

  @Option(
      names = "--scenario",
      paramLabel = "SCENARIO",
      defaultValue = "jobs-mini",
      description = "What the operator does meanwhile, as for bench (default: ${DEFAULT-VALUE}).")
  private String scenario = "jobs-mini";

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    Path target = file.toAbsolutePath();
    Path record = target.resolveSibling(target.getFileName() + ".record");
    Path made = target.resolveSibling(target.getFileName() + ".new");
    try {
      record(ScenarioReader.find(scenario), record, err);
      if (!Files.isRegularFile(record)) {
        err.println("sluice: the operator left no record of what it used");
        return 1;
      }
      int code = create(record, made);
      if (code != 0 || !Files.isRegularFile(made)) {
        err.println("sluice: the cache can't be made: the Java machine ended with code " + code);
        return 1;
      }
      Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
      return 0;
    } catch (BenchException | ControlPlaneException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (IOException e) {
      err.println("sluice: can't write " + target + ": " + e);
      return 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    } finally {
      remove(record);
      remove(made);
    }
  }

  private void record(Scenario chosen, Path record, PrintWriter err)
      throws BinariesMissingException {
    String run = "train-" + Long.toString(System.currentTimeMillis(), 36);
    try (Installation.Own installation =
        Installation.Own.start(
            run,
            binaries.obtain(),
            chosen.form() == Scenario.Form.JOB,
            new Installation.OperatorOptions(
                "", List.of(), List.of("-XX:AOTMode=record", "-XX:AOTConfiguration=" + record)))) {
      new Benchmark(
              chosen,
              installation,
              RUN_LIMIT,
              line -> {
                err.println(line);
                err.flush();
              })
          .run("", run);
      installation.operator().stop(RECORD_LIMIT);
    }
  }

  private static int create(Path record, Path cache) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(JavaCommand.java());
    command.addAll(JvmOptions.all());
    command.addAll(
        List.of("-XX:AOTMode=create", "-XX:AOTConfiguration=" + record, "-XX:AOTCache=" + cache));
    command.addAll(List.of("-cp", OperatorProcess.classPath()));
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }

  private static void remove(Path rest) {
    try {
      Files.deleteIfExists(rest);
    } catch (IOException e) {
      throw new BenchException("can't remove " + rest, e);
    }
  }
}
