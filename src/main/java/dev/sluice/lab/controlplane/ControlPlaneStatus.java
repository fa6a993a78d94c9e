package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/**
 * What is known of a control plane of this user, whoever started it.
 *
 * @param name its name
 * @param lifetime how long it is to live
 * @param condition how it is
 * @param createdAt when it was begun
 * @param server the address of its API server
 * @param kubeconfig a kubeconfig of an administrator
 * @param processes the programs that run, with their process ids
 */
public record ControlPlaneStatus(
    String name,
    Lifetime lifetime,
    Condition condition,
    Instant createdAt,
    URI server,
    Path kubeconfig,
    Map<Program, Long> processes) {

  /** How a control plane is. */
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
