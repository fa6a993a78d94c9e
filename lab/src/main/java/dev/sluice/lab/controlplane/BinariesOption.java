package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Progress;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The command-line option for the directory of the programs, shared by all commands that start a
 * control plane.
 */
public final class BinariesOption {

  @Option(
      names = "--binaries",
      paramLabel = "DIR",
      description = {
        "Directory that holds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and"
            + " kwok. Otherwise $SLUICE_CONTROL_PLANE_BINARIES, the cache, the official releases,"
            + " and a build from Go modules are tried, in this order."
            + " $SLUICE_CONTROL_PLANE_KUBERNETES=1.29 takes that version of Kubernetes."
      })
  private @Nullable Path directory;

  /**
   * The programs, downloaded or built if necessary, with progress on the error stream.
   *
   * @throws BinariesMissingException when no source has them, with the reason of each source; the
   *     command then exits with 3
   * @throws ControlPlaneException when the environment names a version of Kubernetes that nothing
   *     pins
   */
  public Binaries obtain() throws BinariesMissingException {
    try {
      return DefaultBinarySources.standard(
              Optional.ofNullable(directory),
              System.getenv(),
              InstantSource.system(),
              Progress.onStandardError())
          .obtain();
    } catch (IllegalArgumentException e) {
      throw new ControlPlaneException(
          DefaultBinarySources.KUBERNETES_VARIABLE + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ControlPlaneException("interrupted while getting the control plane's programs", e);
    }
  }
}
