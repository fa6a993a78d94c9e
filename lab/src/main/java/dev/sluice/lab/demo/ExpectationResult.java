package dev.sluice.lab.demo;

/**
 * Whether an expectation was met.
 *
 * @param detail the observation, or the deviating observation if it was not met
 */
public record ExpectationResult(Expectation expectation, boolean held, String detail) {

  @Override
  public String toString() {
    return "%d. %s: %s (%s)"
        .formatted(
            expectation.number(), held ? "held" : "DID NOT HOLD", expectation.text(), detail);
  }
}
