package dev.sluice.lab.demo;

/** What the story of the first Job is about, in its order. */
public enum FirstJobExpectation implements Expectation {
  /** Started where it may, by one write that leaves the rest alone. */
  STARTS_ON_FREE_QUOTA(
      "with free ondemand quota the Job starts there; suspend: false and the node selector arrive"
          + " in one update"),
  /** The next flavor is tried; who can't use it is told why. */
  FALLS_THROUGH(
      "with ondemand full, the Job that tolerates spot starts there; the other waits, and its"
          + " Workload names both flavors"),
  /** Quota that becomes free is used. */
  GOES_ON_BY_ITSELF("when the filler ends, the waiting Job starts by itself on ondemand"),
  /** Nothing runs before it may. */
  NEVER_EARLY("no Job is unsuspended and no pod made before its Workload holds quota"),
  /** What can't run is told so, and holds nobody up. */
  NEVER_FITS("a Job larger than the pool waits, is told that it never fits, and holds up nobody"),
  /** Old manifests mean what they meant. */
  OLD_FLAVORS("flavors act by their node labels and taints, in whatever version they are written");

  private final String text;

  FirstJobExpectation(String text) {
    this.text = text;
  }

  @Override
  public int number() {
    return ordinal() + 1;
  }

  @Override
  public String text() {
    return text;
  }
}
