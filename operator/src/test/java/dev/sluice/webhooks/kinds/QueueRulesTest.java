package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.Webhooks.CohortWebhook;
import dev.sluice.webhooks.kinds.Webhooks.ResourceFlavorWebhook;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ClusterQueues, Cohorts and ResourceFlavors. */
class QueueRulesTest {

  private static final JsonNode QUEUE =
      yaml(
          """
          kind: ClusterQueue
          metadata: {name: research}
          spec:
            cohortName: all
            namespaceSelector: {}
            resourceGroups:
            - coveredResources: [cpu, memory]
              flavors:
              - name: spot
                resources:
                - {name: cpu, nominalQuota: 10, borrowingLimit: "5", lendingLimit: 10}
                - {name: memory, nominalQuota: 4Gi}
              - name: ondemand
                resources:
                - {name: cpu, nominalQuota: "1500m"}
                - {name: memory, nominalQuota: "1.5Gi"}
            - coveredResources: [example.com/gpu]
              flavors:
              - name: a100
                resources:
                - {name: example.com/gpu, nominalQuota: 8}
          """);

  private static final JsonNode COHORT =
      yaml(
          """
          kind: Cohort
          metadata: {name: all}
          spec:
            parentName: root
            resourceGroups:
            - coveredResources: [cpu]
              flavors:
              - name: spot
                resources:
                - {name: cpu, nominalQuota: 10, borrowingLimit: 5, lendingLimit: 20}
          """);

  private static final JsonNode FLAVOR =
      yaml(
          """
          kind: ResourceFlavor
          metadata: {name: spot}
          spec:
            nodeLabels: {example.com/instance-type: spot}
            nodeTaints:
            - {key: spot, value: "true", effect: NoSchedule}
            - {key: spot, value: "true", effect: NoExecute}
            tolerations:
            - {key: spot-taint, operator: Exists, effect: NoSchedule}
          """);

  private final ClusterQueueWebhook queues = new ClusterQueueWebhook(settings());
  private final CohortWebhook cohorts = new CohortWebhook(Reviews.Cluster.EMPTY);

  @Test
  void whatIsRightIsAllowed() {
    assertThat(messages(queues::validate, create(QUEUE))).isEmpty();
    assertThat(messages(cohorts::validate, create(COHORT))).isEmpty();
    assertThat(messages(ResourceFlavorWebhook::validate, create(FLAVOR))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /spec/cohortName | Not_A_Name | spec.cohortName: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain
          /spec/resourceGroups/0/coveredResources/0 | c pu | spec.resourceGroups[0].coveredResources[0]: Invalid value: "c pu": name part must consist of
          /spec/resourceGroups/0/coveredResources/0 | /cpu | spec.resourceGroups[0].coveredResources[0]: Invalid value: "/cpu": prefix part must be non-empty
          /spec/resourceGroups/0/coveredResources/0 | a/b/c | spec.resourceGroups[0].coveredResources[0]: Invalid value: "a/b/c": a qualified name
          /spec/resourceGroups/1/coveredResources/0 | cpu | spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu": a resource may appear in only one resource group
          /spec/resourceGroups/0/coveredResources/1 | cpu | spec.resourceGroups[0].coveredResources[1]: Duplicate value: "cpu"
          /spec/resourceGroups/1/flavors/0/name | spot | spec.resourceGroups[1].flavors[0].name: Duplicate value: "spot": a flavor may appear in only one resource group
          /spec/resourceGroups/0/flavors/1/name | spot | spec.resourceGroups[0].flavors[1].name: Duplicate value: "spot"
          /spec/resourceGroups/0/flavors/0/name | Spot! | spec.resourceGroups[0].flavors[0].name: Invalid value: "Spot!": a lowercase RFC 1123 subdomain
          /spec/resourceGroups/0/flavors/0/resources/0/name | memory | spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: "memory": must match the name in coveredResources at the same place, "cpu"
          /spec/resourceGroups/1/coveredResources | [a, b] | spec.resourceGroups[1].flavors[0].resources: Invalid value: "1": must have the same number of resources as coveredResources, 2
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | -1 | spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: -1: must be greater than or equal to 0
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | "-1n" | spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: "-1n": must be greater than or equal to 0
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | ten | spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: "ten": must be a quantity
          /spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit | "-5" | spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: "-5": must be greater than or equal to 0
          /spec/resourceGroups/0/flavors/0/resources/0/lendingLimit | -5m | spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: "-5m": must be greater than or equal to 0
          /spec/resourceGroups/0/flavors/0/resources/0/lendingLimit | "10.001" | spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: "10.001": must be less than or equal to the nominalQuota, 10
          /spec/namespaceSelector | {matchExpressions: [{key: a, operator: In}]} | spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'
          /spec/namespaceSelector | {matchExpressions: [{key: a, operator: Exists, values: [x]}]} | spec.namespaceSelector.matchExpressions[0].values: Forbidden: may not be specified
          /spec/namespaceSelector | {matchExpressions: [{key: a, operator: Near, values: [x]}]} | spec.namespaceSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator
          /spec/namespaceSelector | {matchExpressions: [{key: "a b", operator: Exists}]} | spec.namespaceSelector.matchExpressions[0].key: Invalid value: "a b": name part
          /spec/namespaceSelector | {matchExpressions: [{key: a, operator: In, values: ["b c"]}]} | spec.namespaceSelector.matchExpressions[0].values[0]: Invalid value: "b c": a valid label
          /spec/namespaceSelector | {matchLabels: {"a b": c}} | spec.namespaceSelector.matchLabels: Invalid value: "a b": name part
          /spec/namespaceSelector | {matchLabels: {a: "b c"}} | spec.namespaceSelector.matchLabels[a]: Invalid value: "b c": a valid label
          /spec/fairSharing | {weight: "-1"} | spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0
          /spec/fairSharing | {weight: 1n} | spec.fairSharing.weight: Invalid value: "1n": must be 0 or greater than 1n
          /spec/admissionScope | {admissionMode: Usage} | spec.admissionScope.admissionMode: Unsupported value: "Usage": supported values: "NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing"
          /spec/admissionScope | {admissionMode: ""} | spec.admissionScope.admissionMode: Unsupported value: ""
          /spec/admissionChecksStrategy | {admissionChecks: [{name: a, onFlavors: [spot, other]}]} | spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Unsupported value: "other": supported values: "a100", "ondemand", "spot"
          """)
  void clusterQueueRefused(String pointer, String value, String message) {
    assertThat(messages(queues::validate, create(edited(QUEUE, set(pointer, value)))))
        .anySatisfy(found -> assertThat(found).startsWith(message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /spec/fairSharing | {weight: 0}
          /spec/fairSharing | {weight: 2n}
          /spec/fairSharing | {weight: "0.5"}
          /spec/namespaceSelector | null
          /spec/namespaceSelector | {matchExpressions: [{key: a, operator: NotIn, values: [x]}]}
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | 9223372036854775807
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | 9223372036854775808
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | 10E
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | "1e999999999"
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | "1e3"
          /spec/resourceGroups/0/flavors/0/resources/0/lendingLimit | "10.000"
          /spec/resourceGroups | []
          /spec/admissionScope | {admissionMode: NoAdmissionFairSharing}
          /spec/admissionChecksStrategy | {admissionChecks: [{name: a, onFlavors: [spot]}]}
          """)
  void clusterQueueAllowed(String pointer, String value) {
    assertThat(messages(queues::validate, create(edited(QUEUE, set(pointer, value))))).isEmpty();
  }

  @Test
  void anAdmissionModeThatWasUnknownBeforeIsTolerated() {
    JsonNode before = edited(QUEUE, set("/spec/admissionScope", "{admissionMode: Usage}"));
    JsonNode labelled = edited(before, set("/metadata/labels", "{a: b}"));
    JsonNode other = edited(QUEUE, set("/spec/admissionScope", "{admissionMode: Other}"));

    assertThat(messages(queues::validate, update(before, labelled))).isEmpty();
    assertThat(messages(queues::validate, update(before, other))).hasSize(1);
  }

  @Test
  void aQueueThatAcceptsNoNamespaceIsWarnedOf() {
    assertThat(queues.validate(create(edited(QUEUE, set("/spec/namespaceSelector", "null")))))
        .isInstanceOfSatisfying(
            AdmissionResult.Allowed.class,
            allowed ->
                assertThat(allowed.warnings())
                    .containsExactly(
                        "without spec.namespaceSelector the ClusterQueue accepts no namespace; {}"
                            + " selects all"));
  }

  @Test
  void aCohortThatIsItsOwnParentIsWarnedOf() {
    String name = COHORT.at("/metadata/name").asText();
    assertThat(cohorts.validate(create(edited(COHORT, set("/spec/parentName", name)))))
        .isInstanceOfSatisfying(
            AdmissionResult.Allowed.class,
            allowed ->
                assertThat(allowed.warnings())
                    .containsExactly(
                        "as its own parent the Cohort makes the ClusterQueues below it inactive"));
  }

  @Test
  void whoClosesACycleOfCohortsIsWarned() {
    String name = COHORT.at("/metadata/name").asText();
    Map<String, String> parents = Map.of("egg", "nest", "nest", name, "own", "own");
    CohortWebhook known = new CohortWebhook(new Parents(parents));

    assertThat(warnings(known, "egg"))
        .containsExactly(
            "the parents of the Cohort form a cycle, "
                + name
                + " → egg → nest → "
                + name
                + ", which makes the ClusterQueues below it inactive");
    assertThat(warnings(known, "own")).isEmpty();
    assertThat(warnings(known, "unknown")).isEmpty();
  }

  private static List<String> warnings(CohortWebhook webhook, String parent) {
    return ((AdmissionResult.Allowed)
            webhook.validate(create(edited(COHORT, set("/spec/parentName", parent)))))
        .warnings();
  }

  /** A cluster of which the parents of Cohorts are known. */
  private record Parents(Map<String, String> parents) implements EmptyCluster {
    @Override
    public String parentOfCohort(String name) {
      return parents.getOrDefault(name, "");
    }
  }

  @Test
  void limitsNeedACohort() {
    assertThat(messages(queues::validate, create(edited(QUEUE, set("/spec/cohortName", "null")))))
        .containsExactly(
            "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"5\":"
                + " must be nil when cohortName is empty",
            "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: 10:"
                + " must be nil when cohortName is empty");
  }

  @Test
  void totalsAreLimited() {
    String group = "{coveredResources: [%s], flavors: [%s]}";
    String tooWide =
        group.formatted(range("r", 0, 64, "%s"), range("f", 0, 9, "{name: %s, resources: []}"));
    assertThat(
            messages(
                queues::validate,
                create(edited(QUEUE, set("/spec/resourceGroups", "[" + tooWide + "]")))))
        .contains(
            "spec.resourceGroups[0]: Too many: 576: must have at most 512 pairs of flavor and"
                + " resource");

    StringBuilder many = new StringBuilder("[");
    for (int i = 0; i < 5; i++) {
      many.append(
          group.formatted(
              range("r" + i + "-", 0, 60, "%s"),
              range("f" + i + "-", 0, 60, "{name: %s, resources: []}")));
      many.append(i < 4 ? "," : "]");
    }
    assertThat(
            messages(
                queues::validate,
                create(edited(QUEUE, set("/spec/resourceGroups", many.toString())))))
        .contains(
            "spec.resourceGroups: Too many: 300: must have at most 256 flavors over all groups",
            "spec.resourceGroups: Too many: 300: must have at most 256 covered resources over all"
                + " groups");
  }

  private static String range(String prefix, int from, int to, String form) {
    return IntStream.range(from, to)
        .mapToObj(i -> form.formatted(prefix + i))
        .reduce((a, b) -> a + "," + b)
        .orElseThrow();
  }

  /** Changes of 0.20, section 3: with the gate they aren't. */
  @Test
  void flavorsOfChecksThatWereWrongBeforeAreToleratedWhileTheFlavorsStay() {
    JsonNode before =
        edited(
            QUEUE,
            set(
                "/spec/admissionChecksStrategy",
                "{admissionChecks: [{name: a, onFlavors: [gone]}]}"));
    JsonNode now = edited(before, set("/spec/stopPolicy", "Hold"));
    JsonNode more =
        edited(
            before,
            set("/spec/admissionChecksStrategy/admissionChecks/0/onFlavors", "[gone, gone-too]"));
    JsonNode otherFlavors = edited(before, set("/spec/resourceGroups/1/flavors/0/name", "h100"));

    assertThat(messages(queues::validate, update(before, now))).isEmpty();
    assertThat(messages(queues::validate, update(before, more)))
        .singleElement()
        .asString()
        .contains("onFlavors[1]: Unsupported value: \"gone-too\"");
    assertThat(messages(queues::validate, update(before, otherFlavors))).hasSize(1);
    ClusterQueueWebhook strict =
        new ClusterQueueWebhook(settings("RejectUpdatesToCQWithInvalidOnFlavors"));
    assertThat(messages(strict::validate, update(before, now))).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {migration: {mode: RetainFirstAdmission}} | BestEffortFIFO | spec.resourceGroups: Invalid value: "2": must be exactly one resource group
          {migration: {mode: RetainFirstAdmission}} | StrictFIFO | spec.queueingStrategy: Invalid value: "StrictFIFO"
          {migration: {mode: RetainFirstAdmission, constraints: {}}} | BestEffortFIFO | spec.concurrentAdmissionPolicy.migration.constraints: Forbidden: allowed only with mode TryPreferredFlavors
          {migration: {mode: TryPreferredFlavors, constraints: {lastAcceptableFlavorName: x}}} | BestEffortFIFO | spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName: Unsupported value: "x"
          """)
  void concurrentAdmissionIsCheckedWithItsGate(String policy, String strategy, String message) {
    JsonNode queue =
        edited(
            QUEUE,
            set("/spec/concurrentAdmissionPolicy", policy),
            set("/spec/queueingStrategy", strategy));
    ClusterQueueWebhook gated = new ClusterQueueWebhook(settings("ConcurrentAdmission"));

    assertThat(messages(gated::validate, create(queue)))
        .anySatisfy(found -> assertThat(found).startsWith(message));
    assertThat(messages(queues::validate, create(queue))).isEmpty();
    assertThat(messages(gated::validate, update(QUEUE, queue)))
        .anySatisfy(
            found ->
                assertThat(found)
                    .startsWith("spec.concurrentAdmissionPolicy: Invalid value")
                    .endsWith("field is immutable"));
  }

  /** Changes of 0.20, section 3. */
  @ParameterizedTest
  @CsvSource({"32, true", "33, false"})
  void concurrentAdmissionHasThirtyTwoFlavors(int count, boolean allowed) {
    String flavors =
        IntStream.range(0, count)
            .mapToObj(i -> "{name: f%d, resources: [{name: cpu, nominalQuota: 1}]}".formatted(i))
            .collect(Collectors.joining(", ", "[", "]"));
    JsonNode queue =
        edited(
            QUEUE,
            set("/spec/concurrentAdmissionPolicy", "{migration: {mode: RetainFirstAdmission}}"),
            set("/spec/queueingStrategy", "BestEffortFIFO"),
            set("/spec/resourceGroups", "[{coveredResources: [cpu], flavors: " + flavors + "}]"));
    ClusterQueueWebhook gated = new ClusterQueueWebhook(settings("ConcurrentAdmission"));

    List<String> found = messages(gated::validate, create(queue));
    if (allowed) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found)
          .singleElement(InstanceOfAssertFactories.STRING)
          .isEqualTo(
              "spec.resourceGroups: Too many: 33: must have at most 32 flavors with"
                  + " concurrentAdmissionPolicy");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /spec/parentName | Root | spec.parentName: Invalid value: "Root": a lowercase
          /spec/parentName | null | spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: 5: must be nil when parentName is empty
          /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota | -1 | spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: -1: must be greater
          /spec/resourceGroups/0/coveredResources/0 | "?" | spec.resourceGroups[0].coveredResources[0]: Invalid value: "?"
          /spec/fairSharing | {weight: "0.000000001"} | spec.fairSharing.weight: Invalid value: "0.000000001": must be 0 or greater than 1n
          """)
  void cohortRefused(String pointer, String value, String message) {
    assertThat(messages(cohorts::validate, create(edited(COHORT, set(pointer, value)))))
        .anySatisfy(found -> assertThat(found).startsWith(message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /spec/nodeLabels | {"a b": c} | spec.nodeLabels: Invalid value: "a b": name part
          /spec/nodeLabels | {a: "b/c"} | spec.nodeLabels[a]: Invalid value: "b/c": a valid label
          /spec/nodeTaints/0/key | "" | spec.nodeTaints[0].key: Invalid value: "": name part must be non-empty
          /spec/nodeTaints/0/value | a b | spec.nodeTaints[0].value: Invalid value: "a b": a valid label
          /spec/nodeTaints/1/effect | NoSchedule | spec.nodeTaints[1]: Duplicate value: "spot:NoSchedule": key and effect of a taint must be unique
          /spec/tolerations/0/key | a b | spec.tolerations[0].key: Invalid value: "a b": name part
          """)
  void flavorRefused(String pointer, String value, String message) {
    assertThat(
            messages(ResourceFlavorWebhook::validate, create(edited(FLAVOR, set(pointer, value)))))
        .anySatisfy(found -> assertThat(found).startsWith(message));
  }

  @Test
  void aTolerationWithoutKeyIsForEveryTaint() {
    JsonNode flavor = edited(FLAVOR, set("/spec/tolerations", "[{operator: Exists}]"));
    assertThat(messages(ResourceFlavorWebhook::validate, create(flavor))).isEmpty();
  }

  @Test
  void aLocalQueueWithAWrongAnnotationIsRefusedWithWhatIsAllowed() {
    AdmissionFunction rules =
        Objects.requireNonNull(
            Webhooks.functions(settings(), Reviews.Cluster.EMPTY)
                .get("/validate-kueue-x-k8s-io-v1beta2-localqueue"));
    JsonNode right =
        yaml(
            """
            kind: LocalQueue
            metadata:
              name: lq
              annotations: {sluice.dev/max-run-time: 8h, sluice.dev/max-concurrent-workloads: "3"}
            spec: {clusterQueue: cq}
            """);
    JsonNode wrong = edited(right, set("/metadata/annotations/sluice.dev~1max-run-time", "long"));
    String refusal =
        "metadata.annotations[sluice.dev/max-run-time]: Invalid value: \"long\": must be a duration"
            + " of at least 1s and of at most 87600h, such as 8h";

    assertThat(messages(rules.review(create(right)))).isEmpty();
    assertThat(messages(rules.review(create(wrong)))).containsExactly(refusal);
    assertThat(messages(rules.review(update(right, wrong)))).containsExactly(refusal);
    assertThat(
            messages(rules.review(update(wrong, edited(wrong, set("/spec/stopPolicy", "Hold"))))))
        .as("one that is stored already")
        .isEmpty();
  }

  @Test
  void creationAddsTheFinalizerOnce() {
    assertThat(Reviews.patch(queues.mutate(create(QUEUE))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/metadata/finalizers\","
                + "\"value\":[\"kueue.x-k8s.io/resource-in-use\"]}");
    JsonNode other = edited(FLAVOR, set("/metadata/finalizers", "[example.com/mine]"));
    assertThat(Reviews.patch(ResourceFlavorWebhook.mutate(create(other))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/metadata/finalizers/-\","
                + "\"value\":\"kueue.x-k8s.io/resource-in-use\"}");
    JsonNode has = edited(FLAVOR, set("/metadata/finalizers", "[kueue.x-k8s.io/resource-in-use]"));
    assertThat(Reviews.patch(ResourceFlavorWebhook.mutate(create(has)))).isEmpty();
    assertThat(Reviews.patch(queues.mutate(update(QUEUE, QUEUE)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spec", "metadata", "status"})
  void whatIsOfAnotherTypeNeverThrows(String field) {
    for (String junk :
        new String[] {"5", "[]", "text", "[[1], {a: [null]}]", "{resourceGroups: 7}"}) {
      JsonNode object = edited(QUEUE, set("/" + field, junk));
      assertThat(queues.validate(create(object))).isNotNull();
      assertThat(queues.mutate(create(object))).isNotNull();
      assertThat(cohorts.validate(create(object))).isNotNull();
      assertThat(ResourceFlavorWebhook.validate(update(object, object))).isNotNull();
    }
  }

  @Test
  void anObjectOnItsWayOutCanLoseItsFinalizerWhateverItSays() {
    JsonNode broken =
        edited(
            QUEUE,
            set("/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "-1"),
            set("/metadata/deletionTimestamp", "2026-01-01T00:00:00Z"));

    assertThat(messages(queues::validate, update(broken, broken))).isEmpty();
    assertThat(messages(queues::validate, update(QUEUE, broken))).hasSize(1);
  }
}
