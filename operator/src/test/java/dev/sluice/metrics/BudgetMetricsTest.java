package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.queues.status.BudgetStatus.LimitBalance;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The series of Budgets (docs/metrics.md). */
class BudgetMetricsTest {

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final BudgetMetrics metrics = new BudgetMetrics(registry);

  private static LimitBalance balance(String resource, Set<String> flavors, int spent) {
    return new LimitBalance(
        new Limit(resource, flavors, BigDecimal.ZERO),
        Hours.of(resource, BigDecimal.TEN),
        Hours.of(resource, BigDecimal.valueOf(spent)),
        Hours.of(resource, BigDecimal.ONE),
        BigDecimal.ZERO);
  }

  private Map<String, Double> series(String name) {
    Map<String, Double> series = new TreeMap<>();
    registry
        .scrape(name::equals)
        .forEach(
            snapshot ->
                ((GaugeSnapshot) snapshot)
                    .getDataPoints()
                    .forEach(point -> series.put(point.getLabels().toString(), point.getValue())));
    return series;
  }

  @Test
  void aSeriesForEachLimitUntilItIsGone() {
    metrics.stands(
        "team", List.of(balance("cpu", Set.of(), 4), balance(Limit.COST, Set.of("b", "a"), 7)));
    metrics.stands("other", List.of(balance("cpu", Set.of(), 2)));
    assertThat(series("sluice_budget_spent"))
        .isEqualTo(
            Map.of(
                "{budget=\"team\",flavors=\"\",resource=\"cpu\"}", 4.0,
                "{budget=\"team\",flavors=\"a,b\",resource=\"cost\"}", 7.0,
                "{budget=\"other\",flavors=\"\",resource=\"cpu\"}", 2.0));
    assertThat(series("sluice_budget_limit").values()).containsOnly(10.0);
    assertThat(series("sluice_budget_reserved").values()).containsOnly(1.0);

    metrics.stands("team", List.of(balance("cpu", Set.of(), 5)));
    metrics.stands("other", List.of());
    assertThat(series("sluice_budget_spent"))
        .isEqualTo(Map.of("{budget=\"team\",flavors=\"\",resource=\"cpu\"}", 5.0));
    assertThat(series("sluice_budget_limit")).hasSize(1);
  }
}
