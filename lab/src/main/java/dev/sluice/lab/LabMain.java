package dev.sluice.lab;

import dev.sluice.app.Main;
import dev.sluice.lab.bench.BenchCommand;
import dev.sluice.lab.bench.TrainCacheCommand;
import dev.sluice.lab.controlplane.ControlPlaneCommand;
import dev.sluice.lab.demo.DemoCommand;
import dev.sluice.lab.demo.TryCommand;
import picocli.CommandLine;

/**
 * The command {@code sluice} of a checkout: all subcommands of {@link Main} and those of the
 * laboratory. The image does not contain this class.
 */
public final class LabMain {

  private LabMain() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    System.exit(Main.alone(args).orElseGet(LabMain::commandLine).execute(args));
  }

  /** The command line with the subcommands of the laboratory. */
  static CommandLine commandLine() {
    return Main.commandLine()
        .addSubcommand(new TryCommand())
        .addSubcommand(new DemoCommand())
        .addSubcommand(new ControlPlaneCommand())
        .addSubcommand(new BenchCommand())
        .addSubcommand(new TrainCacheCommand())
        .setCaseInsensitiveEnumValuesAllowed(true);
  }
}
