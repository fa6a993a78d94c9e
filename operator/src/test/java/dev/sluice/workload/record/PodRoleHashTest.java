package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.workload.record.PodRoleHash.CanonicalQuantity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodRoleHashTest {

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String SPEC =
      """
      containers: [{name: c, image: a, resources: {requests: {cpu: "1", memory: 1Gi}}}]
      nodeSelector: {zone: a, arch: b}
      """;

  private static JsonNode spec(String field, String value) throws Exception {
    ObjectNode spec = (ObjectNode) YAML.readTree(SPEC);
    spec.set(field, YAML.readTree(value));
    return spec;
  }

  @Test
  void theHashHasEightDigitsAndDoesNotDependOnHowTheSpecIsWritten() throws Exception {
    String hash = PodRoleHash.of(YAML.readTree(SPEC)).roleHash();

    assertThat(hash).matches("[0-9a-f]{8}");
    assertThat(PodRoleHash.of(spec("nodeSelector", "{arch: b, zone: a}")).roleHash())
        .isEqualTo(hash);
    assertThat(PodRoleHash.of(spec("tolerations", "[]")).roleHash()).isEqualTo(hash);
    assertThat(PodRoleHash.of(spec("affinity", "{}")).roleHash()).isEqualTo(hash);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {containers: [{name: c}]} | 7aa6c7b8
          {containers: [{name: c, resources: {requests: {cpu: "1"}}}]} | dc85db45
          {containers: [{ports: [{containerPort: 80}], resources: {requests: {cpu: 1000m, memory: 1Gi}, limits: {cpu: "2"}}}]} | 808e945a
          {initContainers: [{resources: {requests: {cpu: 100m}}}], containers: [{resources: {requests: {cpu: "1"}}}], nodeSelector: {b: "2", a: "1"}, tolerations: [{key: spot, operator: Exists, effect: NoSchedule}], priority: 0} | 1e86aecd
          {containers: [{resources: {requests: {cpu: "1"}}}], priority: 1000, overhead: {cpu: 100m}, runtimeClassName: kata, resources: {requests: {cpu: "3"}}} | ec27f4a2
          """)
  void theHashIsThatOfOtherOperatorsOfThisApi(String podSpec, String hash) throws Exception {
    assertThat(PodRoleHash.of(YAML.readTree(podSpec)).roleHash()).isEqualTo(hash);
  }

  @ParameterizedTest
  @CsvSource({
    "1000m, 1",
    "0.5, 500m",
    "1500m, 1500m",
    "1000, 1k",
    "1024Mi, 1Gi",
    "1.5Gi, 1536Mi",
    "512Mi, 512Mi",
    "0.5Ki, 512",
    "0, 0",
    "1e3, 1e3",
    "bad, bad",
  })
  void quantitiesCountInTheFormOfTheApiServer(String given, String canonical) {
    assertThat(CanonicalQuantity.of(given)).isEqualTo(canonical);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          containers | [{name: d, image: b, env: [{name: E, value: v}], resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2"}}}]
          restartPolicy | Always
          serviceAccountName | other
          schedulingGates | [{name: x}]
          """)
  void whatIsRunDoesNotMatter(String field, String value) throws Exception {
    assertThat(PodRoleHash.of(spec(field, value))).isEqualTo(PodRoleHash.of(YAML.readTree(SPEC)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          containers | [{name: c, resources: {requests: {cpu: "2", memory: 1Gi}}}]
          containers | [{name: c, ports: [{containerPort: 80}], resources: {requests: {cpu: "1", memory: 1Gi}}}]
          initContainers | [{name: i, resources: {requests: {cpu: "1"}}}]
          nodeSelector | {zone: b}
          affinity | {nodeAffinity: {}}
          tolerations | [{key: k}]
          runtimeClassName | kata
          priority | 5
          topologySpreadConstraints | [{maxSkew: 1}]
          overhead | {cpu: 10m}
          resourceClaims | [{name: r}]
          resources | {requests: {cpu: "3"}}
          """)
  void whereItRunsAndWhatItCostsMatters(String field, String value) throws Exception {
    PodRoleHash plain = PodRoleHash.of(YAML.readTree(SPEC));

    assertThat(PodRoleHash.of(spec(field, value))).isNotEqualTo(plain);
    assertThat(PodRoleHash.of(spec(field, value)).roleHash()).isNotEqualTo(plain.roleHash());
  }
}
