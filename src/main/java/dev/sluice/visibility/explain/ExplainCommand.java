package dev.sluice.visibility.explain;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code sluice explain}, which only groups its subcommands. */
@Command(
    name = "explain",
    description = "Says why something is as it is.",
    mixinStandardHelpOptions = true,
    subcommands = {ExplainWorkloadCommand.class, ExplainTopologyCommand.class})
public final class ExplainCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command: workload or topology");
  }
}
