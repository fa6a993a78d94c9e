package dev.sluice.lab.audit;

/**
 * A violation of a rule.
 *
 * @param revision the revision of the write that broke the rule
 * @param subject the object concerned
 * @param detail the figures
 */
public record Violation(Rule rule, long revision, String subject, String detail) {

  @Override
  public String toString() {
    return "%s at revision %d: %s, %s".formatted(rule.violated(), revision, subject, detail);
  }
}
