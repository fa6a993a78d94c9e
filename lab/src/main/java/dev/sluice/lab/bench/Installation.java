package dev.sluice.lab.bench;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/** The measured installation: a cluster and its operator. */
interface Installation extends AutoCloseable {

  /** The name of the operator among the users, where the installation has an audit log. */
  String OPERATOR = OperatorAccount.USER;

  /** The name of the benchmark among the users, where the installation has an audit log. */
  String RUNNER = ControlPlane.ADMINISTRATOR;

  /** Whether an operator decides about Workloads; otherwise no queues are needed. */
  default boolean decides() {
    return true;
  }

  /** The log of who wrote what; empty if the server writes none. */
  default Optional<AuditLog> audit() {
    return Optional.empty();
  }

  /** The kubeconfig of the cluster. */
  Path kubeconfig();

  /** The process id of the operator. */
  long operatorPid();

  /** Completes with the reason when its operator has ended, so that a run can't go on. */
  CompletableFuture<String> ended();

  /** Whether closing removes the installation with all its objects. */
  boolean passing();

  @Override
  void close();

  /** An existing installation, which is kept. */
  record Given(Path kubeconfig, long operatorPid) implements Installation {

    @Override
    public CompletableFuture<String> ended() {
      String message = "the operator, process " + operatorPid + ", ended";
      return ProcessHandle.of(operatorPid)
          .map(process -> process.onExit().thenApply(ended -> message))
          .orElseGet(() -> CompletableFuture.completedFuture(message));
    }

    @Override
    public boolean passing() {
      return false;
    }

    @Override
    public void close() {
      // an existing installation is left running
    }
  }

  /** An installation with a control plane of its own, both of which closing removes. */
  interface Started extends Installation {

    /** Its control plane. */
    ControlPlane controlPlane();

    /** What it needs besides. */
    OwnFiles files();

    /**
     * Starts a control plane, and what {@code installing} starts in it; if that fails, nothing is
     * left.
     */
    static <T> T start(
        String name, Binaries binaries, BiFunction<ControlPlane, OwnFiles, T> installing) {
      OwnFiles files = OwnFiles.make();
      ControlPlane controlPlane = files.controlPlane(name, binaries);
      try {
        return installing.apply(controlPlane, files);
      } catch (RuntimeException e) {
        controlPlane.close();
        files.close();
        throw e;
      }
    }

    @Override
    default Path kubeconfig() {
      return controlPlane().kubeconfig();
    }

    @Override
    default boolean passing() {
      return true;
    }

    @Override
    default Optional<AuditLog> audit() {
      return Optional.of(files().audit());
    }
  }

  /**
   * How the operator of a benchmark is started.
   *
   * @param fields further fields of its configuration, as YAML; may be empty
   * @param arguments further arguments of the command
   * @param jvm options of its Java machine
   */
  record OperatorOptions(String fields, List<String> arguments, List<String> jvm) {}

  /**
   * A control plane and an operator started for the benchmark. The operator has the service account
   * of an installed one.
   */
  record Own(ControlPlane controlPlane, OperatorProcess operator, OwnFiles files)
      implements Started {

    /**
     * Starts both and returns when the operator is ready.
     *
     * @param podsRun whether pods must run; otherwise the programs for pods are stopped, so that
     *     only the API server and its store take part
     */
    static Own start(String name, Binaries binaries, boolean podsRun, OperatorOptions options) {
      return Started.start(
          name,
          binaries,
          (controlPlane, files) -> {
            OperatorAccount.create(controlPlane.kubeconfig(), files.operatorKubeconfig());
            OperatorProcess operator =
                OperatorProcess.start(
                    "operator",
                    files.operatorKubeconfig(),
                    OperatorSettings.onFreePorts(new Random()).with(options.fields()),
                    controlPlane.logs(),
                    options.arguments(),
                    options.jvm());
            operator.awaitReady();
            if (!podsRun) {
              OwnFiles.PROGRAMS_FOR_PODS.forEach(controlPlane::crash);
            }
            return new Own(controlPlane, operator, files);
          });
    }

    @Override
    public long operatorPid() {
      return operator.pid();
    }

    @Override
    public CompletableFuture<String> ended() {
      return operator.onEnd();
    }

    @Override
    public void close() {
      try (files;
          controlPlane) {
        operator.close();
      }
    }
  }

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
}
