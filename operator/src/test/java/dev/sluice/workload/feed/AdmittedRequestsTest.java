package dev.sluice.workload.feed;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.workload.Templates;
import dev.sluice.workload.devices.ClaimedDevices;
import dev.sluice.workload.devices.GivenClaims;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.PodTemplateParser;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Whether a pod is within what its pod set was admitted with. */
class AdmittedRequestsTest {

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Assignment TWO_CPUS_FOR_TWO =
      new Assignment("main", Map.of("cpu", "plain"), Map.of("cpu", "2"), 2);

  private static JsonNode pod(String requests) {
    try {
      return YAML.readTree(
          "{spec: {containers: [{name: c, resources: {requests: %s}}]}}".formatted(requests));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static PodSet podSet(String requests) {
    return new PodSet(
        "main", 2, OptionalInt.empty(), PodTemplateParser.of(pod(requests)), "", Optional.empty());
  }

  @Test
  void amountsOfOnePodAreAllowed() {
    AdmittedRequests plain = AdmittedRequests.PLAIN;

    assertThat(plain.excess(pod("{cpu: 1000m}"), podSet("{}"), TWO_CPUS_FOR_TWO)).isEmpty();
    assertThat(plain.excess(pod("{cpu: 1001m}"), podSet("{}"), TWO_CPUS_FOR_TWO))
        .contains("cpu: 1001 of 1000");
    assertThat(plain.excess(pod("{memory: 1Gi}"), podSet("{memory: 1Gi}"), TWO_CPUS_FOR_TWO))
        .isEmpty();
    assertThat(plain.excess(pod("{memory: 1Gi}"), podSet("{}"), TWO_CPUS_FOR_TWO))
        .contains("memory: 1073741824 of 0");
  }

  private static JsonNode podWithProxy(String proxy) {
    try {
      return YAML.readTree(
          """
          spec:
            containers:
            - {name: c, resources: {requests: {cpu: 1}}}
            - {name: proxy, resources: {requests: %s}}
          """
              .formatted(proxy));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Test
  void whatWebhooksAddIsAllowedUpToItsAmountsAndToNobodyElse() {
    AdmittedRequests requests =
        new AdmittedRequests(
            List.of(), List.of(), false, Map.of("proxy", Map.of("cpu", 100L, "memory", 1024L)));
    PodSet plain = podSet("{cpu: 1}");

    assertThat(requests.excess(podWithProxy("{cpu: 100m, memory: 1Ki}"), plain, TWO_CPUS_FOR_TWO))
        .isEmpty();
    assertThat(requests.excess(podWithProxy("{cpu: 101m}"), plain, TWO_CPUS_FOR_TWO))
        .contains("cpu: 1001 of 1000");
    assertThat(requests.excess(podWithProxy("{memory: 2Ki}"), plain, TWO_CPUS_FOR_TWO))
        .contains("memory: 1024 of 0");
    assertThat(requests.excess(pod("{cpu: 1100m}"), plain, TWO_CPUS_FOR_TWO))
        .contains("cpu: 1100 of 1000");
    assertThat(requests.hasInjected(podWithProxy("{}").path("spec"))).isTrue();
    assertThat(requests.hasInjected(pod("{}").path("spec"))).isFalse();
  }

  @Test
  void aTemplateThatHasTheContainerItselfIsNotAllowedMoreThanItIsChargedFor() {
    AdmittedRequests requests =
        new AdmittedRequests(List.of(), List.of(), false, Map.of("proxy", Map.of("cpu", 100L)));
    PodSet own =
        new PodSet(
            "main",
            2,
            OptionalInt.empty(),
            PodTemplateParser.of(podWithProxy("{cpu: 100m}")),
            "",
            Optional.empty());
    Assignment charged = new Assignment("main", Map.of("cpu", "plain"), Map.of("cpu", "2200m"), 2);

    assertThat(requests.excess(podWithProxy("{cpu: 100m}"), own, charged)).isEmpty();
    assertThat(requests.excess(pod("{cpu: 1001m}"), own, charged)).contains("cpu: 1001 of 1000");
    assertThat(requests.allowed(own, charged, 2)).containsExactly(Map.entry("cpu", 2000L));
  }

  @Test
  void resourcesThatQuotaDoesNotCountAreNotCompared() {
    assertThat(
            new AdmittedRequests(List.of("memory"), List.of(), false, Map.of())
                .excess(pod("{memory: 1Gi}"), podSet("{}"), TWO_CPUS_FOR_TWO))
        .isEmpty();
    assertThat(
            new AdmittedRequests(List.of(), List.of(), true, Map.of())
                .excess(pod("{memory: 1Gi, cpu: 2}"), podSet("{}"), TWO_CPUS_FOR_TWO))
        .contains("cpu: 2000 of 1000");
  }

  /** Claims of 8 devices; a resource that pods request is another name of the devices. */
  private static final ClaimedDevices DEVICES = new GivenClaims("gpus", 8, "example.com/gpu");

  /** A template of devices for administrators is admitted as nothing, and may be replaced. */
  @Test
  void devicesThatWereAdmittedAsNothingAreNotAllowed() {
    PodSet claims =
        new PodSet(
            "main",
            2,
            OptionalInt.empty(),
            Templates.podSpec("{resourceClaims: [{name: c, resourceClaimTemplateName: t}]}"),
            "",
            Optional.empty());
    AdmittedRequests requests = AdmittedRequests.PLAIN.counting(DEVICES);
    assertThat(requests.allowed(claims, TWO_CPUS_FOR_TWO, 2)).doesNotContainKey("gpus");
    assertThat(requests.withDevices("ns", List.of("c"), new TreeMap<>(Map.of("cpu", 1L))))
        .isEqualTo(Map.of("gpus", 8L, "cpu", 1L));
  }

  @Test
  void whatDevicesStandBehindIsAllowedOnceByOneName() {
    AdmittedRequests requests = AdmittedRequests.PLAIN.counting(DEVICES);
    PodSet template = podSet("{example.com/gpu: 8}");
    Assignment charged = new Assignment("main", Map.of("gpus", "plain"), Map.of("gpus", "16"), 2);
    Assignment chargedBefore =
        new Assignment(
            "main", Map.of("example.com/gpu", "plain"), Map.of("example.com/gpu", "16"), 2);
    for (Assignment assignment : List.of(charged, chargedBefore)) {
      assertThat(requests.allowed(template, assignment, 2)).isEqualTo(Map.of("gpus", 16L));
      assertThat(requests.excess(pod("{example.com/gpu: 8}"), template, assignment)).isEmpty();
      assertThat(requests.excess(pod("{example.com/gpu: 9}"), template, assignment))
          .contains("gpus: 9 of 8");
    }
    assertThat(requests.of(pod("{example.com/gpu: 8}"))).isEqualTo(Map.of("gpus", 8L));
    assertThat(requests.withDevices("ns", List.of(), new TreeMap<>(Map.of("example.com/gpu", 8L))))
        .as("counted before the class was known")
        .isEqualTo(Map.of("gpus", 8L));
  }

  /** The devices of a template that is replaced later are no other resource of the pods. */
  @Test
  void devicesAreComparedWhereOtherUndeclaredResourcesAreNot() {
    AdmittedRequests requests =
        new AdmittedRequests(List.of(), List.of(), true, Map.of()).counting(DEVICES);
    assertThat(
            requests.excess(
                pod("{memory: 1Gi, example.com/gpu: 1}"), podSet("{}"), TWO_CPUS_FOR_TWO))
        .contains("gpus: 1 of 0");
  }
}
