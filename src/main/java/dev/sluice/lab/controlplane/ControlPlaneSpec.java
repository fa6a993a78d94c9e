package dev.sluice.lab.controlplane;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What is wished of a control plane.
 *
 * @param name unique among those that run; a DNS label
 * @param lifetime how long it lives
 * @param nodes may be empty
 * @param syncedWrites whether the store waits for the disk; false is faster and loses data on a
 *     crash of the machine, so it is for tests that say so
 * @param apiServerArguments appended to the API server's command line, where the last one wins
 * @param controllers false: the store and the API server alone run; nothing makes pods or service
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

  /** Checks the name, and copies the rest. */
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

  /** One that ends with this process, has one node with plenty of everything, and syncs. */
  public static ControlPlaneSpec named(String name) {
    return new ControlPlaneSpec(
        name,
        Lifetime.WITH_THIS_PROCESS,
        List.of(NodeGroup.plentiful("node", 1)),
        true,
        List.of(),
        true);
  }

  /** The same with another lifetime. */
  public ControlPlaneSpec living(Lifetime other) {
    return new ControlPlaneSpec(name, other, nodes, syncedWrites, apiServerArguments, controllers);
  }

  /** The same with other nodes. */
  public ControlPlaneSpec withNodes(List<NodeGroup> other) {
    return new ControlPlaneSpec(
        name, lifetime, other, syncedWrites, apiServerArguments, controllers);
  }

  /** The same with a store that doesn't wait for the disk. */
  public ControlPlaneSpec withoutSyncedWrites() {
    return new ControlPlaneSpec(name, lifetime, nodes, false, apiServerArguments, controllers);
  }

  /** The same with other additional arguments of the API server. */
  public ControlPlaneSpec withApiServerArguments(List<String> other) {
    return new ControlPlaneSpec(name, lifetime, nodes, syncedWrites, other, controllers);
  }

  /** The same with the store and the API server alone, and without nodes. */
  public ControlPlaneSpec withoutControllers() {
    return new ControlPlaneSpec(name, lifetime, List.of(), syncedWrites, apiServerArguments, false);
  }
}
