package dev.sluice.lab.audit;

/**
 * A broken rule.
 *
 * @param revision the write that broke it
 * @param subject the object concerned
 * @param detail the figures
 */
public record Violation(Rule rule, long revision, String subject, String detail) {

  @Override
  public String toString() {
    return "%s at revision %d: %s, %s".formatted(rule.violated(), revision, subject, detail);
  }
}
