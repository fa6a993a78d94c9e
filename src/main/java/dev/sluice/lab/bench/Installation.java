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

/** What is measured: a cluster, and an operator that works for it. */
interface Installation extends AutoCloseable {

  /** How the cluster is reached. */
  Path kubeconfig();

  /** The operator's process. */
  long operatorPid();

  /** Whether it goes when it is closed, with all that is in it. */
  boolean passing();

  @Override
  void close();

  /** One that somebody else set up, and keeps. */
  record Given(Path kubeconfig, long operatorPid) implements Installation {

    @Override
    public boolean passing() {
      return false;
    }

    @Override
    public void close() {
      // it isn't ours
    }
  }

  /** A control plane and an operator of its own. */
  record Own(ControlPlane controlPlane, OperatorProcess operator) implements Installation {

    /**
     * Starts both, and returns when the operator is ready.
     *
     * @param podsRun whether pods have to run; otherwise the programs for that are stopped, so that
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
