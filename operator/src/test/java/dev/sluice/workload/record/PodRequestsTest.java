package dev.sluice.workload.record;

import static dev.sluice.workload.Templates.podSpec;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.Templates;
import dev.sluice.workload.feed.ResourceValidation;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import dev.sluice.workload.record.PodTemplateParser.PodRequests;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a pod counts as (docs/scheduling-semantics.md#what-is-pending). */
class PodRequestsTest {

  private static final Templates.Context NOTHING = new Templates.Context();

  private static Map<String, Long> perPod(String podSpec, LimitRange... ranges) {
    return PodRequests.of(podSpec(podSpec), rules(ranges), NOTHING).perPod();
  }

  private static NamespaceLimits rules(LimitRange... ranges) {
    return KubernetesResourceContext.merged(Arrays.asList(ranges));
  }

  private static LimitRange limitRange(String limits) {
    return Serialization.unmarshal(
        "metadata: {name: a}\nspec: {limits: [" + limits + "]}", LimitRange.class);
  }

  @Test
  void containersAddUp() {
    assertThat(
            perPod(
                """
                containers:
                - {name: a, resources: {requests: {cpu: 1500m, memory: 1Gi, example.com/gpu: 1}}}
                - {name: b, resources: {requests: {cpu: "0.0001", memory: "0.5"}}}
                """))
        .isEqualTo(Map.of("cpu", 1501L, "memory", (1L << 30) + 1, "example.com/gpu", 1L));
  }

  @Test
  void initContainersRunOneByOneSoTheLargestCounts() {
    assertThat(
            perPod(
                """
                initContainers:
                - {name: i1, resources: {requests: {cpu: 2, memory: 10}}}
                - {name: i2, resources: {requests: {cpu: 1, memory: 30}}}
                containers:
                - {name: a, resources: {requests: {cpu: 1, memory: 20}}}
                """))
        .isEqualTo(Map.of("cpu", 2000L, "memory", 30L));
  }

  @Test
  void sidecarsRunBesideContainersAndBesideTheInitContainersAfterThem() {
    assertThat(
            perPod(
                """
                initContainers:
                - {name: before, resources: {requests: {cpu: 5}}}
                - {name: proxy, restartPolicy: Always, resources: {requests: {cpu: 2}}}
                - {name: after, resources: {requests: {cpu: 4}}}
                containers:
                - {name: a, resources: {requests: {cpu: 1}}}
                """))
        .as("after + proxy = 6 > before = 5 > a + proxy = 3")
        .isEqualTo(Map.of("cpu", 6000L));
  }

  @Test
  void severalSidecarsAddUp() {
    assertThat(
            perPod(
                """
                initContainers:
                - {name: s1, restartPolicy: Always, resources: {requests: {cpu: 1}}}
                - {name: s2, restartPolicy: Always, resources: {requests: {cpu: 2}}}
                containers:
                - {name: a, resources: {requests: {cpu: 4}}}
                """))
        .isEqualTo(Map.of("cpu", 7000L));
  }

  /** Changes of 0.20, section 1. */
  @Test
  void amountsOfThePodCountWhereTheyAreMoreThanTheSumOfContainers() {
    assertThat(
            perPod(
                """
                resources: {requests: {cpu: 8}, limits: {memory: 100}}
                containers:
                - {name: a, resources: {requests: {cpu: 5, example.com/gpu: 1}}}
                """))
        .isEqualTo(Map.of("cpu", 8000L, "memory", 100L, "example.com/gpu", 1L));
    assertThat(
            perPod(
                """
                resources: {requests: {cpu: 3}}
                overhead: {cpu: 250m}
                containers:
                - {name: a, resources: {requests: {cpu: 5}}}
                - {name: b, resources: {requests: {cpu: 1}}}
                """))
        .as("at least the sum of the containers, plus overhead")
        .isEqualTo(Map.of("cpu", 6250L));
  }

  /** Changes of 0.20, section 1. */
  @Test
  void negativeRequestsCountZero() {
    assertThat(
            perPod(
                """
                resources: {requests: {memory: -1}}
                overhead: {cpu: -2}
                containers:
                - {name: a, resources: {requests: {cpu: -5}}}
                - {name: b, resources: {requests: {cpu: 3}}}
                """))
        .isEqualTo(Map.of("cpu", 3000L, "memory", 0L));
  }

  /** Changes of 0.20, section 1. */
  @Test
  void ownLimitsStandInForAbsentRequestsBeforeDefaultRequests() {
    LimitRange range =
        limitRange(
            "{type: Container, default: {cpu: 9, memory: 9}, defaultRequest: {cpu: 1, memory: 1}}");
    assertThat(
            perPod(
                """
                containers:
                - {name: a, resources: {limits: {cpu: 4}}}
                - {name: b, resources: {limits: {cpu: 8}, requests: {cpu: 2}}}
                """,
                range))
        .as("4 of the limit, and 2 of the request; memory by default requests")
        .isEqualTo(Map.of("cpu", 6000L, "memory", 2L));
  }

  @Test
  void limitsStandInForAbsentRequests() {
    assertThat(
            perPod(
                """
                initContainers:
                - {name: i, resources: {limits: {cpu: 3}}}
                containers:
                - {name: a, resources: {limits: {cpu: 2, memory: 5}, requests: {memory: 4}}}
                """))
        .isEqualTo(Map.of("cpu", 3000L, "memory", 4L));
  }

  @Test
  void overheadOfTheTemplateCountsBeforeThatOfItsClass() {
    Templates.Context context =
        new Templates.Context().overhead("sandbox", Map.of("cpu", 50L, "memory", 7L));
    String containers =
        """
        runtimeClassName: sandbox
        containers: [{name: a, resources: {requests: {cpu: 1}}}]
        """;
    assertThat(PodRequests.of(podSpec(containers), NamespaceLimits.NONE, context).perPod())
        .isEqualTo(Map.of("cpu", 1050L, "memory", 7L));
    assertThat(
            PodRequests.of(
                    podSpec(containers + "overhead: {cpu: 10m}"), NamespaceLimits.NONE, context)
                .perPod())
        .isEqualTo(Map.of("cpu", 1010L));
    assertThat(
            PodRequests.of(
                    podSpec(containers.replace("sandbox", "unknown")),
                    NamespaceLimits.NONE,
                    context)
                .perPod())
        .isEqualTo(Map.of("cpu", 1000L));
  }

  @Test
  void defaultsOfLimitRangesFillWhatIsMissingInEachContainer() {
    assertThat(
            perPod(
                """
                initContainers:
                - {name: i}
                containers:
                - {name: a}
                - {name: b, resources: {requests: {cpu: 1}}}
                """,
                limitRange(
                    "{type: Container, default: {cpu: 4, memory: 9}, defaultRequest: {cpu: 2}}")))
        .as("memory has no default request, so its default limit counts")
        .isEqualTo(Map.of("cpu", 3000L, "memory", 18L));
  }

  @Test
  void defaultsOfPodsFillOnlyPodsThatHaveAmountsOfTheirOwn() {
    LimitRange range = limitRange("{type: Pod, defaultRequest: {cpu: 6}}");
    assertThat(perPod("containers: [{name: a, resources: {requests: {cpu: 1}}}]", range))
        .isEqualTo(Map.of("cpu", 1000L));
    assertThat(perPod("{resources: {requests: {memory: 1}}, containers: [{name: a}]}", range))
        .isEqualTo(Map.of("cpu", 6000L, "memory", 1L));
  }

  @Test
  void ofSeveralLimitRangesTheStrictestBoundAndTheFirstDefaultHold() {
    NamespaceLimits rules =
        rules(
            limitRange(
                "{type: Container, max: {cpu: 4}, min: {cpu: 1}, defaultRequest: {cpu: 2},"
                    + " maxLimitRequestRatio: {memory: 1500m}}"),
            limitRange(
                "{type: Container, max: {cpu: 3}, min: {cpu: 2}, defaultRequest: {cpu: 3},"
                    + " maxLimitRequestRatio: {memory: 2}}"));
    assertThat(rules.container())
        .isEqualTo(
            new ItemRules(
                Map.of("cpu", 3000L),
                Map.of("cpu", 2000L),
                Map.of("memory", 1500L),
                Map.of(),
                Map.of("cpu", 2000L)));
    assertThat(rules.pod()).isEqualTo(ItemRules.NONE);
  }

  /** Changes of 0.20, section 1: sums saturate. */
  @Test
  void whatIsTooLargeSaturates() {
    assertThat(
            perPod(
                """
                containers:
                - {name: a, resources: {requests: {memory: 7E, cpu: 9P}}}
                - {name: b, resources: {requests: {memory: 7E, cpu: 9P}}}
                """))
        .isEqualTo(Map.of("memory", Long.MAX_VALUE, "cpu", Long.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "resources: {requests: {cpu: 2}, limits: {cpu: 1}} | container a: request of cpu 2 exceeds"
            + " its limit 1",
        "resources: {requests: {cpu: 5}} | container a: cpu 5 is above the LimitRange maximum 4",
        "resources: {limits: {cpu: 5}, requests: {cpu: 1}} | container a: cpu 5 is above the"
            + " LimitRange maximum 4",
        "resources: {requests: {cpu: 100m}} | container a: cpu 100m is below the LimitRange minimum"
            + " 500m",
        "resources: {requests: {memory: 11}} | pod: memory 11 is above the LimitRange maximum 10",
        "resources: {requests: {cpu: lots}} | \"lots\" is not a quantity",
      })
  void whatCanNeverRunIsNamed(String resources, String defect) {
    NamespaceLimits rules =
        rules(
            limitRange("{type: Container, max: {cpu: 4}, min: {cpu: 500m}}"),
            limitRange("{type: Pod, max: {memory: 10}}"));
    assertThat(
            ResourceValidation.of(
                podSets("containers: [{name: a, " + resources + "}]"),
                rules,
                List.of(DeviceCharge.NONE),
                NOTHING))
        .get()
        .asString()
        .contains("pod set main")
        .contains(defect);
  }

  /** Changes of 0.20, section 2: a LimitRange refuses by its ratio, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Container | {limits: {cpu: 3}, requests: {cpu: 2}} |",
        "Container | {limits: {cpu: 3}, requests: {cpu: 1999m}} | container a: limit of cpu 3 is"
            + " above its request 1999m times the LimitRange ratio 1.5",
        "Container | {requests: {cpu: 2}} | container a: cpu needs a request and a limit",
        "Container | {limits: {cpu: 0}} | container a: cpu needs a request and a limit",
        "Pod | {limits: {cpu: 3}, requests: {cpu: 2}} |",
        "Pod | {limits: {cpu: 4}, requests: {cpu: 2}} | pod: limit of cpu 4 is above its request 2"
            + " times the LimitRange ratio 1.5",
        "Pod | {requests: {cpu: 2}} | pod: cpu needs a request and a limit",
      })
  void limitsAreBoundedByTheirRequests(String type, String resources, @Nullable String defect) {
    Optional<String> found =
        ResourceValidation.of(
            podSets("{overhead: {cpu: 2}, containers: [{name: a, resources: " + resources + "}]}"),
            rules(limitRange("{type: " + type + ", maxLimitRequestRatio: {cpu: 1500m}}")),
            List.of(DeviceCharge.NONE),
            NOTHING);
    if (defect == null) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found).get().asString().contains("pod set main, " + defect);
    }
  }

  /** Changes of 0.20, section 2. */
  @Test
  void limitsOfAPodAddUpAsRequestsDoUnlessThePodHasItsOwn() {
    String containers =
        """
        initContainers:
        - {name: i, resources: {limits: {cpu: 9}}}
        - {name: s, restartPolicy: Always, resources: {limits: {cpu: 1, memory: 4}}}
        containers:
        - {name: a, resources: {limits: {cpu: 2, memory: 5}, requests: {memory: 1}}}
        - {name: b}
        overhead: {memory: 100}
        """;
    assertThat(PodRequests.of(podSpec(containers), NamespaceLimits.NONE, NOTHING).whole())
        .isEqualTo(
            new ResourceNeeds(
                Map.of("cpu", 9000L, "memory", 5L), Map.of("cpu", 9000L, "memory", 9L)));
    assertThat(
            PodRequests.of(
                    podSpec(containers + "resources: {limits: {memory: 7}}"),
                    NamespaceLimits.NONE,
                    NOTHING)
                .whole()
                .limits())
        .isEqualTo(Map.of("cpu", 9000L, "memory", 7L));
  }

  @Test
  void whatKeepsToTheRulesHasNoDefect() {
    assertThat(
            ResourceValidation.of(
                podSets("containers: [{name: a, resources: {requests: {cpu: 4}}}]"),
                rules(limitRange("{type: Container, max: {cpu: 4}, min: {cpu: 4}}")),
                List.of(DeviceCharge.NONE),
                NOTHING))
        .isEmpty();
  }

  private static List<CachedWorkload.PodSet> podSets(String podSpec) {
    return List.of(
        new CachedWorkload.PodSet(
            "main", 1, OptionalInt.empty(), podSpec(podSpec), "", Optional.empty()));
  }
}
