package dev.sluice.api.conversion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.HubConverter.ConversionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HubConverterTest {

  private static final String V2 = "kueue.x-k8s.io/v1beta2";
  private static final String V1 = "kueue.x-k8s.io/v1beta1";
  private static final String ALPHA = "kueue.x-k8s.io/v1alpha2";

  private final HubConverter hubConverter = new HubConverter();

  /** Changes of 0.20, section 3. */
  @ParameterizedTest
  @CsvSource({
    "ClusterQueue,v1beta1",
    "ClusterQueue,v1alpha2",
    "LocalQueue,v1beta1",
    "LocalQueue,v1alpha2",
    "ResourceFlavor,v1beta1",
    "ResourceFlavor,v1alpha2",
    "Workload,v1beta1",
    "Cohort,v1beta1",
    "MultiKueueCluster,v1beta1"
  })
  void aStoredObjectComesBackFromAnOlderVersionAsItWas(String kind, String version) {
    for (long seed = 0; seed < 500; seed++) {
      ObjectNode stored = new Objects(seed).hub(kind);

      ObjectNode old = hubConverter.convert(stored, "kueue.x-k8s.io/" + version);
      ObjectNode back = hubConverter.convert(old, V2);

      assertThat(back).as("seed %d, by way of %s", seed, old).isEqualTo(stored);
    }
  }

  @Test
  void aClusterQueueOfV1Alpha2ComesBackAsItWas() {
    for (long seed = 0; seed < 1000; seed++) {
      ObjectNode old = new Objects(seed).alphaClusterQueue();

      ObjectNode stored = hubConverter.convert(old, V2);
      ObjectNode back = hubConverter.convert(stored, ALPHA);

      assertThat(back).as("seed %d, by way of %s", seed, stored).isEqualTo(old);
      assertThat(hubConverter.convert(hubConverter.convert(stored, V1), ALPHA)).isEqualTo(old);
    }
  }

  @Test
  void aFlavorOfV1Alpha2ComesBackAsItWas() {
    for (long seed = 0; seed < 100; seed++) {
      ObjectNode old = new Objects(seed).alphaFlavor();

      assertThat(hubConverter.convert(hubConverter.convert(old, V2), ALPHA)).isEqualTo(old);
    }
  }

  @Test
  void theManifestsOfTheScenariosComeBackAsTheyWere() throws IOException {
    int converted = 0;
    for (ObjectNode object : scenarioObjects()) {
      ObjectNode stored = hubConverter.convert(object, V2);

      assertThat(hubConverter.convert(stored, object.path("apiVersion").asText()))
          .isEqualTo(object);
      assertThat(hubConverter.convert(hubConverter.convert(stored, V1), V2)).isEqualTo(stored);
      converted++;
    }
    assertThat(converted).as("objects of kinds that have a conversion").isGreaterThanOrEqualTo(19);
  }

  @Test
  void labelsAndTaintsOfAnOldFlavorTellItsNodes() {
    ObjectNode flavor =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: ResourceFlavor
            metadata: {name: spot, labels: {instance-type: spot}}
            taints:
            - {effect: NoSchedule, key: spot, value: "true"}
            """);

    assertThat(hubConverter.convert(flavor, V2))
        .isEqualTo(
            object(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ResourceFlavor
                metadata: {name: spot, labels: {instance-type: spot}}
                spec:
                  nodeLabels: {instance-type: spot}
                  nodeTaints:
                  - {effect: NoSchedule, key: spot, value: "true"}
                """));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "all | {min: 100}            | {name: gpu, nominalQuota: 100}",
        "all | {min: 100, max: 150}  | {name: gpu, nominalQuota: 100, borrowingLimit: 50}",
        "all | {max: 200}            | {name: gpu, nominalQuota: 0, borrowingLimit: 200}",
        "all | {min: 1Gi, max: 3Gi}  | {name: gpu, nominalQuota: 1Gi, borrowingLimit: 2Gi}",
        "all | {min: 500m, max: 2}   | {name: gpu, nominalQuota: 500m, borrowingLimit: 1500m}",
        "    | {max: 200}            | {name: gpu, nominalQuota: 200}",
        "    | {min: 100, max: 150}  | {name: gpu, nominalQuota: 100}",
        "    | {}                    | {name: gpu, nominalQuota: 0}"
      })
  void guaranteedAndGreatestAmountBecomeQuotaAndLimit(
      String cohort, String quota, String expected) {
    ObjectNode queue =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              resources:
              - name: gpu
                flavors: [{name: a100, quota: %s}]
            """
                .formatted(quota));
    if (cohort != null) {
      queue.withObject("/spec").put("cohort", cohort);
    }

    JsonNode stored =
        hubConverter.convert(queue, V2).at("/spec/resourceGroups/0/flavors/0/resources/0");

    assertThat(stored).isEqualTo(object(expected));
  }

  @Test
  void amountsWhoseSumIsTooLargeForANumberAreWrittenAsText() {
    ObjectNode stored =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              cohortName: all
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - name: a
                  resources: [{name: cpu, nominalQuota: 9223372036854775807, borrowingLimit: 1}]
            """);

    ObjectNode old = hubConverter.convert(stored, ALPHA);

    assertThat(old.at("/spec/resources/0/flavors/0/quota/max").asText())
        .isEqualTo("9223372036854775808");
    assertThat(hubConverter.convert(old, V2)).isEqualTo(stored);
  }

  @Test
  void resourcesWithTheSameFlavorsBecomeOneGroup() {
    ObjectNode queue =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              resources:
              - {name: cpu, flavors: [{name: a, quota: {min: 1}}, {name: b, quota: {min: 2}}]}
              - {name: gpu, flavors: [{name: c, quota: {min: 3}}]}
              - {name: memory, flavors: [{name: a, quota: {min: 4}}, {name: b, quota: {min: 5}}]}
            """);

    assertThat(hubConverter.convert(queue, V2).at("/spec/resourceGroups").toString())
        .isEqualTo(
            object(
                    """
                    r:
                    - coveredResources: [cpu, memory]
                      flavors:
                      - {name: a, resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 4}]}
                      - {name: b, resources: [{name: cpu, nominalQuota: 2}, {name: memory, nominalQuota: 5}]}
                    - coveredResources: [gpu]
                      flavors:
                      - {name: c, resources: [{name: gpu, nominalQuota: 3}]}
                    """)
                .get("r")
                .toString());
  }

  @Test
  void aChangeMadeInAnOldVersionKeepsWhatThatVersionCantSay() {
    ObjectNode stored =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              cohortName: all
              stopPolicy: Hold
              preemption: {withinClusterQueue: LowerPriority}
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: a, resources: [{name: cpu, nominalQuota: 10, lendingLimit: 4}]}
                - {name: b, resources: [{name: cpu, nominalQuota: 10, lendingLimit: 4}]}
            """);
    ObjectNode old = hubConverter.convert(stored, ALPHA);

    ((ObjectNode) old.at("/spec/resources/0/flavors/0/quota")).put("min", 20);
    ((ObjectNode) old.at("/spec/resources/0/flavors/1/quota")).put("min", 3);
    ObjectNode changed = hubConverter.convert(old, V2);

    assertThat(changed.at("/spec/stopPolicy").asText()).isEqualTo("Hold");
    assertThat(changed.at("/spec/preemption/withinClusterQueue").asText())
        .isEqualTo("LowerPriority");
    assertThat(changed.at("/spec/resourceGroups/0/flavors/0/resources/0"))
        .isEqualTo(object("{name: cpu, nominalQuota: 20, lendingLimit: 4}"));
    assertThat(changed.at("/spec/resourceGroups/0/flavors/1/resources/0"))
        .as("a lending limit that no longer limits anything")
        .isEqualTo(object("{name: cpu, nominalQuota: 3}"));
    assertThat(changed.at("/metadata/annotations").isMissingNode()).isTrue();
  }

  @Test
  void aChangeMadeInTheStoredVersionIsSeenInTheOldOne() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              resources: [{name: gpu, flavors: [{name: a, quota: {max: 200}}]}]
            """);
    ObjectNode stored = hubConverter.convert(old, V2);

    ((ObjectNode) stored.at("/spec/resourceGroups/0/flavors/0/resources/0"))
        .put("nominalQuota", 300);

    assertThat(hubConverter.convert(stored, ALPHA).at("/spec/resources/0/flavors/0/quota"))
        .isEqualTo(object("{min: 300}"));
  }

  @Test
  void anOldQueueSaysCohortAndNamesItsChecks() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta1
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              cohort: all
              admissionChecks: [one, two]
              flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}
            status:
              pendingWorkloads: 3
              pendingWorkloadsStatus: {lastChangeTime: "2026-01-01T00:00:00Z"}
            """);

    assertThat(hubConverter.convert(old, V2))
        .isEqualTo(
            object(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: ClusterQueue
                metadata: {name: pool}
                spec:
                  cohortName: all
                  flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}
                  admissionChecksStrategy: {admissionChecks: [{name: one}, {name: two}]}
                status: {pendingWorkloads: 3}
                """));
  }

  @Test
  void aWorkloadOfV1Beta1NamesItsPriorityClassAndItsDomains() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta1
            kind: Workload
            metadata: {name: w}
            spec:
              priorityClassName: high
              priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
            status:
              accumulatedPastExexcutionTimeSeconds: 7
              admission:
                podSetAssignments:
                - name: main
                  topologyAssignment:
                    levels: [rack, host]
                    domains:
                    - {values: [r1, node-a-x], count: 1}
                    - {values: [r1, node-b-x], count: 2}
            """);

    ObjectNode stored = hubConverter.convert(old, V2);

    assertThat(stored.at("/spec/priorityClassRef"))
        .isEqualTo(object("{group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}"));
    assertThat(stored.at("/status/accumulatedPastExecutionTimeSeconds").asInt()).isEqualTo(7);
    assertThat(stored.at("/status/admission/podSetAssignments/0/topologyAssignment/slices/0"))
        .isEqualTo(
            object(
                """
                domainCount: 2
                podCounts: {individual: [1, 2]}
                valuesPerLevel:
                - {universal: r1}
                - {individual: {prefix: node-, suffix: -x, roots: [a, b]}}
                """));
    assertThat(hubConverter.convert(stored, V1)).isEqualTo(old);
  }

  @Test
  void aPriorityClassWithoutSourceRefersToNothingAndIsNotForgotten() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta1
            kind: Workload
            metadata: {name: w}
            spec: {priorityClassName: high, priority: 3}
            """);

    ObjectNode stored = hubConverter.convert(old, V2);

    assertThat(stored.get("spec")).isEqualTo(object("{priority: 3}"));
    assertThat(hubConverter.convert(stored, V1)).isEqualTo(old);
  }

  @Test
  void anAnnotationThatSomebodyWroteSaysNoMoreThanWhatTheOldVersionCant() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta1
            kind: ClusterQueue
            metadata: {name: pool}
            spec: {queueingStrategy: StrictFIFO}
            """);
    old.withObject("/metadata/annotations")
        .put(
            HubConverter.ANNOTATION,
            "{\"v1beta2\":{\"cohortName\":3,\"concurrentAdmissionPolicy\":{\"migration\":{}}}}");

    assertThat(hubConverter.convert(old, V2).get("spec"))
        .isEqualTo(
            object("{queueingStrategy: StrictFIFO, concurrentAdmissionPolicy: {migration: {}}}"));
  }

  @Test
  void anAnnotationThatSomebodyWroteNestsAnObjectNoDeeperThanItCanBeConverted() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: LocalQueue
            metadata: {name: q}
            spec: {clusterQueue: pool}
            """);
    old.withObject("/metadata/annotations")
        .put(
            HubConverter.ANNOTATION,
            "{\"v1beta2\":{\"fairSharing\":" + "[".repeat(950) + "]".repeat(950) + "}}");

    assertThat(hubConverter.convert(old, V2).get("spec")).isEqualTo(object("{clusterQueue: pool}"));
  }

  @Test
  void anOldKubeconfigWithoutLocationStandsForNone() {
    ObjectNode old =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1beta1
            kind: MultiKueueCluster
            metadata: {name: far}
            spec:
              kubeConfig: {location: "", locationType: Secret}
              clusterProfileRef: {name: far}
            """);

    assertThat(hubConverter.convert(old, V2).get("spec"))
        .isEqualTo(object("{clusterSource: {clusterProfileRef: {name: far}}}"));
    assertThat(hubConverter.convert(hubConverter.convert(old, V2), V1)).isEqualTo(old);
  }

  @Test
  void aGreatestAmountBelowTheGuaranteedOneIsRefused() {
    ObjectNode queue =
        object(
            """
            apiVersion: kueue.x-k8s.io/v1alpha2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              resources: [{name: gpu, flavors: [{name: a, quota: {min: 10, max: 5}}]}]
            """);

    assertThatThrownBy(() -> hubConverter.convert(queue, V2))
        .isInstanceOf(ConversionException.class)
        .hasMessage(
            "spec.resources[0].flavors[0].quota.max: 5 is less than min, which is 10; it must not"
                + " be");
  }

  private static List<ObjectNode> scenarioObjects() throws IOException {
    try (var files = Files.walk(Path.of("lab/src/main/resources/scenarios"))) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          .sorted()
          .flatMap(file -> documents(file).stream())
          .filter(object -> object.path("apiVersion").asText().startsWith("kueue.x-k8s.io/"))
          .filter(
              object ->
                  !List.of(
                          "AdmissionCheck",
                          "MultiKueueConfig",
                          "ProvisioningRequestConfig",
                          "Topology",
                          "WorkloadPriorityClass")
                      .contains(object.path("kind").asText()))
          .toList();
    }
  }

  private static List<ObjectNode> documents(Path file) {
    try {
      return List.of(Files.readString(file).split("(?m)^---\n")).stream()
          .map(HubConverterTest::object)
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static ObjectNode object(String yaml) {
    return Objects.read(yaml, ObjectNode.class);
  }
}
