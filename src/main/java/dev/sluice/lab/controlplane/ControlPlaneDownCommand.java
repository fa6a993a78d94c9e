package dev.sluice.lab.controlplane;

import java.time.InstantSource;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice control-plane down}: stops a control plane and removes its files. */
@Command(
    name = "down",
    description = "Stops a control plane and removes all it stored.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is stopped",
      "1:there is none of that name",
      "2:the command line is wrong"
    })
public final class ControlPlaneDownCommand implements Callable<Integer> {

  @Option(
      names = "--name",
      defaultValue = "default",
      paramLabel = "NAME",
      description = "Name of the control plane (default: ${DEFAULT-VALUE}).")
  private String name = "default";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    ControlPlanes controlPlanes =
        new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system());
    if (!controlPlanes.stop(name)) {
      String others =
          controlPlanes.list().stream()
              .map(ControlPlaneStatus::name)
              .collect(Collectors.joining(", "));
      spec.commandLine()
          .getErr()
          .printf(
              "there is no control plane named \"%s\"; %s%n",
              name, others.isEmpty() ? "none is up" : "those that are up: " + others);
      return 1;
    }
    spec.commandLine().getOut().printf("control plane %s is down%n", name);
    return 0;
  }
}
