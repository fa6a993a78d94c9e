package dev.sluice.workload.feed;

import static dev.sluice.workload.Templates.workload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.api.config.Resources;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.workload.Templates;
import dev.sluice.workload.feed.TranslationOptions.WorkloadRules;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import dev.sluice.workload.record.UnsupportedRequests;
import dev.sluice.workload.record.WorkloadCache;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which fact a Workload is (docs/scheduling-semantics.md#what-is-pending). */
class WorkloadTranslatorTest {

  private static final String PENDING =
      """
      metadata:
        name: sample
        namespace: team
        uid: uid-1
        resourceVersion: "7"
        creationTimestamp: "2026-03-01T10:00:00Z"
        annotations: {kueue.x-k8s.io/priority-boost: "5"}
      spec:
        queueName: training
        priority: 10
        podSets:
        - name: main
          count: 3
          minCount: 2
          template: {spec: {containers: [{name: a, resources: {requests: {cpu: 500m}}}]}}
      """;
  private static final String RESERVING =
      PENDING
          + """
          status:
            admission:
              clusterQueue: research
              podSetAssignments:
              - {name: main, count: 3, flavors: {cpu: spot}, resourceUsage: {cpu: "3"}}
            conditions:
            - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-03-01T11:00:00Z"}
          """;

  private final Templates.Context context = new Templates.Context();
  private final WorkloadTranslator facts =
      new WorkloadTranslator(context, TranslationOptions.DEFAULT);

  private PendingWorkload pending(String yaml) {
    SchedulerEvent schedulerEvent = facts.of(workload(yaml));
    assertThat(schedulerEvent).isInstanceOf(SchedulerEvent.WorkloadPending.class);
    return ((SchedulerEvent.WorkloadPending) schedulerEvent).workload();
  }

  private ReservingWorkload reserving(String yaml) {
    SchedulerEvent schedulerEvent = facts.of(workload(yaml));
    assertThat(schedulerEvent).isInstanceOf(SchedulerEvent.WorkloadReserving.class);
    return ((SchedulerEvent.WorkloadReserving) schedulerEvent).workload();
  }

  private static String condition(String fields) {
    return PENDING + "status: {conditions: [{" + fields + "}]}\n";
  }

  @Test
  void whatWaitsIsPending() {
    PendingWorkload pending = pending(PENDING);

    assertThat(pending.version()).isEqualTo(7);
    assertThat(pending.queueName()).isEqualTo("training");
    assertThat(pending.priority()).as("without the gate of boosts").isEqualTo(10);
    assertThat(pending.queuedAt()).isEqualTo(Instant.parse("2026-03-01T10:00:00Z"));
    assertThat(pending.held()).isFalse();
    assertThat(pending.notBefore()).isEmpty();
    assertThat(pending.defect()).isEmpty();
    PodSetRequest request = pending.shape().podSets().getFirst();
    assertThat(request.count()).isEqualTo(3);
    assertThat(request.minCount()).isEqualTo(2);
    assertThat(request.perPod()).isEqualTo(Map.of("cpu", 500L));
  }

  /** Workloads that were deleted are remembered, too: a number of them would bound no memory. */
  @Test
  void largePodSetsAreForgottenSooner() {
    for (int i = 0; i < 400; i++) {
      pending(PENDING.replace("{cpu: 500m}", "{cpu: " + (i + 1) + "m}"));
    }
    assertThat(facts.remembered()).isEqualTo(400);

    String nodes = "nodeSelector: {rack: r%d-" + "x".repeat(500_000) + "}";
    for (int i = 0; i < 40; i++) {
      pending(PENDING.replace("{spec: {", "{spec: {" + nodes.formatted(i) + ", "));
    }
    assertThat(facts.remembered()).isLessThanOrEqualTo(34);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "type: WaitingForReplacementPods, status: 'True', reason: PodsFailed",
        "type: QuotaReserved, status: 'False', reason: OnHold",
        "type: QuotaReserved, status: 'False', reason: AdmissionGated"
      })
  void someConditionsKeepItOut(String condition) {
    assertThat(facts.of(workload(condition(condition))))
        .isEqualTo(new SchedulerEvent.WorkloadReleased(workload(PENDING).id(), 7));
  }

  @Test
  void whatHasEndedDoesNotComeBack() {
    assertThat(facts.of(workload(condition("type: Finished, status: 'True', reason: Succeeded"))))
        .isEqualTo(new SchedulerEvent.WorkloadReleased(workload(PENDING).id(), Long.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "  priority: 10 | '  active: false'",
        "  queueName: training | '  queueName: \"\"'",
        "  uid: uid-1 | '  {uid: uid-1, deletionTimestamp: \"2026-03-01T10:00:00Z\"}'",
        "kueue.x-k8s.io/priority-boost: \"5\" | kueue.x-k8s.io/admission-gated-by:"
            + " \"example.com/a\""
      })
  void soDoInactivityGatesDeletionAndNoQueue(String field, String other) {
    String changed =
        other.contains("{uid")
            ? PENDING.replace(
                "  uid: uid-1", "  uid: uid-1\n  deletionTimestamp: \"2026-03-01T10:00:00Z\"")
            : PENDING.replace(field.strip(), other.strip());
    assertThat(changed).isNotEqualTo(PENDING);
    assertThat(facts.of(workload(changed))).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
  }

  /** docs/workload-lifecycle.md: gate AdmissionGatedBy. */
  @Test
  void aGateKeepsNothingOutWithoutTheFeatureGate() {
    WorkloadTranslator ungated =
        new WorkloadTranslator(
            context, TranslationOptions.DEFAULT.with(FeatureGate.ADMISSION_GATED_BY, false));
    String gated =
        PENDING.replace("priority-boost: \"5\"", "admission-gated-by: \"example.com/a\"");
    assertThat(ungated.of(workload(gated))).isInstanceOf(SchedulerEvent.WorkloadPending.class);
  }

  @Test
  void aGateWithoutItemsIsNone() {
    assertThat(pending(PENDING.replace("priority-boost: \"5\"", "admission-gated-by: \"\"")).held())
        .isFalse();
  }

  @Test
  void aBackOffIsKept() {
    assertThat(
            pending(PENDING + "status: {requeueState: {requeueAt: '2026-03-01T12:00:00Z'}}\n")
                .notBefore())
        .contains(Instant.parse("2026-03-01T12:00:00Z"));
    assertThat(pending(condition("type: Requeued, status: 'False', reason: Deactivated")).held())
        .isTrue();
    assertThat(pending(condition("type: Requeued, status: 'True', reason: Reactivated")).held())
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "PodsReadyTimeout, 2026-03-01T11:00:00Z",
    "AdmissionCheck, 2026-03-01T11:00:00Z",
    "Preempted, 2026-03-01T10:00:00Z",
    "Deactivated, 2026-03-01T10:00:00Z"
  })
  void someEvictionsSendItToTheEndOfItsPriority(String reason, Instant queuedAt) {
    String evicted =
        "type: Evicted, status: 'True', lastTransitionTime: '2026-03-01T11:00:00Z', reason: ";
    assertThat(pending(condition(evicted + reason)).queuedAt()).isEqualTo(queuedAt);
    assertThat(pending(condition(evicted.replace("True", "False") + reason)).queuedAt())
        .isEqualTo(Instant.parse("2026-03-01T10:00:00Z"));
  }

  @Test
  void boostsCountWithTheirGateAndDoNotOverflow() {
    WorkloadTranslator boosted =
        new WorkloadTranslator(
            context, TranslationOptions.DEFAULT.with(FeatureGate.PRIORITY_BOOST, true));
    String highest =
        PENDING.replace("priority: 10", "priority: 2147483647").replace("\"5\"", "\"2147483647\"");
    assertThat(
            ((SchedulerEvent.WorkloadPending) boosted.of(workload(highest))).workload().priority())
        .isEqualTo(2L * Integer.MAX_VALUE);
  }

  /** Its owner may have moved it there from a queue in which it became old. */
  @ParameterizedTest
  @CsvSource({"'', 10", "'1h,1,3', 13", "'1h,1,9', 15"})
  void whatWasAddedForAgeCountsAsFarAsTheQueueAddsIt(String aging, long priority) {
    StartRules rules = StartRules.of(Map.of("sluice.dev/priority-aging", aging));
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT.with(FeatureGate.PRIORITY_BOOST, true),
            workload -> Set.of(),
            UnsupportedRequests.NONE,
            workload -> true,
            new WorkloadRules(
                workload -> rules, workload -> Optional.empty(), workload -> Optional.empty()));
    String aged = PENDING.replace("\"5\"", "\"5\", sluice.dev/aged-by: \"5\"");
    assertThat(
            ((SchedulerEvent.WorkloadPending) translator.of(workload(aged))).workload().priority())
        .isEqualTo(priority);
    assertThat(
            ((SchedulerEvent.WorkloadPending) translator.of(workload(PENDING)))
                .workload()
                .priority())
        .as("a boost of somebody else")
        .isEqualTo(15);
  }

  @Test
  void reclaimablePodsNeedNothingMore() {
    PodSetRequest request =
        pending(PENDING + "status: {reclaimablePods: [{name: main, count: 2}]}\n")
            .shape()
            .podSets()
            .getFirst();
    assertThat(request.count()).isEqualTo(1);
    assertThat(request.minCount()).isEqualTo(1);
  }

  /** Changes of 0.20, section 2: the fewest may be none; without minCount it is all. */
  @ParameterizedTest
  @CsvSource({"'minCount: 0', 0", "'', 3", "'minCount: 2', 2"})
  void minCountMayBeNone(String minCount, int fewest) {
    String workload = PENDING.replace("minCount: 2", minCount);
    assertThat(pending(workload).shape().podSets().getFirst().minCount()).isEqualTo(fewest);
  }

  @Test
  void reclaimablePodsKeepTheirQuotaWithoutTheGate() {
    WorkloadTranslator keeping =
        new WorkloadTranslator(
            context, TranslationOptions.DEFAULT.with(FeatureGate.RECLAIMABLE_PODS, false));
    String done = PENDING + "status: {reclaimablePods: [{name: main, count: 2}]}\n";

    assertThat(
            ((SchedulerEvent.WorkloadPending) keeping.of(workload(done)))
                .workload()
                .shape()
                .podSets()
                .getFirst()
                .count())
        .isEqualTo(3);
  }

  @Test
  void equalWishesShareOneShape() {
    assertThat(pending(PENDING).shape())
        .isSameAs(pending(PENDING.replace("sample", "other")).shape());
  }

  @Test
  void theRulesOfTheNamespaceCountAsTheyAreNow() {
    assertThat(pending(PENDING).defect()).isEmpty();

    context.rules(
        "team",
        new NamespaceLimits(
            new ItemRules(Map.of("cpu", 400L), Map.of(), Map.of(), Map.of(), Map.of("memory", 9L)),
            ItemRules.NONE));

    assertThat(pending(PENDING).defect()).get().asString().contains("LimitRange maximum 400m");
    assertThat(pending(PENDING).shape().podSets().getFirst().perPod())
        .isEqualTo(Map.of("cpu", 500L, "memory", 9L));
  }

  @Test
  void totalsAreByPodSetAndResource() {
    assertThat(facts.totals(workload(PENDING))).isEqualTo(Map.of("main", Map.of("cpu", 1500L)));
  }

  @Test
  void whatHoldsQuotaUsesWhatItWasAssigned() {
    ReservingWorkload reserving = reserving(RESERVING);

    assertThat(reserving.clusterQueue()).isEqualTo("research");
    assertThat(reserving.admitted()).isFalse();
    assertThat(reserving.reservedAt()).isEqualTo(Instant.parse("2026-03-01T11:00:00Z"));
    assertThat(reserving.podSets().getFirst().flavors()).isEqualTo(Map.of("cpu", "spot"));
    assertThat(reserving.podSets().getFirst().usage()).isEqualTo(Map.of("cpu", 3000L));
  }

  @ParameterizedTest
  @CsvSource({"3, 3, 1, 2000", "3, 3, 3, 0", "3, 3, 0, 3000", "2, 3, 1, 3000", "2, 3, 2, 1500"})
  void lessWhatItsReclaimablePodsNoLongerNeed(int assigned, int count, int reclaimable, long cpu) {
    String yaml =
        RESERVING
                .replace("count: 3, flavors", "count: " + assigned + ", flavors")
                .replace("    count: 3\n", "    count: " + count + "\n")
            + "  reclaimablePods: [{name: main, count: "
            + reclaimable
            + "}]\n";
    assertThat(reserving(yaml).podSets().getFirst().usage()).isEqualTo(Map.of("cpu", cpu));
  }

  @Test
  void whatHoldsQuotaKeepsItWhileItIsDeletedOrDeactivatedUntilItHasStopped() {
    assertThat(reserving(RESERVING.replace("  priority: 10", "  active: false")).clusterQueue())
        .isEqualTo("research");
  }

  @Test
  void theFlavorsOfClustersThatItAvoidsAreExcludedByEveryTermOfItsAffinity() {
    WorkloadTranslator avoiding =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT,
            workload -> Set.of("here"),
            UnsupportedRequests.NONE,
            workload -> true);

    SchedulerEvent schedulerEvent = avoiding.of(workload(PENDING));

    assertThat(((SchedulerEvent.WorkloadPending) schedulerEvent).workload().shape().podSets())
        .allSatisfy(
            podSet ->
                assertThat(podSet.nodeConstraints().affinityTerms())
                    .isNotEmpty()
                    .allSatisfy(
                        term ->
                            assertThat(term)
                                .contains(
                                    new LabelRequirement(
                                        "sluice.dev/worker-cluster",
                                        LabelRequirement.Operator.NOT_IN,
                                        List.of("here")))));
    assertThat(pending(PENDING).shape().podSets().getFirst().nodeConstraints().affinityTerms())
        .noneMatch(term -> term.toString().contains("sluice.dev"));
  }

  @Test
  void flavorsWhoseNodesWereRefusedAreExcludedByName() {
    String refused =
        PENDING.replace(
            "annotations: {",
            "annotations: {sluice.dev/flavors-without-nodes: 'spot=2026-03-01T10:00:00Z', ");
    assertThat(refused).isNotEqualTo(PENDING);

    assertThat(pending(refused).shape().podSets())
        .isNotEmpty()
        .allSatisfy(
            podSet ->
                assertThat(podSet.nodeConstraints().affinityTerms())
                    .isNotEmpty()
                    .allSatisfy(
                        term ->
                            assertThat(term)
                                .contains(
                                    new LabelRequirement(
                                        NodeConstraints.FLAVOR,
                                        LabelRequirement.Operator.NOT_IN,
                                        List.of("spot")))));
  }

  /** In Kubernetes such a term matches no node; with a requirement on a label it would match. */
  @Test
  void aTermThatRequiresNothingStillMatchesNoNodeWhereClustersAreAvoided() {
    WorkloadTranslator avoiding =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT,
            workload -> Set.of("here"),
            UnsupportedRequests.NONE,
            workload -> true);
    String terms =
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
            + " {nodeSelectorTerms: [{}, {matchExpressions: [{key: disk, operator: Exists}]},"
            + " {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}";

    NodeConstraints constraints =
        ((SchedulerEvent.WorkloadPending)
                avoiding.of(workload(PENDING.replace("{spec: {", "{spec: {" + terms + ", "))))
            .workload()
            .shape()
            .podSets()
            .getFirst()
            .nodeConstraints();

    assertThat(constraints.affinityTerms())
        .hasSize(3)
        .allMatch(term -> term.toString().contains("sluice.dev/worker-cluster"));
    assertThat(constraints.fieldsOf(0))
        .containsExactly(
            new LabelRequirement("metadata.name", LabelRequirement.Operator.IN, List.of()));
    assertThat(constraints.fieldsOf(1)).isEmpty();
    assertThat(constraints.fieldsOf(2))
        .containsExactly(
            new LabelRequirement("metadata.name", LabelRequirement.Operator.IN, List.of("n1")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          required: rack, podIndexLabel: i | REQUIRED | rack |
          preferred: rack | PREFERRED | rack |
          unconstrained: true | UNCONSTRAINED | |
          unconstrained: false | NONE | |
          podSetSliceRequiredTopology: rack | SLICES | | rack=1
          required: block, podSetSliceRequiredTopology: rack, podSetSliceSize: 2 | REQUIRED | block | rack=2
          podsetSliceRequiredTopologyConstraints: [{topology: rack, size: 4}, {topology: host, size: 2}] | SLICES | | rack=4 host=2
          podsetSliceRequiredTopologyConstraints: [7, {}] | SLICES | | =1 =1
          required: 7, preferred: {} | REQUIRED | 7 |
          """)
  void aTopologyRequestIsTranslated(String request, String mode, String level, String slices) {
    String yaml =
        PENDING.replace("minCount: 2\n", "minCount: 2\n    topologyRequest: {" + request + "}\n");
    WorkloadTranslator translator = new WorkloadTranslator(context, TranslationOptions.DEFAULT);

    TopologyRequest topology =
        ((SchedulerEvent.WorkloadPending) translator.of(workload(yaml)))
            .workload()
            .shape()
            .podSets()
            .getFirst()
            .topology();

    assertThat(topology.mode()).hasToString(mode);
    assertThat(topology.level()).isEqualTo(level == null ? "" : level);
    assertThat(
            topology.slices().stream()
                .map(slice -> slice.level() + "=" + slice.size())
                .collect(Collectors.joining(" ")))
        .isEqualTo(slices == null ? "" : slices);
  }

  @Test
  void anAssignmentIsReadBack() {
    String reserving =
        PENDING
            + """
            status:
              conditions: [{type: QuotaReserved, status: "True"}]
              unhealthyNodes: [{name: n1}]
              admission:
                clusterQueue: cq
                podSetAssignments:
                - name: main
                  count: 3
                  flavors: {cpu: f}
                  resourceUsage: {cpu: "3"}
                  delayedTopologyRequest: Ready
                  topologyAssignment:
                    levels: [kubernetes.io/hostname]
                    slices:
                    - domainCount: 2
                      podCounts: {individual: [1, 2]}
                      valuesPerLevel: [{individual: {prefix: n, roots: ["1", "2"]}}]
            """;
    PodSetTopology topology =
        ((SchedulerEvent.WorkloadReserving)
                new WorkloadTranslator(context, TranslationOptions.DEFAULT).of(workload(reserving)))
            .workload()
            .podSets()
            .getFirst()
            .topology();
    assertThat(topology.delay()).isEqualTo(PodSetTopology.Delay.READY);
    assertThat(topology.perPod()).containsKey("cpu");
    assertThat(topology.assignment())
        .contains(
            new TopologyAssignment(
                List.of("kubernetes.io/hostname"),
                List.of(
                    new TopologyAssignment.Domain(List.of("n1"), 1),
                    new TopologyAssignment.Domain(List.of("n2"), 2))));
    assertThat(workload(reserving).status().unhealthyNodes()).containsExactly("n1");
  }

  @Test
  void anElasticJobIsKeptWaiting() {
    String yaml =
        PENDING.replace("annotations: {", "annotations: {kueue.x-k8s.io/elastic-job: \"true\", ");

    assertThat(defect(yaml, false)).contains("kueue.x-k8s.io/elastic-job");
    assertThat(defect(PENDING, false)).isEmpty();
  }

  private String defect(String yaml, boolean elsewhere) {
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT,
            workload -> Set.of(),
            new UnsupportedRequests(workload -> true, workload -> elsewhere),
            workload -> true);
    return ((SchedulerEvent.WorkloadPending) translator.of(workload(yaml)))
        .workload()
        .defect()
        .orElse("");
  }

  private static final String PREEMPTED =
      "- {type: sluice.dev/PreemptedAt, status: 'True', reason: Preempted, message: '%s',"
          + " lastTransitionTime: '2026-03-01T10:00:00Z'}\n";

  private PreemptionHistory history(String conditions, Optional<PreemptionRules> rules) {
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT,
            workload -> Set.of(),
            UnsupportedRequests.NONE,
            workload -> true,
            new WorkloadRules(
                workload -> StartRules.NONE, workload -> rules, workload -> Optional.empty()));
    String yaml = PENDING + "status:\n  conditions:\n" + conditions.indent(2);
    return ((SchedulerEvent.WorkloadPending) translator.of(workload(yaml))).workload().history();
  }

  @Test
  void whatHappenedIsToldWhereRulesOfPreemptionDependOnIt() {
    String evicted =
        "- {type: Evicted, status: 'True', reason: Preempted,"
            + " lastTransitionTime: '2026-03-01T11:00:00Z'}\n";
    String conditions = evicted + PREEMPTED.formatted("2026-03-01T11:00:00Z, 2026-03-01T09:00:00Z");

    assertThat(history(conditions, Optional.of(PreemptionRules.NONE)))
        .isEqualTo(
            new PreemptionHistory(
                Optional.of(Instant.parse("2026-03-01T11:00:00Z")),
                List.of(
                    Instant.parse("2026-03-01T09:00:00Z"), Instant.parse("2026-03-01T11:00:00Z"))));
    assertThat(history(conditions, Optional.empty()))
        .as("since when it waits is told of all")
        .isEqualTo(
            new PreemptionHistory(Optional.of(Instant.parse("2026-03-01T11:00:00Z")), List.of()));
    assertThat(history(PREEMPTED.formatted("2026-03-01T09:00:00Z"), Optional.empty()))
        .isSameAs(PreemptionHistory.NONE);
  }

  /** Its quota is held until its job has stopped. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {"'True' | Preempted", "'False' | PodsReadyTimeout"})
  void whoWasEvictedWaitsSinceItsJobHasStopped(String requeued, String reason) {
    String conditions =
        """
        - {type: Evicted, status: 'True', reason: %2$s, lastTransitionTime: '2026-03-01T11:00:00Z'}
        - {type: Requeued, status: %1$s, reason: %2$s, lastTransitionTime: '2026-03-01T11:20:00Z'}
        """
            .formatted(requeued, reason);
    assertThat(history(conditions, Optional.empty()).since())
        .contains(Instant.parse("2026-03-01T11:20:00Z"));
  }

  @Test
  void timesThatCannotBeReadAreLeftOut() {
    assertThat(
            history(
                    PREEMPTED.formatted("yesterday, 2026-03-01T09:00:00Z, , 99"),
                    Optional.of(PreemptionRules.NONE))
                .preemptedAt())
        .containsExactly(Instant.parse("2026-03-01T09:00:00Z"));
    assertThat(
            history(
                    PREEMPTED.formatted("2026-03-01T09:00:00Z, ".repeat(5_000)),
                    Optional.of(PreemptionRules.NONE))
                .preemptedAt())
        .isEmpty();
  }

  @Test
  void timesAtWhichNobodyWasPreemptedAreLeftOut() {
    assertThat(
            history(
                    PREEMPTED.formatted(
                        "+999999999-12-31T23:59:59Z, -999999999-01-01T00:00:00Z,"
                            + " 1969-12-31T23:59:59Z, 9999-12-31T23:59:59Z,"
                            + " 2026-03-02T10:00:01Z, 2026-03-01T09:00:00Z"),
                    Optional.of(PreemptionRules.NONE))
                .preemptedAt())
        .containsExactly(Instant.parse("2026-03-01T09:00:00Z"));
  }

  private Optional<Instant> runsSince(String podsReady) {
    return runsSince(TranslationOptions.DEFAULT, podsReady);
  }

  private Optional<Instant> runsSince(TranslationOptions options, String podsReady) {
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            options,
            workload -> Set.of(),
            UnsupportedRequests.NONE,
            workload -> true,
            new WorkloadRules(
                workload -> StartRules.NONE,
                workload -> Optional.of(PreemptionRules.NONE),
                workload -> Optional.empty()));
    String yaml =
        PENDING
            + """
            status:
              admission: {clusterQueue: cq, podSetAssignments: []}
              conditions:
              - {type: QuotaReserved, status: 'True', lastTransitionTime: '2026-03-01T10:00:00Z'}
              - {type: Admitted, status: 'True', lastTransitionTime: '2026-03-01T10:01:00Z'}
              - {type: PodsReady, %s, lastTransitionTime: '2026-03-01T10:30:00Z'}
            """
                .formatted(podsReady);
    return ((SchedulerEvent.WorkloadReserving) translator.of(workload(yaml)))
        .workload()
        .protection()
        .history()
        .since();
  }

  @Test
  void podsThatFailAndRecoverBeginNoNewRun() {
    assertThat(runsSince("status: 'True', reason: Started"))
        .contains(Instant.parse("2026-03-01T10:30:00Z"));
    assertThat(runsSince("status: 'False', reason: WaitForRecovery"))
        .contains(Instant.parse("2026-03-01T10:01:00Z"));
    assertThat(runsSince("status: 'True', reason: Recovered"))
        .contains(Instant.parse("2026-03-01T10:01:00Z"));
  }

  /** Time axis, section 9: no target before its pods were ready for so long. */
  @Test
  void runBeginsAtTheTimeoutWhilePodsAreAwaited() {
    TranslationOptions waiting =
        new TranslationOptions(
            FeatureGates.DEFAULT,
            Resources.PLAIN,
            Optional.of(
                new WaitForPodsReady(
                    Duration.ofMinutes(40),
                    false,
                    Duration.ofMinutes(40),
                    new WaitForPodsReady.Requeuing(
                        true, Optional.empty(), Duration.ZERO, Duration.ZERO))),
            false);
    assertThat(runsSince(waiting, "status: 'False', reason: WaitForStart"))
        .contains(Instant.parse("2026-03-01T10:41:00Z"));
    assertThat(runsSince(waiting, "status: 'True', reason: Started"))
        .contains(Instant.parse("2026-03-01T10:30:00Z"));
    assertThat(runsSince(waiting, "status: 'False', reason: WaitForRecovery"))
        .contains(Instant.parse("2026-03-01T10:01:00Z"));
    assertThat(runsSince("status: 'False', reason: WaitForStart"))
        .contains(Instant.parse("2026-03-01T10:01:00Z"));
  }

  private static CachedWorkload slice(
      String name, String job, String replaced, int hour, String more) {
    return workload(
        """
        metadata:
          name: %s
          namespace: team
          uid: uid-%s
          resourceVersion: "5"
          creationTimestamp: "2026-03-01T09:00:00Z"
          annotations:
            kueue.x-k8s.io/elastic-job: "true"
            kueue.x-k8s.io/workload-slice-replacement-for: team/%s
          ownerReferences:
          - {apiVersion: batch/v1, kind: Job, name: %s, uid: uid-%s, controller: true}
        spec: {queueName: training, podSets: []}
        status:
          admission: {clusterQueue: cq, podSetAssignments: []}
          conditions:
          - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-03-01T%s:00:00Z"}
          - {type: Admitted, status: "True", lastTransitionTime: "2026-03-01T%s:01:00Z"}
        """
                .formatted(name, name, replaced, job, job, hour, hour)
            + more);
  }

  private PreemptionHistory historyOf(CachedWorkload slice, CachedWorkload... known) {
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT.with(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES, true),
            workload -> Set.of(),
            UnsupportedRequests.NONE,
            workload -> true,
            new WorkloadRules(
                workload -> StartRules.NONE,
                workload -> Optional.of(PreemptionRules.NONE),
                workload ->
                    Stream.of(known)
                        .filter(other -> other.id().name().equals(workload.replacedSlice()))
                        .findFirst()));
    return ((SchedulerEvent.WorkloadReserving) translator.of(slice))
        .workload()
        .protection()
        .history();
  }

  private static String finished(int hour) {
    return "  - {type: Finished, status: 'True', reason: WorkloadSliceReplaced,"
        + " lastTransitionTime: '2026-03-01T"
        + hour
        + ":02:00Z'}\n";
  }

  @Test
  void aSliceGoesOnWithTheRunAndThePreemptionsOfTheOneThatItReplaces() {
    CachedWorkload third = slice("c", "job", "b", 12, "");
    CachedWorkload second =
        slice(
            "b", "job", "a", 11, finished(12) + "  " + PREEMPTED.formatted("2026-03-01T09:30:00Z"));
    CachedWorkload first =
        slice(
            "a", "job", "c", 10, finished(11) + "  " + PREEMPTED.formatted("2026-03-01T09:10:00Z"));

    assertThat(historyOf(third, first, second, third))
        .isEqualTo(
            new PreemptionHistory(
                Optional.of(Instant.parse("2026-03-01T10:01:00Z")),
                List.of(
                    Instant.parse("2026-03-01T09:10:00Z"), Instant.parse("2026-03-01T09:30:00Z"))));
    assertThat(historyOf(third, first).since())
        .as("slices that nobody knows any more")
        .contains(Instant.parse("2026-03-01T12:01:00Z"));
  }

  @Test
  void aSliceThatGetsQuotaAgainLaterBeginsANewRun() {
    CachedWorkload second = slice("b", "job", "a", 12, "");
    String preempted = "  " + PREEMPTED.formatted("2026-03-01T09:10:00Z");

    assertThat(historyOf(second, slice("a", "job", "", 10, finished(11) + preempted)))
        .isEqualTo(
            new PreemptionHistory(
                Optional.of(Instant.parse("2026-03-01T12:01:00Z")),
                List.of(Instant.parse("2026-03-01T09:10:00Z"))));
    assertThat(
            historyOf(
                    second,
                    slice(
                        "a",
                        "job",
                        "",
                        10,
                        "  - {type: Evicted, status: 'True', reason: Preempted,"
                            + " lastTransitionTime: '2026-03-01T11:00:00Z'}\n"))
                .since())
        .contains(Instant.parse("2026-03-01T12:01:00Z"));
  }

  @Test
  void aSliceTakesNothingOverFromAnotherJob() {
    CachedWorkload stranger =
        slice(
            "a",
            "other",
            "",
            10,
            finished(12) + "  " + PREEMPTED.formatted("2026-03-01T09:10:00Z"));
    assertThat(historyOf(slice("b", "job", "a", 12, ""), stranger))
        .isEqualTo(
            new PreemptionHistory(Optional.of(Instant.parse("2026-03-01T12:01:00Z")), List.of()));
  }

  @Test
  void nobodyWaitsForThePodsOfAWorkloadThatNobodyAttendsTo() {
    TranslationOptions waiting =
        new TranslationOptions(
            FeatureGates.DEFAULT,
            Resources.PLAIN,
            Optional.of(
                new WaitForPodsReady(
                    Duration.ofMinutes(5),
                    true,
                    Duration.ZERO,
                    new WaitForPodsReady.Requeuing(
                        true, Optional.empty(), Duration.ZERO, Duration.ZERO))),
            false);
    for (boolean attended : List.of(true, false)) {
      WorkloadTranslator translator =
          new WorkloadTranslator(
              context,
              waiting,
              workload -> Set.of(),
              UnsupportedRequests.NONE,
              workload -> attended);
      assertThat(
              ((SchedulerEvent.WorkloadReserving) translator.of(workload(RESERVING)))
                  .workload()
                  .podsReady())
          .isEqualTo(!attended);
    }
  }

  @Test
  void aWorkloadThatSaysThatItIsNotPreemptibleIsGuaranteed() {
    String label = "labels: {quota.scheduling.koordinator.sh/preemptible: 'false'}";
    assertThat(pending(PENDING).shape().guaranteed()).isFalse();
    assertThat(
            pending(PENDING.replace("annotations: {", label + "\n  annotations: {"))
                .shape()
                .guaranteed())
        .isTrue();
  }

  @Test
  void aQueueWithAStartTimeoutKeepsTheOrderOfCreation() {
    String evicted =
        PENDING
            + "status: {conditions: [{type: Evicted, status: 'True', reason: PodsReadyTimeout,"
            + " lastTransitionTime: '2026-03-01T11:00:00Z'}]}\n";
    for (StartRules rules :
        List.of(StartRules.NONE, StartRules.of(Map.of(QueueAnnotations.START_TIMEOUT, "5m")))) {
      WorkloadTranslator translator =
          new WorkloadTranslator(
              context,
              TranslationOptions.DEFAULT,
              workload -> Set.of(),
              UnsupportedRequests.NONE,
              workload -> true,
              new WorkloadRules(
                  workload -> rules, workload -> Optional.empty(), workload -> Optional.empty()));
      assertThat(
              ((SchedulerEvent.WorkloadPending) translator.of(workload(evicted)))
                  .workload()
                  .queuedAt())
          .isEqualTo(
              Instant.parse(
                  rules.timeout().isPresent() ? "2026-03-01T10:00:00Z" : "2026-03-01T11:00:00Z"));
    }
  }

  @Test
  void podsAreWaitedForWhereTheQueueBlocksUntilTheyAreReady() {
    for (String blocks : List.of("true", "false")) {
      WorkloadTranslator translator =
          new WorkloadTranslator(
              context,
              TranslationOptions.DEFAULT,
              workload -> Set.of(),
              UnsupportedRequests.NONE,
              workload -> true,
              new WorkloadRules(
                  workload -> StartRules.of(Map.of(QueueAnnotations.BLOCK_UNTIL_READY, blocks)),
                  workload -> Optional.empty(),
                  workload -> Optional.empty()));
      assertThat(
              ((SchedulerEvent.WorkloadReserving) translator.of(workload(RESERVING)))
                  .workload()
                  .podsReady())
          .isEqualTo(blocks.equals("false"));
    }
  }

  @Test
  void whoNeedsMoreChecksThanThereIsRoomForIsNotEvaluated() {
    WorkloadTranslator translator =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT,
            workload -> Set.of(),
            UnsupportedRequests.NONE,
            workload -> true,
            new WorkloadRules(
                workload -> StartRules.NONE,
                workload -> Optional.empty(),
                workload -> Optional.empty(),
                workload -> Optional.empty(),
                workload -> Optional.empty(),
                (workload, shape) -> Optional.of("for " + shape.podSets().size() + " pod set"),
                VariantFamilies.NONE));
    assertThat(
            ((SchedulerEvent.WorkloadPending) translator.of(workload(PENDING))).workload().defect())
        .contains("for 1 pod set");
  }

  private WorkloadTranslator ofFamilies(WorkloadCache cache) {
    return new WorkloadTranslator(
        context,
        TranslationOptions.DEFAULT,
        workload -> Set.of(),
        UnsupportedRequests.NONE,
        workload -> true,
        new WorkloadRules(
            workload -> StartRules.NONE,
            workload -> Optional.empty(),
            workload -> Optional.empty(),
            workload -> Optional.empty(),
            workload -> Optional.empty(),
            (workload, shape) -> Optional.empty(),
            new VariantFamilies(cache, workload -> Optional.empty())));
  }

  private static CachedWorkload parent() {
    return workload(
        RESERVING.replace(
            "  resourceVersion:",
            "  labels: {kueue.x-k8s.io/concurrent-admission-parent: \"true\"}\n"
                + "  resourceVersion:"));
  }

  /** The job of a parent runs in one flavor, and needs the quota of that one until it stopped. */
  @Test
  void aParentIsChargedUntilAVariantHasTheQuotaOfItsFlavor() {
    WorkloadCache cache = new WorkloadCache();
    WorkloadTranslator translator = ofFamilies(cache);
    CachedWorkload parent = parent();
    cache.seen(parent);
    cache.seen(variant("reserved"));
    assertThat(translator.of(parent))
        .as("its job runs in spot")
        .isInstanceOf(SchedulerEvent.WorkloadReserving.class);
    assertThat(translator.charged(parent)).isNotEmpty();
    cache.seen(variant("spot"));
    assertThat(translator.of(parent)).isInstanceOf(SchedulerEvent.WorkloadReleased.class);
    assertThat(translator.charged(parent)).isEmpty();
  }

  /** In the other order a cycle between the two events could give the quota to somebody else. */
  @Test
  void aParentIsChargedBeforeAVariantThatIsDeletedIsReleased() {
    WorkloadCache cache = new WorkloadCache();
    List<SchedulerEvent> submitted = new ArrayList<>();
    WorkloadEventFeed feed =
        new WorkloadEventFeed(
            ofFamilies(cache), cache, submitted::add, WorkloadEventFeed.Held.NONE);
    CachedWorkload variant = variant("spot");
    cache.seen(parent());
    cache.seen(variant);
    cache.listen(feed);
    cache.deleted(variant);

    assertThat(submitted)
        .satisfiesExactly(
            first -> assertThat(first).isInstanceOf(SchedulerEvent.WorkloadReserving.class),
            second ->
                assertThat(second)
                    .isEqualTo(new SchedulerEvent.WorkloadReleased(variant.id(), Long.MAX_VALUE)));
  }

  private static CachedWorkload variant(String flavor) {
    return workload(
        RESERVING
            .replace("sample", "sample-" + flavor)
            .replace("uid-1", "uid-" + flavor)
            .replace("flavors: {cpu: spot}", "flavors: {cpu: %s}".formatted(flavor))
            .replace(
                "  annotations: {",
                "  ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload,"
                    + " name: sample, uid: uid-1, controller: true}]\n"
                    + "  annotations: {kueue.x-k8s.io/workload-allowed-resource-flavors: %s, "
                        .formatted(flavor)));
  }

  @Test
  void onlyAWorkloadThatSomebodyAttendsToMayBeEvicted() {
    for (boolean attended : List.of(true, false)) {
      WorkloadTranslator translator =
          new WorkloadTranslator(
              context,
              TranslationOptions.DEFAULT,
              workload -> Set.of(),
              UnsupportedRequests.NONE,
              workload -> attended);
      assertThat(
              ((SchedulerEvent.WorkloadReserving) translator.of(workload(RESERVING)))
                  .workload()
                  .evictable())
          .isEqualTo(attended);
      assertThat(
              ((SchedulerEvent.WorkloadPending) translator.of(workload(PENDING)))
                  .workload()
                  .evictable())
          .isEqualTo(attended);
    }
  }

  private static String placed(String assignment, String status) {
    return PENDING
        + """
        status:
          conditions:
          - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-03-01T11:00:00Z"}
          - {type: Admitted, status: "True", lastTransitionTime: "2026-03-01T11:00:00Z"}
          %s
          admission:
            clusterQueue: cq
            podSetAssignments:
            - name: main
              count: 3
              flavors: {cpu: f}
              resourceUsage: {cpu: "3"}
              %s
        """
            .formatted(status, assignment);
  }

  private static final String ON_N1 =
      "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 1,"
          + " podCounts: {universal: 3}, valuesPerLevel: [{universal: n1}]}]}";

  @Test
  void nodesOfItsOwnThatFailedAreReplaced() {
    assertThat(reserving(placed(ON_N1, "unhealthyNodes: [{name: n1}, {name: n9}]")).secondPass())
        .hasValueSatisfying(
            pass -> {
              assertThat(pass.lostNodes()).containsExactly("n1");
              assertThat(pass.podSets()).singleElement().extracting("count").isEqualTo(3);
            });
    assertThat(reserving(placed(ON_N1, "unhealthyNodes: [{name: n9}]")).secondPass()).isEmpty();
  }

  /** The pod can't move, and nobody makes another one for the same Workload. */
  @Test
  void theNodeOfAWorkloadThatIsOnePodIsNotReplacedUnlessTheGateIsOff() {
    String pod =
        placed(ON_N1, "unhealthyNodes: [{name: n1}]")
            .replace(
                "  resourceVersion:",
                "  ownerReferences: [{apiVersion: v1, kind: %s, name: p, uid: u, controller:"
                    + " true}]\n"
                    + "  resourceVersion:");
    WorkloadTranslator moving =
        new WorkloadTranslator(
            context,
            TranslationOptions.DEFAULT.with(
                FeatureGate.SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS, false));

    assertThat(reserving(pod.formatted("Pod")).secondPass()).isEmpty();
    assertThat(reserving(pod.formatted("ReplicationController")).secondPass()).isPresent();
    String owned = pod.formatted("Pod").replace("controller: true", "controller: false");
    assertThat(reserving(owned).secondPass()).as("two other pods may come").isPresent();
    assertThat(reserving(owned.replace("count: 3", "count: 1")).secondPass()).isEmpty();
    assertThat(
            ((SchedulerEvent.WorkloadReserving) moving.of(workload(pod.formatted("Pod"))))
                .workload()
                .secondPass())
        .isPresent();
  }

  @Test
  void delayedPlacesAreLookedForWhenAllChecksAreReady() {
    String ready =
        "admissionChecks: [{name: a, state: %s, podSetUpdates: [{name: main,"
            + " nodeSelector: {pool: new}, tolerations: [{key: fresh, operator: Exists}]}]}]";
    String pending = "delayedTopologyRequest: Pending";
    assertThat(reserving(placed(pending, ready.formatted("Pending"))).secondPass()).isEmpty();
    assertThat(reserving(placed(pending, ready.formatted("Ready"))).secondPass())
        .hasValueSatisfying(
            pass -> {
              assertThat(pass.lostNodes()).isEmpty();
              var constraints = pass.podSets().getFirst().nodeConstraints();
              assertThat(constraints.nodeSelector()).containsEntry("pool", "new");
              assertThat(constraints.tolerations()).hasSize(1);
            });
    assertThat(
            reserving(placed("delayedTopologyRequest: Ready", ready.formatted("Ready")))
                .secondPass())
        .isEmpty();
    assertThat(
            reserving(placed(pending, ready.formatted("Ready") + "\n  clusterName: worker1"))
                .secondPass())
        .as("the worker places it")
        .isEmpty();
  }

  /** Changes of 0.20, section 4, TASTopologySpreading. */
  @Test
  void groupsAreSpreadWithTheGateOnly() {
    String asked =
        PENDING.replace(
            "template: {spec:",
            "template: {metadata: {annotations: {kueue.x-k8s.io/podset-topology-spreading:"
                + " '{\"rules\": [{\"topologyKey\": \"rack\", \"maxShareAllowingPlacement\":"
                + " \"45%\"}]}'}}, spec:");
    String ofJob =
        asked.replace("metadata:\n", "metadata:\n  labels: {kueue.x-k8s.io/job-uid: j1}\n");
    assertThat(pending(ofJob).shape().podSets().getFirst().topology().spreading()).isEmpty();
    WorkloadTranslator spreading =
        new WorkloadTranslator(
            context,
            new TranslationOptions(
                FeatureGates.DEFAULT.with(FeatureGate.TAS_TOPOLOGY_SPREADING, true),
                Resources.PLAIN,
                Optional.empty(),
                false));
    Spreading read =
        ((SchedulerEvent.WorkloadPending) spreading.of(workload(ofJob)))
            .workload()
            .shape()
            .podSets()
            .getFirst()
            .topology()
            .spreading()
            .orElseThrow();
    assertThat(read.member().owner()).isEqualTo("uid-1");
    assertThat(read.member().group()).isEqualTo("main");
    assertThat(read.rules()).containsExactly(new Spreading.ShareRule("rack", 45, true));
    assertThat(read.selector())
        .contains(
            new LabelRequirement(
                "kueue.x-k8s.io/job-uid", LabelRequirement.Operator.IN, List.of("j1")));
    String broken = ofJob.replace("45%", "145%");
    assertThat(
            ((SchedulerEvent.WorkloadPending) spreading.of(workload(broken)))
                .workload()
                .shape()
                .podSets()
                .getFirst()
                .topology()
                .spreading()
                .orElseThrow()
                .rules())
        .as("what nobody checked has no rule, and counts")
        .isEmpty();
  }

  /** A node must have what quota leaves out, and has no credits. */
  @Test
  void nodesAreAskedForWhatPodsRequestThemselves() {
    WorkloadTranslator counting =
        new WorkloadTranslator(
            context,
            new TranslationOptions(
                FeatureGates.DEFAULT,
                new Resources(
                    true,
                    List.of("example.com/license"),
                    List.of(
                        new Transformation(
                            "example.com/gpu",
                            true,
                            "",
                            Map.of("example.com/credits", BigDecimal.valueOf(10)))),
                    Map.of(),
                    List.of()),
                Optional.empty(),
                false));
    String template =
        PENDING.replace(
            "requests: {cpu: 500m}",
            "requests: {cpu: 500m, example.com/gpu: 2, example.com/license-x: 1}");
    PodSetRequest request =
        ((SchedulerEvent.WorkloadPending) counting.of(workload(template)))
            .workload()
            .shape()
            .podSets()
            .getFirst();
    assertThat(request.perPod()).isEqualTo(Map.of("cpu", 500L, "example.com/credits", 20L));
    assertThat(request.nodeRequests())
        .isEqualTo(Map.of("cpu", 500L, "example.com/gpu", 2L, "example.com/license-x", 1L));
  }
}
