package dev.sluice.lab.audit;

/** A resource of a flavor in a ClusterQueue. */
public record FlavorResourcePair(String clusterQueue, String flavor, String resource) {

  @Override
  public String toString() {
    return "ClusterQueue %s, flavor %s, %s".formatted(clusterQueue, flavor, resource);
  }
}
