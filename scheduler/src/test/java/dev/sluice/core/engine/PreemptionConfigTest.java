package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidatePriority;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.ClassNames;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Comparison;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.NumericLabel;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.SchedulerEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whom the engine preempts by the rules of a PreemptionConfig (docs/preemption-config.md). */
class PreemptionConfigTest {

  private static final LabelSelector ALL = new LabelSelector.Requirements(List.of());
  private static final PreemptionTraits PLAIN = PreemptionTraits.NONE;

  private SchedulerFixture fixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    fixture.flavor("f");
  }

  private static CandidateSelector anywhere(Scope scope) {
    return new CandidateSelector(scope, Optional.empty(), ALL, List.of(), Optional.empty());
  }

  private static CandidateSelector with(NumericLabel number) {
    return new CandidateSelector(
        Scope.WITHIN_CLUSTER_QUEUE, Optional.empty(), ALL, List.of(number), Optional.empty());
  }

  private static CandidateSelector with(CandidatePriority priority) {
    return with(Scope.WITHIN_CLUSTER_QUEUE, priority);
  }

  private static CandidateSelector with(Scope scope, CandidatePriority priority) {
    return new CandidateSelector(scope, Optional.empty(), ALL, List.of(), Optional.of(priority));
  }

  private static NumericLabel rank(OptionalLong fallback, Comparison comparison) {
    return new NumericLabel(
        "rank", fallback, Optional.of(comparison), OptionalLong.empty(), OptionalLong.empty());
  }

  private static PreemptionRule rule(Trigger trigger, CandidateSelector... candidates) {
    return new PreemptionRule(ALL, ClassNames.ANY, trigger, List.of(candidates));
  }

  private static PreemptionRule always(CandidateSelector... candidates) {
    return rule(Trigger.ALWAYS, candidates);
  }

  private static LabelSelector label(String key, String value) {
    return new LabelSelector.Requirements(
        List.of(new LabelRequirement(key, LabelRequirement.Operator.IN, List.of(value))));
  }

  private static PreemptionTraits labeled(String value) {
    return new PreemptionTraits(Map.of("rank", value), Optional.empty(), 0, Optional.empty());
  }

  private void queue(String name, String cohort, long cpus, PreemptionRule... rules) {
    queue(name, cohort, cpus, PreemptionPolicies.NEVER, rules);
  }

  private void queue(
      String name, String cohort, long cpus, PreemptionPolicies policies, PreemptionRule... rules) {
    fixture.queue(
        name,
        cohort,
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withPreemptionConfig(Optional.of(new PreemptionConfig(List.of(rules)))),
        policies,
        quota("f", cpus));
  }

  private void submit(String name, String queue, PreemptionTraits traits, long priority) {
    submit(name, queue, 2, traits, priority);
  }

  private void submit(String name, String queue, long cpu, PreemptionTraits traits, long priority) {
    fixture.submit(
        name,
        queue,
        SchedulerFixture.shape(cpu).withPreemption(PreemptionRules.NONE.withTraits(traits)),
        priority);
  }

  /** Whom a Workload preempts that comes to a full queue, where somebody with other traits runs. */
  private List<String> preemptsIn(
      PreemptionRule rule, PreemptionTraits runs, PreemptionTraits comes) {
    queue("q", "", 2, rule);
    submit("runs", "q", runs, 0);
    assertThat(fixture.admitted()).containsExactly("runs");
    submit("comes", "q", comes, 0);
    assertThat(fixture.admitted()).isEmpty();
    return fixture.preempted();
  }

  /** Changes of 0.20, section 6. */
  @Test
  void anEmptyConfigAddsNone() {
    queue("q", "", 2);
    submit("runs", "q", PLAIN, 0);
    assertThat(fixture.admitted()).containsExactly("runs");
    submit("comes", "q", PLAIN, 9);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
  }

  @Test
  void aRuleWithoutConditionsTakesAnybody() {
    assertThat(preemptsIn(always(anywhere(Scope.WITHIN_CLUSTER_QUEUE)), PLAIN, PLAIN))
        .containsExactly("runs for comes: InClusterQueue");
  }

  @Test
  void onlySelectedPreemptorsPreempt() {
    PreemptionRule rule =
        new PreemptionRule(
            label("team", "a"),
            ClassNames.ANY,
            Trigger.ALWAYS,
            List.of(anywhere(Scope.WITHIN_CLUSTER_QUEUE)));
    assertThat(preemptsIn(rule, PLAIN, PLAIN)).isEmpty();
    submit(
        "selected",
        "q",
        new PreemptionTraits(Map.of("team", "a"), Optional.empty(), 0, Optional.empty()),
        0);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("runs for selected: InClusterQueue");
  }

  /** Three queues in a tree of two levels; {@code far} has all that {@code q} doesn't. */
  private List<String> preemptsInTree(CandidateSelector candidates) {
    fixture.cohort("root", "");
    fixture.cohort("near", "root");
    queue("q", "near", 0, always(candidates));
    queue("beside", "near", 2);
    queue("far", "root", 2);
    submit("near-by", "beside", PLAIN, 9);
    submit("far-off", "far", PLAIN, 0);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("near-by", "far-off");
    submit("hero", "q", PLAIN, 5);
    assertThat(fixture.admitted()).isEmpty();
    return fixture.preempted();
  }

  /** Changes of 0.20, section 6. */
  @Test
  void theParentCohortContainsItsQueuesInsideNominalQuota() {
    assertThat(preemptsInTree(anywhere(Scope.WITHIN_PARENT_COHORT)))
        .containsExactly("near-by for hero: InCohortReclamation");
  }

  @Test
  void theTreeContainsAllAndTheLowestPriorityGoesFirst() {
    assertThat(preemptsInTree(anywhere(Scope.WITHIN_COHORT_TREE)))
        .containsExactly("far-off for hero: InCohortReclamation");
  }

  /** Changes of 0.20, section 6: with fair sharing shares don't protect from a rule. */
  @Test
  void theTreeIsTheSameWithFairSharing() {
    shareFairly();
    assertThat(preemptsInTree(anywhere(Scope.WITHIN_COHORT_TREE)))
        .containsExactly("far-off for hero: InCohortReclamation");
  }

  private void shareFairly() {
    fixture =
        new SchedulerFixture(
            Optional.of(
                new FairSharing(List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)));
    oneFlavor();
  }

  /** Changes of 0.20, section 6: shares say who goes first, and rules add to that. */
  @Test
  void rulesAddToThoseWhomSharesLetGo() {
    shareFairly();
    fixture.queue("owner", "all", quota("f", 4));
    PreemptionPolicies reclaiming =
        new PreemptionPolicies(
            WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty());
    queue(
        "q",
        "all",
        2,
        reclaiming,
        rule(
            Trigger.INSUFFICIENT_QUOTA,
            with(
                Scope.WITHIN_COHORT_TREE,
                new CandidatePriority(true, Optional.of(Comparison.LESS_THAN), ClassNames.ANY))));
    fixture.queue("borrower", "all", quota("f", 0));
    submit("steady", "owner", PLAIN, 0);
    submit("important", "owner", PLAIN, 9);
    submit("borrows", "borrower", PLAIN, 9);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("steady", "important", "borrows");

    submit("small", "q", 2, PLAIN, 5);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("borrows for small: InCohortReclamation");
    fixture.finish("borrows");
    assertThat(fixture.admitted()).containsExactly("small");

    submit("large", "q", 2, PLAIN, 5);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("steady for large: InCohortReclamation");
  }

  @Test
  void anyClusterQueueContainsTheTree() {
    assertThat(preemptsInTree(anywhere(Scope.ANY_CLUSTER_QUEUE)))
        .containsExactly("far-off for hero: InCohortReclamation");
  }

  @Test
  void theClusterQueueContainsNoOther() {
    assertThat(preemptsInTree(anywhere(Scope.WITHIN_CLUSTER_QUEUE))).isEmpty();
  }

  @Test
  void queuesAreSelectedByName() {
    assertThat(
            preemptsInTree(
                new CandidateSelector(
                    Scope.WITHIN_COHORT_TREE,
                    Optional.of(Set.of("beside")),
                    ALL,
                    List.of(),
                    Optional.empty())))
        .containsExactly("near-by for hero: InCohortReclamation");
  }

  @Test
  void aLocalQueueIsLessThanItsClusterQueue() {
    queue("q", "", 2, always(anywhere(Scope.WITHIN_LOCAL_QUEUE)));
    fixture.tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "other"), "q", StopPolicy.NONE)));
    submit("runs", "q", of("q"), 0);
    assertThat(fixture.admitted()).containsExactly("runs");
    submit("of-other", "other", of("other"), 0);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    submit("same", "q", of("q"), 0);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("runs for same: InClusterQueue");
  }

  /** Its Workloads of before have quota of a ClusterQueue that is none of it any more. */
  @Test
  void aLocalQueueThatWasMovedContainsItsClusterQueueAlone() {
    CandidateSelector ofNobody =
        new CandidateSelector(
            Scope.WITHIN_COHORT_TREE, Optional.of(Set.of()), ALL, List.of(), Optional.empty());
    queue("before", "team", 2);
    queue("after", "team", 0, always(anywhere(Scope.WITHIN_LOCAL_QUEUE), ofNobody));
    fixture.tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "moved"), "before", StopPolicy.NONE)));
    submit("runs", "moved", of("moved"), 0);
    assertThat(fixture.admitted()).containsExactly("runs");
    fixture.tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "moved"), "after", StopPolicy.NONE)));
    submit("comes", "moved", of("moved"), 9);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
  }

  private static PreemptionTraits of(String localQueue) {
    return new PreemptionTraits(
        Map.of(), Optional.empty(), 0, Optional.of(new LocalQueueId("ns", localQueue)));
  }

  /** Changes of 0.20, section 6. */
  @Test
  void selectorsAreUnited() {
    queue(
        "q",
        "",
        4,
        always(
            with(rank(OptionalLong.empty(), Comparison.LESS_THAN)),
            with(new CandidatePriority(true, Optional.of(Comparison.LESS_THAN), ClassNames.ANY))));
    submit("by-rank", "q", labeled("0"), 5);
    submit("by-priority", "q", PLAIN, 1);
    fixture.admitted();
    submit("comes", "q", 4, labeled("9"), 2);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted())
        .containsExactlyInAnyOrder(
            "by-rank for comes: InClusterQueue", "by-priority for comes: InClusterQueue");
  }

  /** Changes of 0.20, section 6. */
  @Test
  void rulesForShortQuotaAreTriedAfterThePolicies() {
    PreemptionPolicies lower =
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY,
            ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty());
    queue(
        "q", "", 4, lower, rule(Trigger.INSUFFICIENT_QUOTA, anywhere(Scope.WITHIN_CLUSTER_QUEUE)));
    submit("same", "q", PLAIN, 5);
    submit("low", "q", PLAIN, 1);
    fixture.admitted();
    submit("small", "q", 2, PLAIN, 5);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("low for small: InClusterQueue");
    fixture.finish("low");
    assertThat(fixture.admitted()).containsExactly("small");

    submit("large", "q", 4, PLAIN, 5);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted())
        .containsExactlyInAnyOrder(
            "same for large: InClusterQueue", "small for large: InClusterQueue");
  }

  /** Changes of 0.20, section 6. */
  @Test
  void rulesForTopologyDontHelpAgainstShortQuota() {
    assertThat(
            preemptsIn(
                rule(
                    Trigger.QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY,
                    anywhere(Scope.WITHIN_CLUSTER_QUEUE)),
                PLAIN,
                PLAIN))
        .isEmpty();
  }

  @Test
  void whatProtectsFromPoliciesProtectsFromRules() {
    PreemptionRules minRunTime =
        new PreemptionRules(
            Optional.of(Duration.ofSeconds(30)), Optional.empty(), Optional.empty(), false);
    fixture.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT
            .withQuota(QuotaRules.DEFAULT.withPreemption(minRunTime))
            .withPreemptionConfig(
                Optional.of(
                    new PreemptionConfig(List.of(always(anywhere(Scope.WITHIN_CLUSTER_QUEUE)))))),
        quota("f", 2));
    submit("runs", "q", PLAIN, 5);
    assertThat(fixture.admitted()).containsExactly("runs");
    submit("comes", "q", PLAIN, 0);
    fixture.passed(Duration.ofSeconds(29));
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    assertThat(fixture.explanation("comes").orElseThrow().detail())
        .endsWith(
            "protects, the first of them until " + SchedulerFixture.START.plusSeconds(30) + ")");
    fixture.passed(Duration.ofSeconds(30));
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("runs for comes: InClusterQueue");
  }

  @Test
  void aChangedConfigHasPendingWorkloadsLookedAt() {
    queue("q", "", 2);
    submit("runs", "q", PLAIN, 0);
    assertThat(fixture.admitted()).containsExactly("runs");
    submit("comes", "q", PLAIN, 0);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    queue("q", "", 2, always(anywhere(Scope.WITHIN_CLUSTER_QUEUE)));
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("runs for comes: InClusterQueue");
  }
}
