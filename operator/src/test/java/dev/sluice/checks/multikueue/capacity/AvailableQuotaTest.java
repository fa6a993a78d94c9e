package dev.sluice.checks.multikueue.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.checks.multikueue.capacity.WorkerQueues.AvailableQuota;
import dev.sluice.checks.multikueue.capacity.WorkerQueues.NominalQuota;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AvailableQuotaTest {

  private static final ObjectMapper YAML = new YAMLMapper();

  private static final String QUEUE =
      """
      spec:
        stopPolicy: None
        resourceGroups:
        - coveredResources: [cpu, memory]
          flavors:
          - name: small
            resources:
            - {name: cpu, nominalQuota: 4}
            - {name: memory, nominalQuota: 16Gi}
          - name: big
            resources:
            - {name: cpu, nominalQuota: 8}
            - {name: memory, nominalQuota: 4Gi}
        - coveredResources: [nvidia.com/gpu]
          flavors:
          - name: gpus
            resources:
            - {name: nvidia.com/gpu, nominalQuota: 2}
      status:
        pendingWorkloads: 0
        conditions:
        - {type: Active, status: "True"}
        flavorsReservation:
        - name: small
          resources:
          - {name: cpu, total: 1500m}
          - {name: memory, total: 1Gi}
      """;

  private static AvailableQuota room(String yaml) {
    try {
      return AvailableQuota.of(YAML.readTree(yaml));
    } catch (IOException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static Map<String, BigDecimal> cpu(String amount) {
    return Map.of("cpu", new BigDecimal(amount));
  }

  @Test
  void aQueueWithAmountsThatCannotBeReadHasNoRoomAndHidesNoOther() throws IOException {
    JsonNode broken = YAML.readTree(QUEUE.replace("nominalQuota: 4}", "nominalQuota: many}"));

    assertThat(AvailableQuota.of(broken).fits(Map.of())).isFalse();
    assertThat(WorkerQueues.sum(Stream.of(YAML.readTree(QUEUE), broken)))
        .isInstanceOf(NominalQuota.Unreadable.class);
  }

  @Test
  void whatIsReservedIsNotFree() {
    assertThat(room(QUEUE).fits(cpu("2.5"))).isTrue();
    assertThat(room(QUEUE.replace("nominalQuota: 8", "nominalQuota: 2")).fits(cpu("2.501")))
        .isFalse();
  }

  @Test
  void oneFlavorHasToHaveRoomForAllResourcesOfItsGroup() {
    BigDecimal gi = BigDecimal.valueOf(1L << 30);
    Map<String, BigDecimal> request =
        Map.of("cpu", new BigDecimal(6), "memory", gi.multiply(BigDecimal.valueOf(8)));

    assertThat(room(QUEUE).fits(cpu("6"))).as("big has the processors").isTrue();
    assertThat(room(QUEUE).fits(request)).as("but not the memory as well").isFalse();
  }

  @Test
  void quotaThatFollowsCapacityIsWhatCounts() {
    String effective =
        QUEUE
            + """
              effectiveQuotas:
                resourceGroups:
                - coveredResources: [cpu]
                  flavors:
                  - name: small
                    resources:
                    - {name: cpu, nominalQuota: %s}
            """;
    assertThat(room(effective.formatted(10)).fits(cpu("8.5"))).isTrue();
    assertThat(room(effective.formatted(2)).fits(cpu("0.5"))).isTrue();
    assertThat(room(effective.formatted(2)).fits(cpu("0.6"))).isFalse();
    assertThat(room(QUEUE + "  effectiveQuotas: {resourceGroups: []}").fits(cpu("1"))).isFalse();
  }

  @Test
  void groupsDecideForThemselves() {
    assertThat(
            room(QUEUE).fits(Map.of("cpu", new BigDecimal(8), "nvidia.com/gpu", new BigDecimal(2))))
        .isTrue();
    assertThat(
            room(QUEUE).fits(Map.of("cpu", new BigDecimal(1), "nvidia.com/gpu", new BigDecimal(3))))
        .isFalse();
  }

  @Test
  void aResourceThatNobodyCoversDoesNotFitUnlessNoneIsAsked() {
    assertThat(room(QUEUE).fits(Map.of("example.com/x", BigDecimal.ONE))).isFalse();
    assertThat(room(QUEUE).fits(Map.of("example.com/x", BigDecimal.ZERO))).isTrue();
  }

  @Test
  void whereSomebodyWaitsOrNobodyIsAdmittedThereIsNoRoomAtOnce() {
    assertThat(room(QUEUE.replace("pendingWorkloads: 0", "pendingWorkloads: 1")).fits(cpu("1")))
        .isFalse();
    assertThat(room(QUEUE.replace("status: \"True\"", "status: \"False\"")).fits(cpu("1")))
        .isFalse();
    assertThat(room(QUEUE.replace("stopPolicy: None", "stopPolicy: Hold")).fits(cpu("1")))
        .isFalse();
  }
}
