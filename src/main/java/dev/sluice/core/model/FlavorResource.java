package dev.sluice.core.model;

/** The pair that quota is kept by: one resource as offered by one flavor. */
public record FlavorResource(String flavor, String resource) implements Comparable<FlavorResource> {

  @Override
  public int compareTo(FlavorResource other) {
    int byFlavor = flavor.compareTo(other.flavor);
    return byFlavor != 0 ? byFlavor : resource.compareTo(other.resource);
  }
}
