package dev.sluice.lab.demo;

/** The expectations of the scenario of the first Job, in the order in which they are judged. */
public enum FirstJobExpectation implements Expectation {
  /** The Job starts on the flavor with quota, by one update that changes nothing else. */
  STARTS_ON_FREE_QUOTA(
      "with free ondemand quota the Job starts there; suspend: false and the node selector arrive"
          + " in one update"),
  /** The next flavor is tried; a Job that cannot use it is told the reason. */
  FALLS_THROUGH(
      "with ondemand full, the Job that tolerates spot starts there; the other waits, and its"
          + " Workload names both flavors"),
  /** Manifests of the oldest API version keep their meaning. */
  OLD_FLAVORS("flavors act by their node labels and taints, in whatever version they are written"),
  /** Released quota is used. */
  GOES_ON_BY_ITSELF("when the filler ends, the waiting Job starts by itself on ondemand"),
  /** A Job that can never run gets a message and does not block other Jobs. */
  NEVER_FITS("a Job larger than the pool waits, is told that it never fits, and holds up nobody"),
  /** Nothing runs before its admission. */
  NEVER_EARLY("no Job is unsuspended and no pod made before its Workload holds quota");

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
