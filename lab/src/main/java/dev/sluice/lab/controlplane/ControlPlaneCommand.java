package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.ControlPlaneCommand.ControlPlaneDownCommand;
import dev.sluice.lab.controlplane.ControlPlaneCommand.ControlPlaneListCommand;
import dev.sluice.lab.controlplane.ControlPlaneCommand.ControlPlaneUpCommand;
import dev.sluice.lab.controlplane.ControlPlanes.ControlPlaneStatus;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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

  /** {@code sluice control-plane list}: lists running control planes and remains of killed ones. */
  @Command(
      name = "list",
      description = "Lists the control planes of this user.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {"0:always", "2:the command line is wrong"})
  public static final class ControlPlaneListCommand implements Callable<Integer> {

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
  public static final class ControlPlaneDownCommand implements Callable<Integer> {

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
                .filter(status -> status.condition() == ControlPlaneStatus.Condition.RUNNING)
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

  /** {@code sluice control-plane up}: starts a control plane that outlives this command. */
  @Command(
      name = "up",
      description = "Starts a control plane and returns when it can be used.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:it can be used",
        "1:it could not be started; the message says why",
        "2:the command line is wrong",
        "3:its programs can't be had; the message says from where it was tried, and why not"
      })
  public static final class ControlPlaneUpCommand implements Callable<Integer> {

    @Option(
        names = "--name",
        defaultValue = "default",
        paramLabel = "NAME",
        description = "Name of the control plane (default: ${DEFAULT-VALUE}).")
    private String name = "default";

    @Option(
        names = "--nodes",
        paramLabel = "K",
        description =
            "Number of played nodes with 1000 CPUs, 4Ti and 10000 pods each (default: 1, or none"
                + " with --node-group).")
    private @Nullable Integer nodes;

    @Option(
        names = "--node-group",
        paramLabel = "SPEC",
        description =
            "Further nodes, such as \"spot:count=2,cpu=2000,label=type=spot,"
                + "taint=spot=true:NoSchedule\". May be repeated.")
    private List<String> nodeGroups = new ArrayList<>();

    @Option(
        names = "--kubeconfig-out",
        paramLabel = "FILE",
        description = "Also write the kubeconfig to this file.")
    private @Nullable Path kubeconfigOut;

    @Option(
        names = "--unsafe-no-fsync",
        description = "The store doesn't wait for the disk. For tests and benchmarks only.")
    private boolean withoutFsync;

    @Option(
        names = "--api-server-arg",
        paramLabel = "ARG",
        description = "A further argument of the API server, such as --v=4. May be repeated.")
    private List<String> apiServerArguments = new ArrayList<>();

    @Mixin private BinariesOption binaries = new BinariesOption();

    @Spec private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
      ControlPlaneSpec wished = wished();
      try {
        ControlPlane controlPlane =
            new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
                .start(wished, binaries.obtain());
        Path kubeconfig = kubeconfig(controlPlane);
        PrintWriter out = spec.commandLine().getOut();
        out.printf("control plane %s is up at %s%n", controlPlane.name(), controlPlane.server());
        out.printf("export KUBECONFIG=%s%n", kubeconfig);
        out.flush();
        return 0;
      } catch (ControlPlaneException e) {
        spec.commandLine().getErr().println(e.getMessage());
        return 1;
      } catch (BinariesMissingException e) {
        spec.commandLine().getErr().println(e.getMessage());
        return 3;
      }
    }

    private ControlPlaneSpec wished() {
      try {
        ControlPlaneSpec wished =
            ControlPlaneSpec.named(name)
                .living(Lifetime.UNTIL_STOPPED)
                .withNodes(groups())
                .withApiServerArguments(apiServerArguments);
        return withoutFsync ? wished.withoutSyncedWrites() : wished;
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
      }
    }

    private List<NodeGroup> groups() {
      int plain = nodes != null ? nodes : nodeGroups.isEmpty() ? 1 : 0;
      if (plain < 0) {
        throw new IllegalArgumentException("--nodes is %d, must be 0 or more".formatted(plain));
      }
      List<NodeGroup> groups = new ArrayList<>();
      if (plain > 0) {
        groups.add(NodeGroup.plentiful("node", plain));
      }
      nodeGroups.forEach(group -> groups.add(NodeGroup.parse(group)));
      return groups;
    }

    private Path kubeconfig(ControlPlane controlPlane) {
      if (kubeconfigOut == null) {
        return controlPlane.kubeconfig();
      }
      try {
        Files.writeString(kubeconfigOut, Files.readString(controlPlane.kubeconfig()));
        Files.setPosixFilePermissions(kubeconfigOut, PosixFilePermissions.fromString("rw-------"));
        return kubeconfigOut.toAbsolutePath();
      } catch (IOException e) {
        controlPlane.stop();
        throw new ControlPlaneException("can't write the kubeconfig: " + e, e);
      }
    }
  }
}
