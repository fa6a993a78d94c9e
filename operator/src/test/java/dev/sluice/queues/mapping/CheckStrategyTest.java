package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which checks a Workload needs (docs/workload-semantics.md#admission-checks). */
class CheckStrategyTest {

  private static final ClusterQueue QUEUE =
      new KubernetesSerialization()
          .unmarshal(
              """
              apiVersion: kueue.x-k8s.io/v1beta2
              kind: ClusterQueue
              metadata: {name: research}
              spec:
                resourceGroups:
                - coveredResources: [cpu]
                  flavors:
                  - {name: spot, resources: [{name: cpu, nominalQuota: "1"}]}
                  - {name: plain, resources: [{name: cpu, nominalQuota: "1"}]}
                - coveredResources: [gpu]
                  flavors:
                  - {name: fast, resources: [{name: gpu, nominalQuota: "1"}]}
                admissionChecksStrategy:
                  admissionChecks:
                  - {name: z-always}
                  - {name: on-spot, onFlavors: [spot]}
                  - {name: on-fast, onFlavors: [fast, plain]}
                  - {name: on-all, onFlavors: [fast, plain, spot]}
              """,
              ClusterQueue.class);

  @Test
  void beforeAReservationOnlyThoseThatHoldForEveryFlavor() {
    assertThat(CheckStrategy.required(QUEUE, Optional.empty(), Map.of()))
        .containsExactly("on-all", "z-always");
  }

  @ParameterizedTest
  @CsvSource({
    "spot, 'on-all on-spot z-always'",
    "plain, 'on-all on-fast z-always'",
    "spot fast, 'on-all on-fast on-spot z-always'"
  })
  void withAReservationThoseOfTheFlavorsItWasGiven(String assigned, String required) {
    assertThat(CheckStrategy.required(QUEUE, Optional.of(List.of(assigned.split(" "))), Map.of()))
        .containsExactly(required.split(" "));
  }

  /** What can't be read narrows nothing. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"z-always\": {\"matchLabels\": {\"tier\": \"gold\"}}} | tier=gold | z-always",
        "{\"z-always\": {\"matchLabels\": {\"tier\": \"gold\"}}} | tier=lead | ''",
        "{\"z-always\": {\"matchExpressions\": [{\"key\": \"tier\", \"operator\":"
            + " \"DoesNotExist\"}]}} | tier=lead | ''",
        "{\"z-always\": {}} | tier=lead | z-always",
        "{\"other\": {\"matchLabels\": {\"tier\": \"gold\"}}} | tier=lead | z-always",
        "{\"z-always\": {\"matchLabels\": {\"?\": \"gold\"}}} | tier=lead | z-always",
        "{\"z-always\": 7} | tier=lead | z-always",
        "{\"z-always\": null} | tier=lead | z-always",
        "[1] | tier=lead | z-always",
        "{ | tier=lead | z-always",
      })
  void anAnnotationSelectsTheWorkloadsOfACheck(String annotation, String label, String required) {
    ClusterQueue queue =
        new KubernetesSerialization()
            .unmarshal(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ClusterQueue
                metadata: {name: plain}
                spec: {admissionChecksStrategy: {admissionChecks: [{name: z-always}]}}
                """,
                ClusterQueue.class);
    queue.getMetadata().setAnnotations(Map.of("sluice.dev/admission-check-selectors", annotation));
    String[] each = label.split("=");
    assertThat(
            String.join(
                " ", CheckStrategy.required(queue, Optional.empty(), Map.of(each[0], each[1]))))
        .isEqualTo(required);
  }

  @Test
  void noneInAQueueWithoutStrategy() {
    ClusterQueue plain =
        new KubernetesSerialization()
            .unmarshal(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ClusterQueue
                metadata: {name: plain}
                spec: {}
                """,
                ClusterQueue.class);
    assertThat(CheckStrategy.required(plain, Optional.empty(), Map.of())).isEmpty();
  }

  private static ClusterQueue queueWithChecks(String rules) {
    return new KubernetesSerialization()
        .unmarshal(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: many}
            spec:
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: spot, resources: [{name: cpu, nominalQuota: "1"}]}
                - {name: plain, resources: [{name: cpu, nominalQuota: "1"}]}
              admissionChecksStrategy:
                admissionChecks: [%s]
            """
                .formatted(rules),
            ClusterQueue.class);
  }

  private static String checks(int count, String more) {
    return IntStream.range(0, count)
        .mapToObj(i -> "{name: check-%s%d%s}".formatted(more.replaceAll("\\W", ""), i, more))
        .collect(Collectors.joining(", "));
  }

  @Test
  void moreThanAWorkloadHasRoomForAreRequiredAllTheSame() {
    ClusterQueue queue = queueWithChecks(checks(10, ""));

    assertThat(CheckStrategy.required(queue, Optional.empty(), Map.of())).hasSize(10);
    assertThat(CheckStrategy.required(queue, Optional.of(List.of("spot")), Map.of())).hasSize(10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "8 | 0 | 0 | ''",
        "9 | 0 | 0 | 9 checks apply to all flavors",
        "6 | 2 | 2 | ''",
        "6 | 3 | 2 | 9 checks apply to flavor \"spot\"",
        "0 | 8 | 8 | ''",
        "0 | 8 | 9 | 9 checks apply to flavor \"plain\"",
      })
  void aFlavorHasNoMoreThanAWorkloadHasRoomFor(int all, int spot, int plain, String problem) {
    String rules =
        Stream.of(
                checks(all, ""),
                checks(spot, ", onFlavors: [spot]"),
                checks(plain, ", onFlavors: [plain]"))
            .filter(each -> !each.isEmpty())
            .collect(Collectors.joining(", "));

    assertThat(CheckStrategy.lackOfRoom(queueWithChecks(rules)).orElse(""))
        .isEqualTo(
            problem.isEmpty()
                ? ""
                : "spec.admissionChecksStrategy.admissionChecks: "
                    + problem
                    + ", and the status of a Workload has room for 8");
  }

  @Test
  void checksThatOnlySomeWorkloadsNeedAreNotCountedForAll() {
    ClusterQueue queue = queueWithChecks(checks(9, ""));
    queue
        .getMetadata()
        .setAnnotations(
            Map.of(
                "sluice.dev/admission-check-selectors",
                "{\"check-0\": {\"matchLabels\": {\"tier\": \"gold\"}}}"));

    assertThat(CheckStrategy.lackOfRoom(queue)).isEmpty();
  }

  /**
   * Preempting for one that isn't admitted then would be in vain. Checks of another resource group,
   * for other labels, or for one of several flavors don't count.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "5 | 4 | cpu,gpu | gold | 9",
        "5 | 4 | cpu | gold | 0",
        "5 | 4 | cpu,gpu | lead | 0",
        "5 | 3 | cpu,gpu | gold | 0",
        "0 | 9 | gpu | lead | 0",
      })
  void aWorkloadMayNeedMoreThanItHasRoomForByItsLabelsAndResources(
      int gold, int ofGpu, String resources, String tier, int needed) {
    String some = gold == 0 ? "{name: check-a}" : checks(gold, "");
    ClusterQueue queue =
        new KubernetesSerialization()
            .unmarshal(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ClusterQueue
                metadata: {name: many}
                spec:
                  resourceGroups:
                  - coveredResources: [cpu]
                    flavors:
                    - {name: spot, resources: [{name: cpu, nominalQuota: "1"}]}
                    - {name: plain, resources: [{name: cpu, nominalQuota: "1"}]}
                  - coveredResources: [gpu]
                    flavors: [{name: fast, resources: [{name: gpu, nominalQuota: "1"}]}]
                  admissionChecksStrategy:
                    admissionChecks: [%s, %s, %s]
                """
                    .formatted(
                        some,
                        checks(9, ", onFlavors: [spot]"),
                        checks(ofGpu, ", onFlavors: [fast]")),
                ClusterQueue.class);
    String selected =
        IntStream.range(0, ofGpu)
            .mapToObj(
                i ->
                    "\"check-onFlavorsfast%d\": {\"matchLabels\": {\"tier\": \"gold\"}}"
                        .formatted(i))
            .collect(Collectors.joining(", ", "{", "}"));
    queue.getMetadata().setAnnotations(Map.of("sluice.dev/admission-check-selectors", selected));

    assertThat(
            CheckStrategy.lackOfRoom(
                    queue, () -> Set.of(resources.split(",")), Map.of("tier", tier))
                .map(problem -> Integer.parseInt(problem.split(" ")[2]))
                .orElse(0))
        .isEqualTo(needed);
  }

  @Test
  void onlyAChangeOfMoreThanAWorkloadHasRoomForIsOne() {
    ClusterQueue few = queueWithChecks(checks(8, ""));
    ClusterQueue many = queueWithChecks(checks(9, ""));

    assertThat(CheckStrategy.differ(null, few)).isFalse();
    assertThat(CheckStrategy.differ(queueWithChecks(checks(1, "")), few)).isFalse();
    assertThat(CheckStrategy.differ(few, many)).isTrue();
    assertThat(CheckStrategy.differ(many, queueWithChecks(checks(9, "")))).isFalse();
    assertThat(CheckStrategy.differ(many, queueWithChecks(checks(9, ", onFlavors: [spot]"))))
        .isTrue();
  }
}
