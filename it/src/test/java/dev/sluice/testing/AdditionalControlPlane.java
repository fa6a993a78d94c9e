package dev.sluice.testing;

import dev.sluice.lab.controlplane.ControlPlane;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;

/** A control plane beside that of a test class, such as a worker cluster's; the test closes it. */
public final class AdditionalControlPlane implements AutoCloseable {

  /**
   * A class of tests with several control planes takes one of two places, as a {@code
   * ResourceLock}: more of them at a time would starve each other.
   */
  public static final String PLACE_A = "several-control-planes-a";

  /** See {@link #PLACE_A}. */
  public static final String PLACE_B = "several-control-planes-b";

  private final RunningControlPlane running;

  private AdditionalControlPlane(RunningControlPlane running) {
    this.running = running;
  }

  /** Starts one; its name begins with {@code stem}. */
  public static AdditionalControlPlane start(String stem, String... apiServerArguments) {
    return new AdditionalControlPlane(RunningControlPlane.start(stem, apiServerArguments));
  }

  /** The same of a store and an API server alone, see {@link ControlPlaneTest#controllers}. */
  public static AdditionalControlPlane startWithoutControllers(String stem) {
    return new AdditionalControlPlane(RunningControlPlane.startWithoutControllers(stem));
  }

  /** A client with all rights; don't close it. */
  public KubernetesClient client() {
    return running.client();
  }

  /** Its programs, to be disturbed. */
  public ControlPlane controlPlane() {
    return running.controlPlane();
  }

  /** A kubeconfig with all rights that needs no other file. */
  public String kubeconfig() {
    try {
      return Files.readString(running.controlPlane().kubeconfig());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    running.close();
  }
}
