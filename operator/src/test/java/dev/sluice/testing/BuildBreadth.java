package dev.sluice.testing;

import java.util.List;

/**
 * How much a run of the tests goes through: the daily build shows each subject once, profile
 * nightly ({@code -Dsluice.nightly=true}) also each combination of what was shown alone. What is
 * left to the nightly build, and why, is in docs/contributing.md.
 */
public final class BuildBreadth {

  /** The tag of tests that profile nightly runs only, for what they repeat in another form. */
  public static final String NIGHTLY = "nightly";

  private BuildBreadth() {}

  /** Whether each combination is gone through. */
  public static boolean full() {
    return Boolean.getBoolean("sluice.nightly");
  }

  /** All of the first in the nightly build, the second in the daily one. */
  public static <T> List<T> choose(List<T> all, List<T> daily) {
    return full() ? all : daily;
  }
}
