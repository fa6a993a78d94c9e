package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QuotaRules;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/**
 * Workloads that evict each other for ever, as users report it, and what ends that
 * (docs/preemption.md#preemption-that-goes-on-for-ever).
 */
class EndlessPreemptionTest {

  private final SchedulerFixture fixture = new SchedulerFixture();
  private final Map<String, List<Instant>> preempted = new HashMap<>();
  private long version = 1_000;

  private static PreemptionPolicies policies(
      WithinClusterQueue within, ReclaimWithinCohort reclaim, boolean borrowing) {
    return new PreemptionPolicies(within, reclaim, borrowing, OptionalInt.empty());
  }

  private void queue(String name, String cohort, PreemptionPolicies policies, long f) {
    fixture.queue(
        name,
        cohort,
        QueueingStrategy.BEST_EFFORT_FIFO,
        policies,
        FlavorFungibility.DEFAULT,
        SchedulerFixture.quota("f", f));
  }

  private void cohort(String name, String parent, boolean limited) {
    fixture.engine.apply(
        new SchedulerEvent.CohortChanged(
            new CohortSpec(
                name,
                parent,
                List.of(),
                BigDecimal.ONE,
                limited
                    ? QuotaRules.DEFAULT.withPreemption(
                        new PreemptionRules(
                            Optional.empty(),
                            Optional.of(new PreemptionLimit(3, Duration.ofHours(24))),
                            Optional.empty(),
                            false))
                    : QuotaRules.DEFAULT)));
  }

  /**
   * A head with the higher priority borrows to the root of the tree. Whoever goes for it borrows
   * less far, so that the order of a cycle puts that one first when it waits again.
   */
  private void givenAStarvedHead(boolean limited) {
    fixture.flavor("f");
    cohort("root", "", limited);
    cohort("left", "root", false);
    queue(
        "head",
        "left",
        policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.LOWER_PRIORITY, true),
        2);
    queue("near", "left", PreemptionPolicies.NEVER, 1);
    queue("lender", "root", PreemptionPolicies.NEVER, 3);
    fixture.submit("elder", "near", 2, 0, 1);
    fixture.submit("other", "lender", 2, 5, 1);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("elder", "other");
    fixture.submit("head", "head", 4, 5, 2);
  }

  /** Cycles while whoever is evicted waits again at once; returns how often anybody was. */
  private int preemptions(int most) {
    int count = 0;
    for (int i = 0; i < 10 * most && count < most; i++) {
      fixture.admitted();
      List<String> names = fixture.preempted();
      if (names.isEmpty()) {
        return count;
      }
      for (Decision.Target target : fixture.lastPreemption().targets()) {
        count++;
        Decision.Admit admit = fixture.admission(target.id().name());
        List<Instant> times =
            preempted.computeIfAbsent(target.id().uid(), any -> new ArrayList<>());
        times.add(SchedulerFixture.START);
        fixture.engine.apply(
            new SchedulerEvent.WorkloadPending(
                new PendingWorkload(
                        target.id(),
                        version++,
                        admit.clusterQueue(),
                        SchedulerFixture.shape(2),
                        target.priority(),
                        admit.queuedAt(),
                        admit.queuedAt(),
                        Optional.empty(),
                        false,
                        Optional.empty())
                    .withHistory(new PreemptionHistory(Optional.empty(), times))));
      }
    }
    return count;
  }

  @Test
  void aHeadIsStarvedByItsTreeForEver() {
    givenAStarvedHead(false);
    assertThat(preemptions(50)).isEqualTo(50);
  }

  @Test
  void aLimitEndsThat() {
    givenAStarvedHead(true);
    assertThat(preemptions(50)).isEqualTo(3);
    assertThat(fixture.explanation("head").orElseThrow().detail())
        .contains("sluice.dev/max-preemptions");
  }
}
