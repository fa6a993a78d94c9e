package dev.sluice.core.model;

/** A resource of a flavor: the unit by which quota is declared and usage is counted. */
public record FlavorResource(String flavor, String resource) implements Comparable<FlavorResource> {

  @Override
  public int compareTo(FlavorResource other) {
    int byFlavor = flavor.compareTo(other.flavor);
    return byFlavor != 0 ? byFlavor : resource.compareTo(other.resource);
  }
}
