package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.updateStatus;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.webhooks.Reviews;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadWebhookTest {

  private static final JsonNode PENDING =
      yaml(
          """
          kind: Workload
          metadata: {name: job-a-1234, namespace: team, annotations: {}}
          spec:
            queueName: training
            podSets:
            - name: main
              count: 3
              template:
                metadata: {labels: {app: a}, annotations: {}}
                spec:
                  containers:
                  - {name: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {}}}
                  initContainers:
                  - {name: i, resources: {requests: {cpu: 500m}}}
            - name: extra
              count: 1
              template: {spec: {containers: []}}
          status: {}
          """);

  private static final JsonNode ADMITTED =
      edited(
          PENDING,
          set(
              "/status",
              """
              conditions:
              - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: ok,
                 lastTransitionTime: "2026-01-01T00:00:00Z"}
              admission:
                clusterQueue: research
                podSetAssignments:
                - {name: main, count: 3, flavors: {cpu: spot}, resourceUsage: {cpu: 3, memory: 3Gi}}
                - {name: extra, count: 1, flavors: {cpu: spot}, resourceUsage: {cpu: 250m}}
              """));

  private static final String ELASTIC = "{kueue.x-k8s.io/elastic-job: \"true\"}";

  private final WorkloadWebhook rules = new WorkloadWebhook(settings());

  @Test
  void whatIsRightIsAllowed() {
    assertThat(messages(rules::validate, create(PENDING))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(PENDING, ADMITTED))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(ADMITTED, PENDING))).isEmpty();
  }

  /** Changes of 0.20, section 2: slices and subgroups, and quota without an admission. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /spec/podSets/0/template/metadata/labels | {"a b": c} | spec.podSets[0].template.metadata.labels: Invalid value: "a b": name part
          /spec/podSets/0/template/metadata/labels | {a: "b c"} | spec.podSets[0].template.metadata.labels[a]: Invalid value: "b c": a valid label
          /spec/podSets/0/template/metadata/annotations | {"a b": c} | spec.podSets[0].template.metadata.annotations: Invalid value: "a b": name part
          /spec/podSets/0/template/spec/containers/0/resources/requests | {pods: 1} | spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: "pods": the resource name is reserved
          /spec/podSets/0/template/spec/containers/0/resources/limits | {pods: 1} | spec.podSets[0].template.spec.containers[0].resources.limits[pods]: Invalid value: "pods"
          /spec/podSets/0/template/spec/initContainers/0/resources/requests | {pods: 1} | spec.podSets[0].template.spec.initContainers[0].resources.requests[pods]: Invalid value
          /spec/podSets/0/template/spec/resources | {requests: {pods: 1}} | spec.podSets[0].template.spec.resources.requests[pods]: Invalid value
          /spec/podSets/0/template/spec/containers/0/resources/requests | {cpu: -1} | spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: -1: must be greater than or equal to 0
          /spec/podSets/0/template/spec/resources | {limits: {cpu: "-1m"}} | spec.podSets[0].template.spec.resources.limits[cpu]: Invalid value: "-1m": must be greater
          /spec/podSets/0/template/spec/overhead | {cpu: "-1m"} | spec.podSets[0].template.spec.overhead[cpu]: Invalid value: "-1m": must be greater
          /spec/podSets/0/topologyRequest | {podSetSliceRequiredTopology: rack} | spec.podSets[0].topologyRequest.podSetSliceSize: Required value: must be set when
          /spec/podSets/0/topologyRequest | {subGroupCount: -1} | spec.podSets[0].topologyRequest.subGroupCount: Invalid value: -1: must be greater than or equal to 0
          /spec/podSets/0/topologyRequest | {podSetSliceSize: 2} | spec.podSets[0].topologyRequest.podSetSliceSize: Forbidden: may not be set without podSetSliceRequiredTopology
          /spec/podSets/0/topologyRequest | {podSetSliceRequiredTopology: rack, podSetSliceSize: 0} | spec.podSets[0].topologyRequest.podSetSliceSize: Invalid value: 0: must be greater than or equal to 1
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: "a.b/c,,d.e/f"} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "a.b/c,,d.e/f": must be names
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: ""} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "": must be names
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: "a.b/c,a.b/c"} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Duplicate value: "a.b/c"
          /metadata/annotations | {sluice.dev/expected-run-time: "-1h"} | metadata.annotations[sluice.dev/expected-run-time]: Invalid value: "-1h": must be a duration above 0
          /metadata/annotations | {sluice.dev/placement-region: ""} | metadata.annotations[sluice.dev/placement-region]: Invalid value: "": must be names of regions
          /metadata/annotations | {sluice.dev/placement-cluster-selector: "a=b=c"} | metadata.annotations[sluice.dev/placement-cluster-selector]: Invalid value: "a=b=c": must be requirements
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: plain} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "plain": must be a domain-prefixed path
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: a.b/cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "a.b/cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc": must be no more than 63 bytes
          /status/conditions | [{type: "a b", status: "True", reason: A, lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.conditions[0].type: Invalid value: "a b"
          /status/conditions | [{type: A, status: yes it is, reason: A, lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.conditions[0].status: Unsupported value: "yes it is": supported values: "False", "True", "Unknown"
          /status/conditions | [{type: A, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.conditions[0].reason: Required value
          /status/conditions | [{type: A, status: "True", reason: "no no", lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.conditions[0].reason: Invalid value: "no no"
          /status/conditions | [{type: A, status: "True", reason: A}] | status.conditions[0].lastTransitionTime: Required value
          /status/conditions | [{type: A, status: "True", reason: A, observedGeneration: -1, lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.conditions[0].observedGeneration: Invalid value: -1
          /status/conditions | [{type: QuotaReserved, status: "True", reason: A, lastTransitionTime: "2026-01-01T00:00:00Z"}] | status.admission: Required value: must be set while condition QuotaReserved is True
          /status/admission | {podSetAssignments: [{name: other, count: 1}]} | status.admission.podSetAssignments[0].name: Unsupported value: "other": supported values: "extra", "main"
          /status/admission | {podSetAssignments: [{name: main, count: 3, resourceUsage: {cpu: 1}}]} | status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: 1: is not a multiple of count, 3
          /status/admission | {podSetAssignments: [{name: main, count: 3, resourceUsage: {cpu: "-3"}}]} | status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: "-3": must be greater than or equal to 0
          /status/admission | {podSetAssignments: [{name: main, count: 0, resourceUsage: {cpu: "-3"}}]} | status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: "-3": must be greater than or equal to 0
          /status/admission | {podSetAssignments: [{name: main, resourceUsage: {cpu: "9e30"}}]} | status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: "9e30": must be less than or equal to
          /status/reclaimablePods | [{name: other, count: 1}] | status.reclaimablePods[0].name: Unsupported value: "other": supported values: "extra", "main"
          /status/reclaimablePods | [{name: main, count: 4}] | status.reclaimablePods[0].count: Invalid value: 4: should be less than or equal to the count of the pod set, 3
          /status/admissionChecks | [{name: a, podSetUpdates: [{name: other}]}] | status.admissionChecks[0].podSetUpdates[0].name: Unsupported value: "other"
          /status/admissionChecks | [{name: a, podSetUpdates: [{name: main, labels: {"a b": c}}]}] | status.admissionChecks[0].podSetUpdates[0].labels: Invalid value: "a b"
          /status/admissionChecks | [{name: a, podSetUpdates: [{name: main, annotations: {"a b": c}}]}] | status.admissionChecks[0].podSetUpdates[0].annotations: Invalid value: "a b"
          /status/admissionChecks | [{name: a, podSetUpdates: [{name: main, nodeSelector: {a: "b c"}}]}] | status.admissionChecks[0].podSetUpdates[0].nodeSelector[a]: Invalid value: "b c"
          /status/admissionChecks | [{name: a, podSetUpdates: [{name: main, tolerations: [{key: "a b"}]}]}] | status.admissionChecks[0].podSetUpdates[0].tolerations[0].key: Invalid value: "a b"
          """)
  void refused(String pointer, String value, String message) {
    assertThat(messages(rules::validate, create(edited(PENDING, set(pointer, value)))))
        .singleElement()
        .asString()
        .startsWith(message);
  }

  /** Changes of 0.20, section 4, TASValidateWorkloadSliceSize, among other gates. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          TASValidateWorkloadSliceSize | /spec/podSets/0/topologyRequest | {podSetSliceRequiredTopology: rack}
          TASValidateWorkloadSliceSize | /spec/podSets/0/topologyRequest | {podSetSliceRequiredTopology: rack, podSetSliceSize: 0}
          WorkloadValidationForPodSetMetadata | /spec/podSets/0/template/metadata/labels | {"a b": c}
          WorkloadValidateResourcesAreNonNegative | /spec/podSets/0/template/spec/containers/0/resources/requests | {cpu: -1}
          """)
  void whatAGateLeavesUncheckedIsAllowed(String gate, String pointer, String value) {
    JsonNode wrong = edited(PENDING, set(pointer, value));
    assertThat(messages(rules::validate, create(wrong))).isNotEmpty();
    WorkloadWebhook off = new WorkloadWebhook(settings("-" + gate));
    assertThat(messages(off::validate, create(wrong))).isEmpty();
  }

  @Test
  void onlyOnePodSetMayStartSmaller() {
    JsonNode two =
        edited(PENDING, set("/spec/podSets/0/minCount", "1"), set("/spec/podSets/1/minCount", "1"));
    assertThat(messages(rules::validate, create(two)))
        .containsExactly(
            "spec.podSets: Invalid value: \"2 with minCount\": at most one podSet can use"
                + " minCount");
    JsonNode elastic =
        edited(
            PENDING, set("/spec/podSets/0/minCount", "1"), set("/metadata/annotations", ELASTIC));
    assertThat(messages(rules::validate, create(elastic)))
        .singleElement()
        .asString()
        .startsWith("spec.podSets[0].minCount: Invalid value: 1");
  }

  @ParameterizedTest
  @CsvSource({
    "12,true",
    "-2147483648,true",
    "2147483648,false",
    "'',false",
    "x,false",
    "1.5,false"
  })
  void aBoostIsAWholeNumberWithItsGate(String boost, boolean allowed) {
    JsonNode workload =
        edited(
            PENDING,
            set("/metadata/annotations", "{kueue.x-k8s.io/priority-boost: '" + boost + "'}"));
    WorkloadWebhook gated = new WorkloadWebhook(settings("PriorityBoost"));

    assertThat(messages(gated::validate, create(workload)).isEmpty()).isEqualTo(allowed);
    assertThat(messages(rules::validate, create(workload))).isEmpty();
  }

  /**
   * docs/workload-lifecycle.md#time-outs-of-a-single-workload: gate WorkloadLevelWaitForPodsReady.
   */
  @Test
  void theTimesOfItsPodsAreValidatedWhereTheyCount() {
    JsonNode workload =
        edited(PENDING, set("/metadata/annotations", "{kueue.x-k8s.io/wait-for-pods-ready: 5m}"));
    WorkloadWebhook gated = new WorkloadWebhook(settings("WorkloadLevelWaitForPodsReady"));

    assertThat(messages(gated::validate, create(workload)))
        .singleElement()
        .asString()
        .startsWith(
            "metadata.annotations[kueue.x-k8s.io/wait-for-pods-ready]: Invalid value: \"5m\":"
                + " must be a JSON object");
    assertThat(messages(rules::validate, create(workload))).isEmpty();
  }

  @Test
  void minCountIsTakenAwayWithoutItsGate() {
    JsonNode workload = edited(PENDING, set("/spec/podSets/0/minCount", "1"));
    WorkloadWebhook off = new WorkloadWebhook(settings("-PartialAdmission"));

    assertThat(Reviews.patch(off.mutate(create(workload), Reviews.Cluster.EMPTY)))
        .containsExactly("{\"op\":\"remove\",\"path\":\"/spec/podSets/0/minCount\"}");
    assertThat(Reviews.patch(rules.mutate(create(workload), Reviews.Cluster.EMPTY))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /spec/podSets/0/count | 4 | spec.podSets[0].count: Invalid value: 4: may only be lowered
          /spec/podSets/0/template/spec/containers/0/name | d | spec.podSets[0]: Invalid value:
          /status/admission/clusterQueue | other | status.admission: Invalid value:
          /status/admission/podSetAssignments/0/flavors/cpu | ondemand | status.admission: Invalid value:
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: a.b/c} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: may be given only at creation
          /status/clusterName | remote | status.clusterName: Unsupported value: "remote": no value is supported here
          """)
  void whatMayNotChangeWhileQuotaIsReserved(String pointer, String value, String message) {
    assertThat(messages(rules::validate, update(ADMITTED, edited(ADMITTED, set(pointer, value)))))
        .singleElement()
        .asString()
        .startsWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /status/admission/podSetAssignments/0/flavors | {}
          /status/admission/podSetAssignments/0/topologyAssignment | null
          /status/admission/podSetAssignments/0/resourceUsage | {cpu: 3000m, memory: 3072Mi}
          /spec/podSets/0/template/spec/containers/0/resources | {requests: {cpu: 1000m, memory: "1073741824"}}
          /spec/podSets/1/template/metadata | {creationTimestamp: null}
          /spec/podSets/1/template/spec/nodeSelector | {}
          """)
  void anotherFormOfTheSameIsNoChange(String pointer, String value) {
    JsonNode before =
        pointer.endsWith("flavors") ? edited(ADMITTED, set(pointer, "null")) : ADMITTED;
    assertThat(messages(rules::validate, update(before, edited(before, set(pointer, value)))))
        .isEmpty();
  }

  @Test
  void theUpdatesOfAReadyCheckMayBeWrittenInAnotherForm() {
    String check = "[{name: a, state: Ready, podSetUpdates: %s}]";
    JsonNode before =
        edited(
            ADMITTED,
            set("/status/admissionChecks", check.formatted("[{name: main, labels: {a: b}}]")));
    JsonNode after =
        edited(
            ADMITTED,
            set(
                "/status/admissionChecks",
                check.formatted("[{name: main, labels: {a: b}, annotations: {}}]")));
    assertThat(messages(rules::validate, updateStatus(before, after))).isEmpty();
  }

  @Test
  void podSetsMayChangeBeforeQuotaIsReserved() {
    assertThat(
            messages(
                rules::validate,
                update(PENDING, edited(PENDING, set("/spec/podSets/0/count", "2")))))
        .isEmpty();
  }

  @Test
  void anElasticWorkloadMayShrink() {
    JsonNode before = edited(ADMITTED, set("/metadata/annotations", ELASTIC));
    assertThat(
            messages(
                rules::validate, update(before, edited(before, set("/spec/podSets/0/count", "2")))))
        .isEmpty();
    assertThat(
            messages(
                rules::validate, update(before, edited(before, set("/spec/podSets/0/count", "4")))))
        .containsExactly(
            "spec.podSets[0].count: Invalid value: 4: may only be lowered while quota is reserved,"
                + " from 3");
    assertThat(
            messages(
                rules::validate, update(before, edited(before, set("/spec/podSets/0/name", "x")))))
        .anySatisfy(it -> assertThat(it).startsWith("spec.podSets[0]: Invalid value"));
  }

  /**
   * Whoever runs the pods of a Workload gives quota back, elastic or not, if the gate allows it.
   */
  @Test
  void countsMayBeLoweredWithoutTheAnnotationWhereTheGateIsOn() {
    JsonNode fewer = edited(ADMITTED, set("/spec/podSets/0/count", "2"));
    assertThat(messages(rules::validate, update(ADMITTED, fewer))).isEmpty();
    WorkloadWebhook off = new WorkloadWebhook(settings("-ElasticJobsViaWorkloadSlices"));
    assertThat(messages(off::validate, update(ADMITTED, fewer)))
        .singleElement()
        .asString()
        .startsWith("spec.podSets: Invalid value")
        .endsWith("while quota is reserved");
  }

  @Test
  void reclaimablePodsShrinkWhereThePodSetIsSmallerThanWhatWasAdmitted() {
    JsonNode two = edited(ADMITTED, set("/status/reclaimablePods", "[{name: main, count: 2}]"));
    JsonNode shrunk = edited(two, set("/spec/podSets/0/count", "2"));
    JsonNode none = edited(shrunk, set("/status/reclaimablePods", "[{name: main, count: 0}]"));
    assertThat(messages(rules::validate, update(two, shrunk))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(shrunk, none))).isEmpty();
    assertThat(
            messages(
                rules::validate,
                updateStatus(shrunk, edited(shrunk, set("/status/reclaimablePods", "[]")))))
        .isEmpty();
    assertThat(
            messages(
                new WorkloadWebhook(settings("-ElasticJobsViaWorkloadSlices"))::validate,
                updateStatus(shrunk, none)))
        .hasSize(1);
  }

  @Test
  void theTopologyOfAnAssignmentMayChange() {
    JsonNode placed =
        edited(
            ADMITTED,
            set("/status/admission/podSetAssignments/0/delayedTopologyRequest", "Ready"),
            set("/status/admission/podSetAssignments/0/topologyAssignment", "{levels: [a]}"));
    assertThat(messages(rules::validate, updateStatus(ADMITTED, placed))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(placed, ADMITTED))).isEmpty();
  }

  @Test
  void reclaimablePodsDontShrinkWhileQuotaIsReserved() {
    JsonNode two = edited(ADMITTED, set("/status/reclaimablePods", "[{name: main, count: 2}]"));
    JsonNode one = edited(ADMITTED, set("/status/reclaimablePods", "[{name: main, count: 1}]"));

    assertThat(messages(rules::validate, updateStatus(one, two))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(two, one)))
        .singleElement()
        .asString()
        .startsWith("status.reclaimablePods[main].count: Invalid value")
        .endsWith("cannot be less than 2 while quota is reserved");
    assertThat(messages(rules::validate, updateStatus(two, ADMITTED))).hasSize(1);
    assertThat(messages(rules::validate, updateStatus(two, PENDING))).isEmpty();
  }

  @Test
  void staleReclaimablePodsOfAShrunkElasticWorkloadAreTolerated() {
    JsonNode before =
        edited(
            ADMITTED,
            set("/metadata/annotations", ELASTIC),
            set("/status/reclaimablePods", "[{name: main, count: 3}]"));
    JsonNode shrunk = edited(before, set("/spec/podSets/0/count", "2"));
    assertThat(messages(rules::validate, update(before, shrunk))).isEmpty();
  }

  /** Changes of 0.20, section 2. */
  @Test
  void missingAdmissionIsToleratedWhereItWasMissingBefore() {
    JsonNode broken = edited(ADMITTED, set("/status/admission", "null"));
    assertThat(messages(rules::validate, updateStatus(broken, broken))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(PENDING, broken))).hasSize(1);
  }

  @Test
  void updatesOfAReadyCheckStay() {
    String check = "[{name: a, state: %s, podSetUpdates: [{name: main, labels: {a: %s}}]}]";
    JsonNode ready = edited(PENDING, set("/status/admissionChecks", check.formatted("Ready", "b")));
    JsonNode other = edited(PENDING, set("/status/admissionChecks", check.formatted("Ready", "c")));
    JsonNode retry = edited(PENDING, set("/status/admissionChecks", check.formatted("Retry", "c")));

    assertThat(messages(rules::validate, updateStatus(ready, other)))
        .singleElement()
        .asString()
        .startsWith("status.admissionChecks[0].podSetUpdates: Invalid value")
        .contains("field is immutable");
    assertThat(messages(rules::validate, updateStatus(ready, retry))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(retry, ready))).isEmpty();
  }

  @Test
  void aClusterMustHaveBeenNominated() {
    JsonNode nominated = edited(PENDING, set("/status/nominatedClusterNames", "[near, far]"));
    JsonNode chosen = edited(PENDING, set("/status/clusterName", "far"));
    JsonNode slice =
        edited(
            chosen,
            set("/metadata/annotations", "{kueue.x-k8s.io/workload-slice-replacement-for: a/b}"));

    assertThat(messages(rules::validate, updateStatus(nominated, chosen))).isEmpty();
    assertThat(messages(rules::validate, updateStatus(PENDING, chosen))).hasSize(1);
    assertThat(messages(rules::validate, updateStatus(PENDING, slice))).isEmpty();
  }

  @Test
  void namesOfGatesMayOnlyGo() {
    String annotation = "{kueue.x-k8s.io/admission-gated-by: '%s'}";
    JsonNode two =
        edited(PENDING, set("/metadata/annotations", annotation.formatted("a.b/c,d.e/f")));
    JsonNode one = edited(PENDING, set("/metadata/annotations", annotation.formatted("d.e/f")));

    assertThat(messages(rules::validate, update(two, one))).isEmpty();
    assertThat(messages(rules::validate, update(one, PENDING))).isEmpty();
    assertThat(messages(rules::validate, update(one, two)))
        .containsExactly(
            "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value:"
                + " \"a.b/c,d.e/f\": names may only be removed, not added: a.b/c");
    for (String empty : List.of("", "d.e/f,")) {
      JsonNode emptied = edited(PENDING, set("/metadata/annotations", annotation.formatted(empty)));
      assertThat(messages(rules::validate, update(one, emptied)))
          .as("an empty name is refused once, as at creation")
          .isEqualTo(messages(rules::validate, create(emptied)))
          .hasSize(1);
    }
  }

  @Test
  void aSpecThatWasWrongBeforeDoesntBlockItsStatus() {
    JsonNode wrong =
        edited(
            PENDING,
            set("/spec/podSets/0/template/spec/containers/0/resources/requests", "{pods: 1}"));
    JsonNode finished =
        edited(
            wrong,
            set(
                "/status/conditions",
                "[{type: Finished, status: 'True', reason: A, lastTransitionTime:"
                    + " '2026-01-01T00:00:00Z'}]"));
    assertThat(messages(rules::validate, updateStatus(wrong, finished))).isEmpty();
  }

  @Test
  void whatIsOfAnotherTypeNeverThrows() {
    for (String field : List.of("spec", "status", "metadata")) {
      for (String junk :
          List.of("5", "[]", "text", "{podSets: 7, conditions: {}, admission: []}")) {
        JsonNode object = edited(PENDING, set("/" + field, junk));
        assertThat(rules.validate(create(object))).isNotNull();
        assertThat(rules.validate(update(ADMITTED, object))).isNotNull();
        assertThat(rules.validate(updateStatus(object, ADMITTED))).isNotNull();
        assertThat(rules.mutate(create(object), Reviews.Cluster.EMPTY)).isNotNull();
      }
    }
  }

  private static List<String> composed(JsonNode workload) {
    return new ComposedWorkloadValidation(settings()).errors(workload.deepCopy());
  }

  @Test
  void whatTheOperatorMakesOfJobsIsHeldToTheSameRules() {
    assertThat(composed(PENDING)).isEmpty();
    assertThat(
            composed(
                edited(
                    PENDING,
                    set(
                        "/spec/podSets/0/template/spec/containers/0/resources/requests",
                        "{pods: 1}"),
                    set("/spec/podSets/1/template/metadata", "{labels: {a: \"b c\"}}"))))
        .satisfiesExactly(
            reserved -> assertThat(reserved).startsWith("spec.podSets[0]").contains("[pods]"),
            label -> assertThat(label).startsWith("spec.podSets[1].template.metadata.labels"));
  }

  private static final String ARGS = "/spec/podSets/0/template/spec/containers/0/args";

  @ParameterizedTest
  @CsvSource({"a, 1000000, true", "a, 1050000, false", "<, 170000, true", "<, 180000, false"})
  void whatTheOperatorMakesOfJobsLeavesRoomForItsEviction(String text, int times, boolean fits) {
    String args = "[\"" + text.repeat(times) + "\"]";
    assertThat(composed(edited(PENDING, set(ARGS, args))).isEmpty()).isEqualTo(fits);
  }

  /** The API server notes the name of each of them once more. */
  @Test
  void manySmallItemsCountAsMore() {
    StringBuilder env = new StringBuilder("[");
    for (int i = 0; i < 8_000; i++) {
      env.append(i == 0 ? "" : ",").append("{name: A%05d, value: b}".formatted(i));
    }
    assertThat(
            composed(
                edited(
                    PENDING,
                    set(
                        "/spec/podSets/0/template/spec/containers/0/env",
                        env.append("]").toString()))))
        .singleElement()
        .asString()
        .startsWith("spec: Too many: ")
        .endsWith(": must have at most 1048576 bytes as stored");
  }

  /** An annotation more, such as a request for a checkpoint, has to find room. */
  @Test
  void annotationsTakeHalfOfTheirRoomAtMost() {
    for (int length : new int[] {131_071, 131_072}) {
      JsonNode workload =
          edited(PENDING, set("/metadata/annotations", "{a: " + "v".repeat(length) + "}"));
      assertThat(composed(workload).isEmpty()).isEqualTo(length == 131_071);
    }
  }

  /** A patch of the spec has no metadata. */
  @Test
  void aSpecAloneIsHeldToThem() {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    spec.set("spec", PENDING.path("spec"));
    assertThat(composed(spec)).isEmpty();
  }
}
