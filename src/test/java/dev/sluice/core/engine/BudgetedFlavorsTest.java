package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Budgets of some flavors only (docs/budgets.md#what-holds-a-workload). */
class BudgetedFlavorsTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  private static BudgetSpec nothingOf(String flavor) {
    return new BudgetSpec(
        "team",
        new Scope.OfClusterQueue("q"),
        List.of(new Limit("cpu", Set.of(flavor), BigDecimal.ZERO)),
        new Period(Unit.YEARLY, "UTC", Optional.empty()),
        BigDecimal.ZERO,
        true,
        false);
  }

  @ParameterizedTest
  @EnumSource(
      value = QueueingStrategy.class,
      names = {"BEST_EFFORT_FIFO", "STRICT_FIFO"})
  void aWorkloadStartsWhenAnotherFlavorIsReleased(QueueingStrategy strategy) {
    schedulerFixture.flavor("free");
    schedulerFixture.flavor("dear");
    schedulerFixture.queue(
        "q",
        "",
        strategy,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        SchedulerFixture.quota("free", 1),
        SchedulerFixture.quota("dear", 10));
    schedulerFixture.engine.apply(
        new SchedulerEvent.BudgetChanged(nothingOf("dear"), Optional.empty()));
    schedulerFixture.submit("first", "q", 1);
    schedulerFixture.submit("second", "q", 1);
    assertThat(schedulerFixture.admitted()).containsExactly("first");
    assertThat(schedulerFixture.explanation("second").map(Explanation::detail))
        .hasValueSatisfying(text -> assertThat(text).startsWith("BudgetExhausted: Budget team"));

    schedulerFixture.finish("first");

    assertThat(schedulerFixture.admitted()).containsExactly("second");
    assertThat(schedulerFixture.admission("second").podSets().getFirst().flavors())
        .containsEntry("cpu", "free");
  }
}
