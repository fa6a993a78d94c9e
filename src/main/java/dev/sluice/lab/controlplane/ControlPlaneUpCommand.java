package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
public final class ControlPlaneUpCommand implements Callable<Integer> {

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
