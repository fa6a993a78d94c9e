package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.workload.Templates;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is read of the required node affinity of a pod template. */
class RequiredNodeAffinityTest {

  private static NodeConstraints parsed(String terms) {
    return Templates.podSpec(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
                + " {nodeSelectorTerms: "
                + terms.strip()
                + "}}}")
        .nodeConstraints();
  }

  @Test
  void fieldsAreReadBesideLabels() {
    NodeConstraints constraints =
        parsed(
            """
            [{matchExpressions: [{key: disk, operator: Exists}]},
             {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]
            """);

    assertThat(constraints.affinityTerms())
        .containsExactly(
            List.of(new LabelRequirement("disk", Operator.EXISTS, List.of())), List.of());
    assertThat(constraints.fieldsOf(0)).isEmpty();
    assertThat(constraints.fieldsOf(1))
        .containsExactly(new LabelRequirement("metadata.name", Operator.IN, List.of("n1")));
  }

  @Test
  void withoutFieldsNothingIsKeptOfThem() {
    assertThat(parsed("[{matchExpressions: [{key: disk, operator: Exists}]}]").affinityFields())
        .isEmpty();
  }
}
