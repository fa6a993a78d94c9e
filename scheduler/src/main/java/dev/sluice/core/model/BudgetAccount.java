package dev.sluice.core.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What was spent of a budget, as a value: with it and the Workloads that hold quota, counting goes
 * on where it stopped. Amounts are by the key of their limit, in amount × milliseconds.
 *
 * @param start when the period began; for a rolling window, its last part
 * @param end when that ends
 * @param spent what was settled since then
 * @param carried what was taken over from the period before
 * @param parts what was settled in the earlier parts of a rolling window, the oldest first
 * @param charges the Workloads that hold quota
 */
public record BudgetAccount(
    Instant start,
    Instant end,
    Map<String, BigDecimal> spent,
    Map<String, BigDecimal> carried,
    List<Map<String, BigDecimal>> parts,
    List<Charge> charges) {

  /** How much of the status of a Budget its charges may take: the API server stores 1.5 MiB. */
  public static final int MOST_BYTES = 900_000;

  public BudgetAccount {
    spent = Map.copyOf(spent);
    carried = Map.copyOf(carried);
    parts = parts.stream().map(Map::copyOf).toList();
    charges = List.copyOf(charges);
  }

  /**
   * A Workload that holds quota.
   *
   * @param uid its UID
   * @param since the time up to which its use is settled
   * @param until when its run ends at the latest; empty if nothing is reserved for it
   * @param written whether the API server is known to have stored its admission
   * @param rates what it uses of each limit at any time: the amount
   */
  public record Charge(
      String uid,
      Instant since,
      Optional<Instant> until,
      boolean written,
      Map<String, BigDecimal> rates) {

    public Charge {
      rates = Map.copyOf(rates);
    }

    /**
     * How many bytes of a status a charge with such rates takes at the most: a UID, two times and
     * names of fields, and each limit with its amount.
     */
    public static int bytes(Map<String, BigDecimal> rates) {
      int bytes = 190;
      for (Map.Entry<String, BigDecimal> rate : rates.entrySet()) {
        bytes += 30 + 2 * rate.getKey().length() + rate.getValue().toPlainString().length();
      }
      return bytes;
    }
  }

  /**
   * The account of a budget.
   *
   * @param spec what the budget says
   * @param account what was spent
   * @param found whether the account was read, and not yet compared with the Workloads that hold
   *     quota
   */
  public record OfBudget(BudgetSpec spec, BudgetAccount account, boolean found) {}
}
