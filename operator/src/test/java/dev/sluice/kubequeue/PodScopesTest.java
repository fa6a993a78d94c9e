package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scopes of ResourceQuotas, judged by pod templates. */
class PodScopesTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "scopes: [Terminating]                    | {activeDeadlineSeconds: 0}    | true",
        "scopes: [Terminating]                    | {}                            | false",
        "scopes: [NotTerminating]                 | {activeDeadlineSeconds: 5}    | false",
        "scopes: [NotTerminating, BestEffort]     | {}                            | true",
        "scopes: [NotTerminating, BestEffort]     | {activeDeadlineSeconds: 5}    | false",
        "scopes: [BestEffort] | {containers: [{resources: {requests: {memory: 1}}}]}    | false",
        "scopes: [BestEffort] | {initContainers: [{resources: {limits: {cpu: 100m}}}]}  | false",
        "scopes: [BestEffort] | {resources: {requests: {cpu: 1}}}                       | false",
        "scopes: [BestEffort] | {containers: [{resources: {requests: {cpu: 0, x/y: 1}}}]} | true",
        "scopes: [BestEffort] | {containers: [{resources: {requests: {cpu: 0.0}}}]}     | true",
        "scopes: [NotBestEffort] | {containers: [{}, {resources: {limits: {cpu: 1}}}]}  | true",
        "scopes: [NotBestEffort] | {containers: [{}]}                                   | false",
        "scopes: [PriorityClass]                  | {priorityClassName: any}      | true",
        "scopes: [PriorityClass]                  | {}                            | false",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [a]}]}"
            + " | {priorityClassName: a} | true",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [a]}]}"
            + " | {priorityClassName: b} | false",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn,"
            + " values: [a]}]} | {} | true",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn,"
            + " values: [a]}]} | {priorityClassName: a} | false",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}"
            + " | {} | true",
        "scopes: [CrossNamespacePodAffinity] | {affinity: {podAffinity:"
            + " {requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [x]}]}}} | true",
        "scopes: [CrossNamespacePodAffinity] | {affinity: {podAntiAffinity:"
            + " {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm:"
            + " {namespaceSelector: {}}}]}}} | true",
        "scopes: [CrossNamespacePodAffinity] | {affinity: {podAffinity:"
            + " {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: x}]}}} | false",
      })
  void podsAreAmongThoseOfAQuota(String spec, String pod, boolean included) {
    PodScopes scopes = PodScopes.of(QuotaTrees.yaml("{" + spec + "}")).orElseThrow();
    assertThat(scopes.include(QuotaTrees.yaml("{spec: " + pod + "}"))).isEqualTo(included);
    assertThat(PodScopes.parse(scopes.text())).isEqualTo(scopes);
  }

  @Test
  void aQuotaWithoutScopesIsAboutAllPods() {
    assertThat(PodScopes.of(QuotaTrees.yaml("{hard: {cpu: 1}}"))).contains(PodScopes.ALL);
    assertThat(PodScopes.parse("")).isEqualTo(PodScopes.ALL);
  }

  @Test
  void otherScopesAreNotAboutPods() {
    assertThat(PodScopes.of(QuotaTrees.yaml("{scopes: [VolumeAttributesClass]}"))).isEmpty();
  }
}
