package dev.sluice.core.budget;

import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All budgets, and what was spent of each (docs/budgets.md#what-counts). Time never goes back here,
 * even if the clock does. Confined to the scheduler thread.
 */
public final class Budgets {

  /** What scopes depend on. */
  public interface ScopeLookup {

    /** Names of the Cohorts above a ClusterQueue. */
    List<String> cohortsAbove(String clusterQueue);

    /** The labels of a namespace; empty if it doesn't exist. */
    Map<String, String> labels(String namespace);
  }

  /**
   * What a Workload holds, or asks for.
   *
   * @param clusterQueue the ClusterQueue whose quota it is
   * @param localQueue the LocalQueue of the Workload
   * @param amounts the amounts in the unit of quota; the flavor is empty where it isn't chosen yet
   */
  public record Use(
      String clusterQueue, LocalQueueId localQueue, Map<FlavorResource, Long> amounts) {}

  private final ScopeLookup lookup;
  private final SortedMap<String, AccountBook> accounts = new TreeMap<>();

  /** What a unit of quota costs for an hour, by flavor and resource. */
  private final SortedMap<String, Map<String, BigDecimal>> prices = new TreeMap<>();

  private Instant now = Instant.EPOCH;
  private boolean released;

  /** No budgets. */
  public Budgets(ScopeLookup lookup) {
    this.lookup = lookup;
  }

  /** Whether there is no budget, so that nobody has to ask or tell. */
  public boolean isEmpty() {
    return accounts.isEmpty();
  }

  /** All budgets and their accounts, by name. */
  public List<BudgetAccount.OfBudget> export() {
    return accounts.values().stream().map(AccountBook::export).toList();
  }

  /** Takes exported budgets over. */
  public void restore(List<BudgetAccount.OfBudget> exported, Instant instant, boolean isReleased) {
    now = instant;
    released = isReleased;
    exported.forEach(each -> accounts.put(each.spec().name(), new AccountBook(each)));
  }

  /**
   * Takes over what a budget says.
   *
   * @param found what was spent, as somebody else wrote it down; empty if nothing is known, or
   *     nothing but what is known here
   * @return whether holders of quota have to be compared
   */
  public boolean declare(BudgetSpec spec, Optional<BudgetAccount> found) {
    AccountBook account = accounts.get(spec.name());
    if (found.isPresent()) {
      accounts.put(
          spec.name(), new AccountBook(new BudgetAccount.OfBudget(spec, found.get(), true)));
    } else if (account == null) {
      accounts.put(spec.name(), new AccountBook(spec, now));
    } else if (account.spec.equals(spec)) {
      return false;
    } else {
      account.declare(spec, now);
    }
    released = true;
    return true;
  }

  /** All prices, by flavor and resource. */
  public Map<String, Map<String, BigDecimal>> prices() {
    return Map.copyOf(prices);
  }

  /** What a unit of each resource of a flavor costs for an hour; empty if it has no price. */
  public Map<String, BigDecimal> pricesOf(String flavor) {
    return prices.getOrDefault(flavor, Map.of());
  }

  /**
   * Sets what a flavor costs from now on.
   *
   * @return whether holders have to be compared
   */
  public boolean price(String flavor, Map<String, BigDecimal> perHour) {
    Map<String, BigDecimal> before =
        perHour.isEmpty() ? prices.remove(flavor) : prices.put(flavor, Map.copyOf(perHour));
    boolean changed = !perHour.equals(before == null ? Map.of() : before);
    boolean counts =
        changed
            && accounts.values().stream()
                .flatMap(account -> account.spec.limits().stream())
                .anyMatch(Limit::isCost);
    released |= counts;
    return counts;
  }

  /** Forgets a budget. */
  public void remove(String name) {
    released |= accounts.remove(name) != null;
  }

  /** Begins the periods that are due. */
  public void timePassed(Instant instant) {
    if (instant.isAfter(now)) {
      now = instant;
      for (AccountBook account : accounts.values()) {
        released |= !account.found && account.roll(now);
      }
    }
  }

  /** When the first period ends; {@link Instant#MAX} if there is none. */
  public Instant next() {
    return accounts.values().stream()
        .filter(account -> !account.found)
        .map(AccountBook::end)
        .min(Comparator.naturalOrder())
        .orElse(Instant.MAX);
  }

  /** Records what a Workload holds from now on; null if it holds nothing. */
  public void changed(String uid, @Nullable Use use) {
    for (AccountBook account : accounts.values()) {
      released |= account.charge(uid, use == null ? Map.of() : rates(account, use), now);
    }
  }

  /** Records for how long a Workload runs at the most that got quota now. */
  public void starts(String uid, Optional<Duration> run) {
    run.ifPresent(
        length -> accounts.values().forEach(account -> account.reserve(uid, millis(length))));
  }

  /** Records that the admission of a Workload is written. */
  public void written(String uid) {
    accounts.values().forEach(account -> account.written(uid));
  }

  /** Records that the admission of a Workload was not written: it never ran. */
  public void refused(String uid) {
    for (AccountBook account : accounts.values()) {
      released |= account.forget(uid);
    }
  }

  /**
   * Compares all accounts with who holds quota.
   *
   * @param holders what is held, by UID
   * @param evicted since when a Workload waits; empty if it doesn't
   */
  public void compare(Map<String, Use> holders, Function<String, Optional<Instant>> evicted) {
    for (AccountBook account : accounts.values()) {
      if (account.found) {
        account.charged().stream()
            .filter(uid -> !holders.containsKey(uid))
            .sorted(Comparator.comparing((String uid) -> evicted.apply(uid).orElse(Instant.MAX)))
            .forEach(uid -> account.endFound(uid, evicted.apply(uid), now));
        account.compared(now);
        released = true;
      }
      for (String uid : account.charged()) {
        if (!holders.containsKey(uid)) {
          released |= account.charge(uid, Map.of(), now);
        }
      }
      holders.forEach((uid, use) -> released |= account.charge(uid, rates(account, use), now));
    }
  }

  /** Whether Workloads that were held may fit. */
  public boolean isReleased() {
    return released;
  }

  /** Records that all held Workloads were looked at again. */
  public void lookedAgain() {
    released = false;
  }

  /**
   * Why budgets hold a Workload whatever its flavors; empty if they may let it start.
   *
   * @param run how long it runs at the most; empty if nobody says so
   */
  public Optional<Explanation> refusalBeforeFlavors(Use use, Optional<Duration> run) {
    return refusal(use, run, false);
  }

  /** Why budgets hold a Workload that would get these flavors; empty if all let it start. */
  public Optional<Explanation> refusal(Use use, Optional<Duration> run) {
    return refusal(use, run, true);
  }

  private Optional<Explanation> refusal(Use use, Optional<Duration> run, boolean exactly) {
    for (AccountBook account : accounts.values()) {
      Map<String, BigDecimal> rates = account.spec.holds() ? rates(account, use) : Map.of();
      if (rates.isEmpty()) {
        continue;
      }
      if (account.isFull(rates)) {
        return held(
            account, " counts " + account.size() + " workloads with quota, and can't name more");
      }
      if (account.spec.reserves() && run.isEmpty()) {
        return held(
            account,
            " reserves whole runs, and nothing says how long this workload runs: it needs"
                + " sluice.dev/expected-run-time or maximumExecutionTimeSeconds");
      }
      for (Limit limit : account.spec.limits()) {
        BigDecimal rate = rates.get(limit.key());
        if (rate != null && !fits(account, limit, rate, run, exactly)) {
          return exhausted(account, limit, rate, run);
        }
      }
    }
    return Optional.empty();
  }

  private boolean fits(
      AccountBook account, Limit limit, BigDecimal rate, Optional<Duration> run, boolean exactly) {
    if (account.spec.reserves() && exactly) {
      return account.fits(limit, rate, run.map(Budgets::millis).orElse(0L), now);
    }
    AccountBook.Sums sums = account.sums(limit.key(), now);
    BigDecimal used = account.spec.reserves() ? sums.committed() : sums.spent();
    return used.compareTo(account.allowed(limit)) < 0;
  }

  private Optional<Explanation> exhausted(
      AccountBook account, Limit limit, BigDecimal rate, Optional<Duration> run) {
    AccountBook.Sums sums = account.sums(limit.key(), now);
    StringBuilder text = new StringBuilder(" has ");
    text.append(Hours.text(limit.resource(), sums.spent())).append(" spent");
    if (account.spec.reserves()) {
      text.append(" and ").append(Hours.text(limit.resource(), sums.reserved()));
      text.append(" reserved");
    }
    text.append(" of ").append(Hours.text(limit.resource(), account.allowed(limit)));
    text.append(' ').append(Hours.unit(limit.resource()));
    if (!limit.flavors().isEmpty()) {
      text.append(" of ");
      text.append(limit.isCost() ? String.join(",", limit.flavors()) : limit.key());
    }
    if (account.spec.reserves()) {
      BigDecimal whole = rate.multiply(BigDecimal.valueOf(run.map(Budgets::millis).orElse(0L)));
      text.append(", and this workload needs ").append(Hours.text(limit.resource(), whole));
    }
    text.append(
        account.spec.period().rolling().isPresent()
            ? "; use leaves the window from "
            : "; the next period begins at ");
    text.append(account.end()).append(account.spec.period().rolling().isPresent() ? " on" : "");
    return held(account, text.toString());
  }

  private static Optional<Explanation> held(AccountBook account, String why) {
    return Optional.of(
        new Explanation(
            PendingReason.WAITING_FOR_QUOTA,
            List.of(),
            Explanation.BUDGET_EXHAUSTED + "Budget " + account.spec.name() + why));
  }

  /** Promises its run to a Workload that this cycle admits. */
  public void plan(Use use, Optional<Duration> run) {
    for (AccountBook account : accounts.values()) {
      if (account.spec.reserves()) {
        account.plan(rates(account, use), run.map(Budgets::millis).orElse(0L), now);
      }
    }
  }

  /** Forgets what was promised in the cycle: from now on it is charged. */
  public void endCycle() {
    accounts.values().forEach(AccountBook::endCycle);
  }

  private static long millis(Duration length) {
    return Math.clamp(length.toSeconds(), 0, Long.MAX_VALUE / 8_000) * 1_000
        + length.toMillisPart();
  }

  /** What a Workload uses of each limit of a budget; empty if it isn't in the scope. */
  private Map<String, BigDecimal> rates(AccountBook account, Use use) {
    if (!isIn(account.spec.scope(), use)) {
      return Map.of();
    }
    Map<String, BigDecimal> rates = new HashMap<>();
    for (Limit limit : account.spec.limits()) {
      BigDecimal rate = BigDecimal.ZERO;
      for (Map.Entry<FlavorResource, Long> each : use.amounts().entrySet()) {
        if (limit.counts(each.getKey().flavor(), each.getKey().resource())) {
          BigDecimal amount = BigDecimal.valueOf(each.getValue());
          rate = rate.add(limit.isCost() ? amount.multiply(price(each.getKey())) : amount);
        }
      }
      if (rate.signum() > 0) {
        rates.put(limit.key(), rate.stripTrailingZeros());
      }
    }
    return rates;
  }

  private BigDecimal price(FlavorResource flavorResource) {
    return prices
        .getOrDefault(flavorResource.flavor(), Map.of())
        .getOrDefault(flavorResource.resource(), BigDecimal.ZERO);
  }

  private boolean isIn(Scope scope, Use use) {
    return switch (scope) {
      case Scope.OfClusterQueue(var name) -> name.equals(use.clusterQueue());
      case Scope.OfCohort(var name) -> lookup.cohortsAbove(use.clusterQueue()).contains(name);
      case Scope.OfLocalQueue(var id) -> id.equals(use.localQueue());
      case Scope.OfNamespaces(var selector) ->
          selector.matches(lookup.labels(use.localQueue().namespace()));
    };
  }

  /**
   * Amounts × milliseconds as people read them. Of money, which is spent by the hour, the amount is
   * the price of what is used: its hours are the money.
   */
  public static final class Hours {

    private static final String CPU = "cpu";
    private static final BigDecimal MILLIS = BigDecimal.valueOf(3_600_000);
    private static final BigDecimal CPU_MILLIS = BigDecimal.valueOf(3_600_000_000L);

    private Hours() {}

    /** Hours of a resource, in its own unit (cores for cpu), rounded down to a thousandth. */
    public static String text(String resource, BigDecimal amount) {
      BigDecimal hours =
          amount
              .divide(resource.equals(CPU) ? CPU_MILLIS : MILLIS, MathContext.DECIMAL128)
              .setScale(3, RoundingMode.DOWN);
      return hours.signum() == 0 ? "0" : hours.stripTrailingZeros().toPlainString();
    }

    /** Hours of a resource, in its own unit (cores for cpu), as far as a double holds them. */
    public static double number(String resource, BigDecimal amount) {
      return amount
          .divide(resource.equals(CPU) ? CPU_MILLIS : MILLIS, MathContext.DECIMAL64)
          .doubleValue();
    }

    /** The amount × milliseconds of so many hours of a resource, in its own unit. */
    public static BigDecimal of(String resource, BigDecimal hours) {
      return hours.multiply(resource.equals(CPU) ? CPU_MILLIS : MILLIS).stripTrailingZeros();
    }

    /** What the hours of a resource are called. */
    public static String unit(String resource) {
      return resource.equals(Limit.COST) ? "of money" : resource + "-hours";
    }
  }
}
