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
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Budgets of some flavors only, and of odd scopes (docs/budgets.md#what-holds-a-workload). */
class BudgetedFlavorsTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  private static BudgetSpec nothingOf(String flavor) {
    return nothing("team", new Scope.OfClusterQueue("q"), Set.of(flavor));
  }

  private static BudgetSpec nothing(String name, Scope scope, Set<String> flavors) {
    return new BudgetSpec(
        name,
        scope,
        List.of(new Limit("cpu", flavors, BigDecimal.ZERO)),
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

  /** What a head of one queue takes of a budget in a cycle isn't there for the head of another. */
  @Test
  void twoQueuesInACycleDoNotSpendTheSameRest() {
    schedulerFixture.flavor("free");
    schedulerFixture.queue("one", "", SchedulerFixture.quota("free", 10));
    schedulerFixture.queue("two", "", SchedulerFixture.quota("free", 10));
    schedulerFixture.engine.apply(
        new SchedulerEvent.BudgetChanged(
            new BudgetSpec(
                "both",
                new Scope.OfNamespaces(new LabelSelector.Requirements(List.of())),
                List.of(new Limit("cpu", Set.of(), BigDecimal.valueOf(10 * 3_600_000L))),
                new Period(Unit.YEARLY, "UTC", Optional.empty()),
                BigDecimal.ZERO,
                true,
                true),
            Optional.empty()));
    for (String queue : List.of("one", "two")) {
      schedulerFixture.submit(
          "of-" + queue,
          queue,
          SchedulerFixture.shape(6).running(Optional.of(Duration.ofHours(1))),
          0);
    }
    assertThat(schedulerFixture.admitted()).containsExactly("of-one");
    assertThat(schedulerFixture.explanation("of-two").map(Explanation::detail))
        .hasValueSatisfying(text -> assertThat(text).startsWith("BudgetExhausted: Budget both"));

    schedulerFixture.passed(Duration.ofMinutes(30));
    schedulerFixture.finish("of-one");

    assertThat(schedulerFixture.admitted()).as("3 are spent").containsExactly("of-two");
  }

  /** Each cohort of a cycle is below the other one; no queue of it is active while there is one. */
  @Test
  void cohortsInACycleAreCountedWhenTheCycleEnds() {
    schedulerFixture.flavor("free");
    schedulerFixture.cohort("one", "two");
    schedulerFixture.cohort("two", "one");
    schedulerFixture.queue("q", "one", SchedulerFixture.quota("free", 2));
    schedulerFixture.queue("other", "", SchedulerFixture.quota("free", 2));
    for (String cohort : List.of("one", "two", "none")) {
      schedulerFixture.engine.apply(
          new SchedulerEvent.BudgetChanged(
              nothing(cohort, new Scope.OfCohort(cohort), Set.of()), Optional.empty()));
    }
    schedulerFixture.submit("inside", "q", 1);
    schedulerFixture.submit("outside", "other", 1);
    assertThat(schedulerFixture.admitted()).containsExactly("outside");

    schedulerFixture.cohort("two", "");
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.explanation("inside").map(Explanation::detail))
        .hasValueSatisfying(text -> assertThat(text).startsWith("BudgetExhausted: Budget one"));

    for (String cohort : List.of("one", "two")) {
      assertThat(schedulerFixture.admitted()).isEmpty();
      schedulerFixture.engine.apply(new SchedulerEvent.BudgetRemoved(cohort));
    }
    assertThat(schedulerFixture.admitted()).containsExactly("inside");
  }
}
