package dev.sluice.lab.controlplane;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Desired properties of a control plane.
 *
 * @param name unique among running control planes; a DNS label
 * @param lifetime its lifetime
 * @param nodes its nodes; may be empty
 * @param syncedWrites whether the store syncs writes to disk; false is faster and loses data when
 *     the machine crashes
 * @param apiServerArguments appended to the API server's command line, where the last occurrence of
 *     an option wins; its feature gates are also those of the controller manager and the scheduler
 * @param controllers false: only the store and the API server run; nothing creates pods or service
 *     accounts, collects garbage, or ends the deletion of a namespace
 */
public record ControlPlaneSpec(
    String name,
    Lifetime lifetime,
    List<NodeGroup> nodes,
    boolean syncedWrites,
    List<String> apiServerArguments,
    boolean controllers) {

  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

  /** Checks the name and copies the lists. */
  public ControlPlaneSpec {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          ("name \"%s\": must be a DNS label: at most 63 lower-case letters, digits and \"-\","
                  + " beginning and ending with a letter or digit")
              .formatted(name));
    }
    nodes = List.copyOf(nodes);
    apiServerArguments = List.copyOf(apiServerArguments);
  }

  /** A control plane that ends with this process, has one large node, and syncs writes. */
  public static ControlPlaneSpec named(String name) {
    return new ControlPlaneSpec(
        name,
        Lifetime.WITH_THIS_PROCESS,
        List.of(NodeGroup.plentiful("node", 1)),
        true,
        List.of(),
        true);
  }

  /** Copy with another lifetime. */
  public ControlPlaneSpec living(Lifetime other) {
    return new ControlPlaneSpec(name, other, nodes, syncedWrites, apiServerArguments, controllers);
  }

  /** Copy with other nodes. */
  public ControlPlaneSpec withNodes(List<NodeGroup> other) {
    return new ControlPlaneSpec(
        name, lifetime, other, syncedWrites, apiServerArguments, controllers);
  }

  /** Copy whose store does not sync writes to disk. */
  public ControlPlaneSpec withoutSyncedWrites() {
    return new ControlPlaneSpec(name, lifetime, nodes, false, apiServerArguments, controllers);
  }

  /** Copy with other additional arguments of the API server. */
  public ControlPlaneSpec withApiServerArguments(List<String> other) {
    return new ControlPlaneSpec(name, lifetime, nodes, syncedWrites, other, controllers);
  }

  /** The same with the store and the API server alone, and without nodes. */
  public ControlPlaneSpec withoutControllers() {
    return new ControlPlaneSpec(name, lifetime, List.of(), syncedWrites, apiServerArguments, false);
  }
}
