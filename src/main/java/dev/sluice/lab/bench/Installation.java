package dev.sluice.lab.bench;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** The measured installation: a cluster and its operator. */
interface Installation extends AutoCloseable {

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

  /** A control plane and an operator started for the benchmark. */
  record Own(ControlPlane controlPlane, OperatorProcess operator) implements Installation {

    /**
     * Starts both and returns when the operator is ready.
     *
     * @param podsRun whether pods must run; otherwise the programs for pods are stopped, so that
     *     only the API server and its store take part
     */
    static Own start(String name, Binaries binaries, boolean podsRun, List<String> arguments) {
      ControlPlaneSpec spec =
          ControlPlaneSpec.named(name).withNodes(List.of(NodeGroup.plentiful("node", 2)));
      ControlPlane controlPlane =
          new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
              .start(spec, binaries);
      try {
        OperatorProcess operator =
            OperatorProcess.start(
                "operator",
                controlPlane.kubeconfig(),
                OperatorSettings.onFreePorts(new Random()),
                controlPlane.logs(),
                arguments);
        operator.awaitReady();
        if (!podsRun) {
          List.of(Program.CONTROLLER_MANAGER, Program.SCHEDULER, Program.KWOK)
              .forEach(controlPlane::crash);
        }
        return new Own(controlPlane, operator);
      } catch (RuntimeException e) {
        controlPlane.close();
        throw e;
      }
    }

    @Override
    public Path kubeconfig() {
      return controlPlane.kubeconfig();
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
    public boolean passing() {
      return true;
    }

    @Override
    public void close() {
      try (controlPlane) {
        operator.close();
      }
    }
  }
}
