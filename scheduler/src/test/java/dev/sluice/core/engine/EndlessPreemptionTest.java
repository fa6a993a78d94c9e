package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/**
 * Workloads that evict each other for ever, as users report it, and what ends that
 * (docs/preemption.md#preemption-that-goes-on-for-ever).
 */
class EndlessPreemptionTest {

  private SchedulerFixture fixture = new SchedulerFixture();
  private final Map<String, List<Instant>> preempted = new HashMap<>();
  private final Map<String, Long> requests = new HashMap<>();
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
    submit("elder", "near", 2, 0, 1);
    submit("other", "lender", 2, 5, 1);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("elder", "other");
    submit("head", "head", 4, 5, 2);
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
                        SchedulerFixture.shape(
                            Objects.requireNonNull(requests.get(target.id().name()))),
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

  private void submit(String name, String queue, long cpu, long priority, int second) {
    requests.put(name, cpu);
    fixture.submit(name, queue, cpu, priority, second);
  }

  /** A cohort that shares fairly; returns policies of queues that reclaim from it. */
  private PreemptionPolicies shareFairly() {
    fixture =
        new SchedulerFixture(
            new EngineOptions(
                Optional.of(
                    new FairSharing(
                        List.of(
                            Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
                            Strategy.LESS_THAN_INITIAL_SHARE),
                        false,
                        false)),
                false));
    fixture.flavor("f");
    cohort("root", "", false);
    return policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false);
  }

  /**
   * What goes of its own queue lowers the share of a preemptor, so that others become targets,
   * which alone are enough. If it stayed therefore, the share would be as high as before.
   */
  private void givenTargetsThatAreLegalOnlyBesideOthers() {
    PreemptionPolicies policies = shareFairly();
    queue("one", "root", policies, 0);
    queue("two", "root", policies, 0);
    queue("lender", "root", PreemptionPolicies.NEVER, 10);
    submit("small", "one", 3, 0, 1);
    submit("large", "two", 7, 0, 1);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("small", "large");
    submit("urgent", "one", 5, 1, 2);
  }

  @Test
  void fillBackMakesNoEarlierChoiceIllegal() {
    givenTargetsThatAreLegalOnlyBesideOthers();
    assertThat(preemptions(50)).isEqualTo(2);
    assertThat(preempted.keySet()).containsExactlyInAnyOrder("uid-small", "uid-large");
  }

  @Test
  void twoQueuesDoNotEvictEachOther() {
    PreemptionPolicies policies = shareFairly();
    queue("guaranteed", "root", policies, 150);
    queue("other", "root", policies, 150);
    queue("best-effort", "root", policies, 0);
    submit("first", "guaranteed", 250, 0, 1);
    submit("extra", "best-effort", 50, 0, 1);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("first", "extra");
    submit("second", "guaranteed", 50, 0, 2);
    assertThat(preemptions(50)).isEqualTo(0);
  }

  @Test
  void aHeadThatPreemptsTheSameAgainComesFirst() {
    givenAStarvedHead(false);
    assertThat(preemptions(50)).isEqualTo(2);
    assertThat(fixture.admission("head").clusterQueue()).isEqualTo("head");
  }

  @Test
  void withoutThatItIsStarvedByItsTreeForEver() {
    fixture = withRepeats(1_000);
    givenAStarvedHead(false);
    assertThat(preemptions(50)).isEqualTo(50);
  }

  private static SchedulerFixture withRepeats(int most) {
    return new SchedulerFixture(
        new EngineOptions(
            Optional.empty(),
            false,
            Optional.empty(),
            OrderingRules.DEFAULT.withRepeats(new PreemptionLimit(most, Duration.ofHours(1)))));
  }

  private void submitHigher(boolean held) {
    Instant queuedAt = SchedulerFixture.START.plusSeconds(2);
    requests.put("higher", 4L);
    fixture.tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId("uid-higher", "ns", "higher"),
                version++,
                "one",
                SchedulerFixture.shape(4),
                5,
                queuedAt,
                queuedAt,
                Optional.empty(),
                held,
                Optional.empty())));
  }

  /** Somebody who got its quota while the preemptor was on hold, which spares it for an hour. */
  @Test
  void theSameIsNotPreemptedForTheSameForEver() {
    fixture = withRepeats(1);
    fixture.flavor("f");
    queue(
        "one",
        "",
        policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false),
        4);
    submit("lower", "one", 3, 0, 1);
    assertThat(fixture.admitted()).containsExactly("lower");
    submitHigher(false);
    assertThat(fixture.admitted()).isEmpty();
    submitHigher(true);
    assertThat(preemptions(1)).isEqualTo(1);
    assertThat(fixture.admitted()).containsExactly("lower");
    submitHigher(false);
    assertThat(preemptions(50)).isEqualTo(0);
    assertThat(fixture.explanation("higher").orElseThrow().detail())
        .contains(
            "not counted: workloads that it preempted again and again, the first of them until "
                + SchedulerFixture.START.plus(Duration.ofHours(1)));
    fixture.passed(Duration.ofHours(1).minusNanos(1_000));
    assertThat(preemptions(50)).isEqualTo(0);
    fixture.passed(Duration.ofHours(1));
    assertThat(preemptions(50)).isEqualTo(1);
    assertThat(fixture.admission("higher").clusterQueue()).isEqualTo("one");
  }

  private void submitAs(String name, String queue, long cpu, long priority) {
    Instant queuedAt = SchedulerFixture.START.plusSeconds(1);
    fixture.tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                version++,
                queue,
                SchedulerFixture.shape(cpu),
                priority,
                queuedAt,
                queuedAt,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  /** Somebody resizes a preemptor, so that its own victim comes back, to come before others. */
  @Test
  void whoAsksForSomethingElseComesFirstNoMore() {
    fixture.flavor("f");
    cohort("root", "", false);
    PreemptionPolicies own =
        policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false);
    queue("tenant", "root", own, 1);
    queue("others", "root", PreemptionPolicies.NEVER, 0);
    queue("lender", "root", PreemptionPolicies.NEVER, 3);
    submitAs("long", "lender", 3, 0);
    submitAs("low", "tenant", 1, 0);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("long", "low");
    for (int i = 0; i < 2; i++) {
      submitAs("high", "tenant", 1, 1);
      fixture.admitted();
      assertThat(fixture.preempted()).containsExactly("low for high: InClusterQueue");
      submitAs("high", "tenant", 100, 1);
      submitAs("low", "tenant", 1, 0);
      assertThat(fixture.admitted()).containsExactly("low");
    }

    submitAs("high", "tenant", 3, 1);
    submitAs("important", "others", 3, 1_000);
    fixture.admitted();
    for (String name : List.of("low", "long")) {
      fixture.tell(
          new SchedulerEvent.WorkloadReleased(
              new WorkloadId("uid-" + name, "ns", name), version++));
    }

    assertThat(fixture.admitted()).containsExactly("important");
  }

  @Test
  void aLimitOfTheCohortEndsThat() {
    fixture = withRepeats(1_000);
    givenAStarvedHead(true);
    assertThat(preemptions(50)).isEqualTo(3);
    assertThat(fixture.explanation("head").orElseThrow().detail())
        .contains("sluice.dev/max-preemptions");
  }
}
