package dev.sluice.lab.controlplane;

import java.io.PrintWriter;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice control-plane list}: lists running control planes and remains of killed ones. */
@Command(
    name = "list",
    description = "Lists the control planes of this user.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:always", "2:the command line is wrong"})
public final class ControlPlaneListCommand implements Callable<Integer> {

  private static final String ROW = "%-24s %-9s %-26s %-21s %s%n";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    List<ControlPlaneStatus> all =
        new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
            .list();
    PrintWriter out = spec.commandLine().getOut();
    out.printf(ROW, "NAME", "STATE", "SERVER", "SINCE", "KUBECONFIG");
    for (ControlPlaneStatus status : all) {
      out.printf(
          ROW,
          status.name(),
          status.condition().name().toLowerCase(Locale.ROOT),
          status.server(),
          status.createdAt().truncatedTo(ChronoUnit.SECONDS),
          status.kubeconfig());
    }
    out.flush();
    return 0;
  }
}
