package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionScope;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import dev.sluice.api.v1beta2.ClusterQueue.QueueingStrategy;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManifestReadingTest {

  @Test
  void whatAClusterQueueLeavesOutReadsAsTheDefaultOfTheSchema() {
    ClusterQueue queue =
        Serialization.unmarshal(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - name: spot
                  resources:
                  - {name: cpu, nominalQuota: 1500m}
            """,
            ClusterQueue.class);

    ClusterQueueSpec spec = queue.getSpec();

    assertThat(spec.queueingStrategy()).isEqualTo(QueueingStrategy.BEST_EFFORT_FIFO);
    assertThat(spec.preemption()).isEqualTo(ClusterQueuePreemption.DEFAULT);
    assertThat(spec.namespaceSelector()).as("absent matches nothing").isNull();
    assertThat(spec.resourceGroups())
        .containsExactly(
            new ResourceGroup(
                List.of("cpu"),
                List.of(
                    new FlavorQuotas(
                        "spot",
                        List.of(new ResourceQuota("cpu", new Quantity("1500m"), null, null))))));
    assertThat(queue.getStatus()).isNull();
  }

  /** A mode that v1beta1 let pass is in the storage. */
  @Test
  void anUnknownAdmissionModeIsTakenForAbsent() {
    ClusterQueue queue =
        Serialization.unmarshal(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool}
            spec: {cohortName: all, admissionScope: {admissionMode: Usage}}
            """,
            ClusterQueue.class);

    assertThat(queue.getSpec().cohortName()).isEqualTo("all");
    assertThat(queue.getSpec().admissionScope()).isEqualTo(new AdmissionScope(null));
  }

  @Test
  void aPriorityClassHasItsFieldsAtTheRoot() {
    WorkloadPriorityClass high =
        Serialization.unmarshal(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: WorkloadPriorityClass
            metadata: {name: high}
            value: 1000
            description: goes first
            """,
            WorkloadPriorityClass.class);

    assertThat(high.getValue()).isEqualTo(1000);
    assertThat(high.getDescription()).isEqualTo("goes first");
    assertThat(Serialization.asYaml(high)).doesNotContain("spec").doesNotContain("status");
  }
}
