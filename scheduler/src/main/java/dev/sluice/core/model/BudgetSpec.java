package dev.sluice.core.model;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a Budget allows the Workloads in its scope to spend (docs/budgets.md).
 *
 * @param name name of the Budget
 * @param scope whose Workloads count
 * @param limits how much may be spent in a period, each with another key
 * @param period when a new period begins, or how long a window goes back
 * @param carryOver the most that a period takes over from the one before, as a part of each limit;
 *     0 for nothing
 * @param holds whether Workloads are held that don't fit; otherwise the budget only counts
 * @param reserves whether the whole run of a Workload is charged at its admission; otherwise what
 *     was used
 */
public record BudgetSpec(
    String name,
    Scope scope,
    List<Limit> limits,
    Period period,
    BigDecimal carryOver,
    boolean holds,
    boolean reserves) {

  public BudgetSpec {
    limits = List.copyOf(limits);
  }

  /** Whose Workloads count. */
  public sealed interface Scope {

    /** Those of a ClusterQueue. */
    record OfClusterQueue(String name) implements Scope {}

    /** Those of all ClusterQueues below a Cohort. */
    record OfCohort(String name) implements Scope {}

    /** Those of a LocalQueue. */
    record OfLocalQueue(LocalQueueId id) implements Scope {}

    /** Those of all namespaces with such labels. */
    record OfNamespaces(LabelSelector labels) implements Scope {}
  }

  /**
   * How much may be spent.
   *
   * @param resource the resource, or {@link #COST}
   * @param flavors the flavors whose use counts; empty for all
   * @param amount amount × milliseconds, in the unit of quota (thousandths of a core for cpu); for
   *     money the price of an hour × milliseconds
   */
  public record Limit(String resource, Set<String> flavors, BigDecimal amount) {

    /** Stands for money in place of a resource, none of which has such a name. */
    public static final String COST = "$cost";

    public Limit {
      flavors = Set.copyOf(flavors);
    }

    /** What tells the limit from others of the budget, whatever its amount. */
    public String key() {
      return flavors.isEmpty()
          ? resource
          : resource + "[" + String.join(",", flavors.stream().sorted().toList()) + "]";
    }

    /** Whether money is limited. */
    public boolean isCost() {
      return resource.equals(COST);
    }

    /** Whether the use of a resource of a flavor counts. */
    public boolean counts(String flavor, String used) {
      return (isCost() || resource.equals(used)) && (flavors.isEmpty() || flavors.contains(flavor));
    }
  }

  /** The length of calendar periods. */
  public enum Unit {
    HOURLY,
    DAILY,
    WEEKLY,
    MONTHLY,
    QUARTERLY,
    YEARLY
  }

  /**
   * The periods of a budget.
   *
   * @param unit the length of calendar periods
   * @param zone the time zone of the calendar
   * @param rolling the length of a window that ends now, in place of a calendar
   */
  public record Period(Unit unit, String zone, Optional<Duration> rolling) {

    /** The number of parts of a rolling window: use leaves the window with the part it is in. */
    public static final int PARTS = 96;

    /**
     * From when on use counts.
     *
     * @param start when the period began; for a rolling window, its last part
     * @param end when that ends
     */
    public Instant countsFrom(Instant start, Instant end) {
      return rolling.isPresent()
          ? start.minus(Duration.between(start, end).multipliedBy(PARTS))
          : start;
    }
  }
}
