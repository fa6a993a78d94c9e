package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Optional;
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
    assertThat(CheckStrategy.required(QUEUE, Optional.empty()))
        .containsExactly("on-all", "z-always");
  }

  @ParameterizedTest
  @CsvSource({
    "spot, 'on-all on-spot z-always'",
    "plain, 'on-all on-fast z-always'",
    "spot fast, 'on-all on-fast on-spot z-always'"
  })
  void withAReservationThoseOfTheFlavorsItWasGiven(String assigned, String required) {
    assertThat(CheckStrategy.required(QUEUE, Optional.of(List.of(assigned.split(" ")))))
        .containsExactly(required.split(" "));
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
    assertThat(CheckStrategy.required(plain, Optional.empty())).isEmpty();
  }

  @Test
  void eightAtMost() {
    StringBuilder yaml =
        new StringBuilder(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: many}
            spec:
              admissionChecksStrategy:
                admissionChecks:
            """);
    for (int i = 0; i < 10; i++) {
      yaml.append("    - {name: check-").append(i).append("}\n");
    }
    ClusterQueue queue =
        new KubernetesSerialization().unmarshal(yaml.toString(), ClusterQueue.class);
    assertThat(CheckStrategy.required(queue, Optional.empty())).hasSize(8);
  }
}
