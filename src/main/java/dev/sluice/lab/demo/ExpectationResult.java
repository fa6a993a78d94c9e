package dev.sluice.lab.demo;

/**
 * Whether an expectation held.
 *
 * @param detail what was seen; when it didn't hold, what was seen instead
 */
public record ExpectationResult(Expectation expectation, boolean held, String detail) {

  @Override
  public String toString() {
    return "%d. %s: %s (%s)"
        .formatted(
            expectation.number(), held ? "held" : "DID NOT HOLD", expectation.text(), detail);
  }
}
