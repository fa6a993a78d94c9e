package dev.sluice.testing;

import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Progress;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A control plane of a test run, with a client of it.
 *
 * @param controlPlane ends with this, or with the test process
 * @param client shared by tests; safe for use by many threads
 * @param sharedNodes where tests get nodes from, if those of one test serve the others as well
 * @param controllers whether more than the store and the API server runs
 */
record RunningControlPlane(
    ControlPlane controlPlane,
    KubernetesClient client,
    Optional<SharedNodes> sharedNodes,
    boolean controllers)
    implements AutoCloseable {

  /** Several control planes start at the same time, and are slow then. */
  private static final Duration REQUEST_LIMIT = Duration.ofSeconds(60);

  /** Starts one with two large nodes, and a store that doesn't wait for the disk. */
  static RunningControlPlane start(String stem, String... apiServerArguments) {
    return start(spec(stem, apiServerArguments), Optional.empty(), System.getenv());
  }

  /** The same, of another minor version of Kubernetes. */
  static RunningControlPlane startOf(String kubernetes, String stem, String... apiServerArguments) {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.remove(DefaultBinarySources.DIRECTORY_VARIABLE);
    environment.put(DefaultBinarySources.KUBERNETES_VARIABLE, kubernetes);
    return start(spec(stem, apiServerArguments), Optional.empty(), environment);
  }

  /** One of a store and an API server alone. */
  static RunningControlPlane startWithoutControllers(String stem, String... apiServerArguments) {
    return start(
        spec(stem, apiServerArguments).withoutControllers(), Optional.empty(), System.getenv());
  }

  /** The same; its nodes stay until it ends, because pods of any test may run on them. */
  static RunningControlPlane startShared(String stem) {
    return start(spec(stem), Optional.of(new SharedNodes()), System.getenv());
  }

  private static ControlPlaneSpec spec(String stem, String... apiServerArguments) {
    String name = stem + "-" + Suffixes.next();
    List<String> arguments = new ArrayList<>(List.of(apiServerArguments));
    if (arguments.remove(ControlPlaneTest.AUDIT) || AuditedOperators.directory().isPresent()) {
      arguments.addAll(AuditedOperators.apiServerArguments(AuditedOperators.log(name)));
    }
    return ControlPlaneSpec.named(name)
        .withoutSyncedWrites()
        .withNodes(List.of(NodeGroup.plentiful("node", 2)))
        .withApiServerArguments(arguments);
  }

  private static RunningControlPlane start(
      ControlPlaneSpec spec, Optional<SharedNodes> sharedNodes, Map<String, String> environment) {
    ControlPlane controlPlane =
        new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), InstantSource.system())
            .start(spec, binaries(environment));
    return new RunningControlPlane(
        controlPlane,
        ApiClients.patient(controlPlane.kubeconfig(), REQUEST_LIMIT),
        sharedNodes,
        spec.controllers());
  }

  private static Binaries binaries(Map<String, String> environment) {
    try {
      return DefaultBinarySources.standard(
              Optional.empty(), environment, InstantSource.system(), Progress.onStandardError())
          .obtain();
    } catch (BinariesMissingException e) {
      throw new IllegalStateException(e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while getting the control plane's programs", e);
    }
  }

  @Override
  public void close() {
    client.close();
    controlPlane.close();
  }
}
