package dev.sluice.metrics;

import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.queues.status.BudgetStatus.LimitBalance;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Where the limits of Budgets stand, as the leader knows it. Thread-safe. */
public final class BudgetMetrics {

  private static final String[] LABELS = {"budget", "resource", "flavors"};

  private final Gauge limit;
  private final Gauge spent;
  private final Gauge reserved;

  /** The series of each budget, so that those of a limit that went end. */
  private final Map<String, Set<List<String>>> series = new ConcurrentHashMap<>();

  /** Registers the metrics. */
  public BudgetMetrics(PrometheusRegistry registry) {
    limit =
        Gauge.builder()
            .name("sluice_budget_limit")
            .help("What a Budget allows in this period: hours of a resource, or money")
            .labelNames(LABELS)
            .register(registry);
    spent =
        Gauge.builder()
            .name("sluice_budget_spent")
            .help("What was spent of a limit of a Budget in this period")
            .labelNames(LABELS)
            .register(registry);
    reserved =
        Gauge.builder()
            .name("sluice_budget_reserved")
            .help("What of a limit of a Budget is reserved for runs that go on")
            .labelNames(LABELS)
            .register(registry);
  }

  /** Sets the series of a budget; without limits they end. */
  public void stands(String budget, List<LimitBalance> balances) {
    Set<List<String>> now =
        balances.stream().map(each -> labels(budget, each)).collect(Collectors.toSet());
    Set<List<String>> before = balances.isEmpty() ? series.remove(budget) : series.put(budget, now);
    if (before != null) {
      for (List<String> gone : before) {
        if (!now.contains(gone)) {
          String[] values = gone.toArray(String[]::new);
          limit.remove(values);
          spent.remove(values);
          reserved.remove(values);
        }
      }
    }
    for (LimitBalance each : balances) {
      String[] values = labels(budget, each).toArray(String[]::new);
      limit.labelValues(values).set(hours(each, each.allowed()));
      spent.labelValues(values).set(hours(each, each.spent()));
      reserved.labelValues(values).set(hours(each, each.reserved()));
    }
  }

  private static List<String> labels(String budget, LimitBalance balance) {
    return List.of(
        budget,
        balance.limit().isCost() ? "cost" : balance.limit().resource(),
        balance.limit().flavors().stream().sorted().collect(Collectors.joining(",")));
  }

  private static double hours(LimitBalance balance, BigDecimal amount) {
    return Hours.number(balance.limit().resource(), amount);
  }
}
