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
 */
public record UsageRows(List<UsageRow> rows, boolean incomplete, String currency) {

  public UsageRows {
    rows = List.copyOf(rows);
  }

  /**
   * What a group used of a resource of a flavor within a span. Sums are exact, in units times
   * seconds: cores for cpu, else the unit of the resource.
   *
   * @param by the values of the groups by their names, in the order in which they were asked for
   * @param reserved while quota was reserved
   * @param run the part of it after the pods were ready
   * @param lost the part of {@code run} whose work an eviction threw away
   * @param cost what {@code reserved} cost, as far as there were prices, in the ledger's currency
   */
  public record UsageRow(
      Span span,
      Map<String, String> by,
      String flavor,
      String resource,
      BigDecimal reserved,
      BigDecimal run,
      BigDecimal lost,
      BigDecimal cost) {

    /** The part of {@link #reserved} before the pods were ready. */
    public BigDecimal waited() {
      BigDecimal waited = reserved.subtract(run).stripTrailingZeros();
      return waited.scale() < 0 ? waited.setScale(0) : waited;
    }
  }
}
