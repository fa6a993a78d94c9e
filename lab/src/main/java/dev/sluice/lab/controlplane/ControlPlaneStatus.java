package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/**
 * Status of a control plane of this user, started by any process.
 *
 * @param name its name
 * @param lifetime its lifetime
 * @param condition its condition
 * @param createdAt when its start began
 * @param server the address of its API server
 * @param kubeconfig a kubeconfig of an administrator
 * @param processes the running programs with their process ids
 */
public record ControlPlaneStatus(
    String name,
    Lifetime lifetime,
    Condition condition,
    Instant createdAt,
    URI server,
    Path kubeconfig,
    Map<Program, Long> processes) {

  /** Condition of a control plane. */
  public enum Condition {
    /** It is being started. */
    STARTING,
    /** All its programs run. */
    RUNNING,
    /** Some of its programs have ended. */
    DEGRADED,
    /** None of its programs runs; only files are left. */
    STALE
  }
}
