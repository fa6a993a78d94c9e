package dev.sluice.lab.controlplane;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code sluice control-plane}, which only groups its subcommands. */
@Command(
    name = "control-plane",
    description = "A real Kubernetes control plane on this machine, for demos and tests.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ControlPlaneUpCommand.class,
      ControlPlaneDownCommand.class,
      ControlPlaneListCommand.class
    })
public final class ControlPlaneCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command: up, down or list");
  }
}
