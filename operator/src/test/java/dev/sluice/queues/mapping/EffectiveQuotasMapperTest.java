package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import io.fabric8.kubernetes.client.utils.Serialization;
import org.junit.jupiter.api.Test;

/** Which quotas count (docs/dynamic-quota.md#what-counts). */
class EffectiveQuotasMapperTest {

  private static final String GROUPS =
      "[{coveredResources: [cpu], flavors: [{name: spot, resources:"
          + " [{name: cpu, nominalQuota: %d}]}]}]";

  private static final String OBJECT =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: %s
      metadata: {name: any}
      spec: {%s: root, resourceGroups: %s}
      status: {%s}
      """;

  /** Changes of 0.20, section 5. */
  @Test
  void effectiveQuotasCountWhereThereAreAny() {
    ClusterQueue queue = queue("effectiveQuotas: {resourceGroups: " + GROUPS.formatted(7) + "}");

    ClusterQueue applied = new EffectiveQuotasMapper(true).applied(queue);

    assertThat(applied.getSpec())
        .isEqualTo(queue.getSpec().with(queue(GROUPS, 7).getSpec().resourceGroups()));
    assertThat(applied.getMetadata()).isSameAs(queue.getMetadata());
    assertThat(new EffectiveQuotasMapper(false).applied(queue)).isSameAs(queue);
  }

  /** Changes of 0.20, section 5: an empty list is a valid override. */
  @Test
  void anEmptyListIsNoQuota() {
    assertThat(
            new EffectiveQuotasMapper(true)
                .applied(queue("effectiveQuotas: {resourceGroups: []}"))
                .getSpec()
                .resourceGroups())
        .isEmpty();
    assertThat(
            new EffectiveQuotasMapper(true)
                .applied(cohort("effectiveQuotas: {resourceGroups: []}"))
                .getSpec()
                .resourceGroups())
        .isEmpty();
  }

  @Test
  void withoutThemTheSpecificationCounts() {
    ClusterQueue queue = queue("pendingWorkloads: 3");
    Cohort cohort = cohort("");

    assertThat(new EffectiveQuotasMapper(true).applied(queue)).isSameAs(queue);
    assertThat(new EffectiveQuotasMapper(true).applied(cohort)).isSameAs(cohort);
    assertThat(new EffectiveQuotasMapper(false).applied(cohort)).isSameAs(cohort);
  }

  private static ClusterQueue queue(String status) {
    return Serialization.unmarshal(
        OBJECT.formatted("ClusterQueue", "cohortName", GROUPS.formatted(2), status),
        ClusterQueue.class);
  }

  private static ClusterQueue queue(String groups, int nominal) {
    return Serialization.unmarshal(
        OBJECT.formatted("ClusterQueue", "cohortName", groups.formatted(nominal), ""),
        ClusterQueue.class);
  }

  private static Cohort cohort(String status) {
    return Serialization.unmarshal(
        OBJECT.formatted("Cohort", "parentName", GROUPS.formatted(2), status), Cohort.class);
  }
}
