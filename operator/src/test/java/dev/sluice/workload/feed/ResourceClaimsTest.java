package dev.sluice.workload.feed;

import static dev.sluice.workload.Templates.workload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.Templates;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workloads whose pods have resource claims (docs/scheduling-semantics.md#device-claims). */
class ResourceClaimsTest {

  private static final TranslationOptions CLAIMS_PASS =
      TranslationOptions.DEFAULT
          .with(FeatureGate.KUEUE_DRA_INTEGRATION, false)
          .with(FeatureGate.KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED, false);

  private static Optional<String> defect(TranslationOptions rules, String... podSpecs) {
    StringBuilder podSets = new StringBuilder();
    for (int i = 0; i < podSpecs.length; i++) {
      podSets.append(
          "  - {name: set-%d, count: 1, template: {spec: %s}}\n".formatted(i, podSpecs[i]));
    }
    SchedulerEvent schedulerEvent =
        new WorkloadTranslator(new Templates.Context(), rules)
            .of(
                workload(
                    """
                    metadata:
                      name: sample
                      namespace: team
                      uid: uid-1
                      resourceVersion: "7"
                      creationTimestamp: "2026-03-01T10:00:00Z"
                    spec:
                      queueName: training
                      podSets:
                    """
                        + podSets));
    assertThat(schedulerEvent).isInstanceOf(SchedulerEvent.WorkloadPending.class);
    return ((SchedulerEvent.WorkloadPending) schedulerEvent).workload().defect();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]}",
        "{resourceClaims: [{name: gpu, resourceClaimName: shared}]}",
        "{containers: [{name: a, resources: {claims: [{name: gpu, request: any}]}}]}",
        "{initContainers: [{name: a, resources: {claims: [{name: gpu}]}}]}",
        "{resources: {claims: [{name: gpu}]}}",
        "{resourceClaims: [{name: gpu, resourceClaimName: shared}],"
            + " containers: [{name: a, resources: {claims: [{name: gpu}]}}]}"
      })
  void aClaimIsToldOnceWithItsPodSet(String podSpec) {
    assertThat(defect(TranslationOptions.DEFAULT, "{containers: [{name: a}]}", podSpec))
        .contains(
            "pod set set-1: resource claim gpu: quota does not count devices of resource claims");
  }

  @Test
  void allClaimsOfAllPodSetsAreTold() {
    assertThat(
            defect(
                TranslationOptions.DEFAULT,
                "{resourceClaims: [{name: nic, resourceClaimName: n}, {name: gpu}]}",
                "{resourceClaims: [{name: disk, resourceClaimName: d}]}"))
        .hasValueSatisfying(
            text ->
                assertThat(text.split("; "))
                    .extracting(part -> part.substring(0, part.lastIndexOf(':')))
                    .containsExactly(
                        "pod set set-0: resource claim gpu",
                        "pod set set-0: resource claim nic",
                        "pod set set-1: resource claim disk"));
  }

  @Test
  void podsWithoutClaimsPass() {
    assertThat(
            defect(
                TranslationOptions.DEFAULT,
                "{resourceClaims: [], containers: [{name: a, resources: {requests: {cpu: 1}}}]}"))
        .isEmpty();
  }

  @Test
  void claimsPassWhereTheRulesSaySo() {
    assertThat(defect(CLAIMS_PASS, "{resourceClaims: [{name: gpu, resourceClaimName: shared}]}"))
        .isEmpty();
  }
}
