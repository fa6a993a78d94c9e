package dev.sluice.lab.bench;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory of an installation that was started for a benchmark: what its API server and its
 * operator need besides the files of the control plane. Closing removes it.
 *
 * @param directory the directory
 * @param audit the log of who wrote what, in the directory
 */
record OwnFiles(Path directory, AuditLog audit) implements AutoCloseable {

  /** The programs that make and run pods. */
  static final List<Program> PROGRAMS_FOR_PODS =
      List.of(Program.CONTROLLER_MANAGER, Program.SCHEDULER, Program.KWOK);

  static OwnFiles make() {
    try {
      Path directory = Files.createTempDirectory("sluice-bench");
      return new OwnFiles(directory, AuditLog.in(directory));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a control plane with two nodes that have room for everything. */
  ControlPlane controlPlane(String name, Binaries binaries) {
    ControlPlaneSpec spec =
        ControlPlaneSpec.named(name)
            .withNodes(List.of(NodeGroup.plentiful("node", 2)))
            .withApiServerArguments(audit.arguments());
    try {
      return new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
          .start(spec, binaries);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Where the operator's kubeconfig is to be written. */
  Path operatorKubeconfig() {
    return directory.resolve("operator-kubeconfig");
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
