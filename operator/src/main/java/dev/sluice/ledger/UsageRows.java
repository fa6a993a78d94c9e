package dev.sluice.ledger;

import dev.sluice.ledger.UsageQuery.Span;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * What was used, as it was asked for.
 *
 * @param incomplete whether there are more rows than an answer may have
 * @param currency of costs, as the configuration names it; empty if it doesn't
 * @param labels the keys of labels that rows may be told apart by
 */
public record UsageRows(
    List<UsageRow> rows, boolean incomplete, String currency, List<String> labels) {

  public UsageRows {
    rows = List.copyOf(rows);
    labels = List.copyOf(labels);
  }

  /**
   * What a group used of a resource of a flavor within a span. Sums are exact, in units times
   * seconds: cores for cpu, else the unit of the resource.
   *
   * @param by the values of the groups by their names, in the order in which they were asked for
   * @param reserved while quota was reserved
   * @param run the part of it after the pods were ready
   * @param lost the part of {@code run} whose work an eviction threw away
   * @param money what {@code reserved} cost, and what that saved
   */
  public record UsageRow(
      Span span,
      Map<String, String> by,
      String flavor,
      String resource,
      BigDecimal reserved,
      BigDecimal run,
      BigDecimal lost,
      Money money) {

    /** The same use at other prices. */
    UsageRow with(Money other) {
      return new UsageRow(span, by, flavor, resource, reserved, run, lost, other);
    }

    /** What was paid, as far as there were prices, in the ledger's currency. */
    public BigDecimal cost() {
      return money.cost();
    }

    /** What was saved; below zero if something was lost. */
    public BigDecimal saved() {
      return money.saved();
    }

    /** The part of {@link #reserved} before the pods were ready. */
    public BigDecimal waited() {
      BigDecimal waited = reserved.subtract(run).stripTrailingZeros();
      return waited.scale() < 0 ? waited.setScale(0) : waited;
    }
  }

  /**
   * Amounts of money, in the ledger's currency.
   *
   * @param saved what the same work would have cost more in the flavor that the listed order tries
   *     first (docs/prices.md#what-was-saved)
   */
  public record Money(BigDecimal cost, BigDecimal saved) {

    /** What costs nothing, and saves nothing. */
    public static final Money NONE = new Money(BigDecimal.ZERO, BigDecimal.ZERO);
  }
}
