package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.workload.Templates;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is read of the required node affinity of a pod template. */
class RequiredNodeAffinityTest {

  private static PodTemplate template(String terms) {
    return Templates.podSpec(
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
            + " {nodeSelectorTerms: "
            + terms.strip()
            + "}}}");
  }

  private static NodeConstraints parsed(String terms) {
    return template(terms).nodeConstraints();
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

  /** Each may be compared with each node of a topology, on the thread that decides. */
  @Test
  void moreThanNodesAreComparedWithIsAProblem() {
    String term = "{matchExpressions: [{key: disk, operator: Exists}]}";
    assertThat(template(Collections.nCopies(500, term).toString()).problems()).isEmpty();
    assertThat(template(Collections.nCopies(501, term).toString()).problems())
        .containsExactly(
            "spec: it has 1002 labels, terms, requirements and tolerations of nodes, at most 1000"
                + " are allowed");
    String values =
        "[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: %s}]}]";
    assertThat(template(values.formatted(Collections.nCopies(10_000, "n"))).problems()).isEmpty();
    assertThat(template(values.formatted(Collections.nCopies(10_001, "n"))).problems())
        .containsExactly(
            "spec.affinity.nodeAffinity: its requirements have 10001 values, at most 10000 are"
                + " allowed");
  }

  @Test
  void withoutFieldsNothingIsKeptOfThem() {
    assertThat(parsed("[{matchExpressions: [{key: disk, operator: Exists}]}]").affinityFields())
        .isEmpty();
  }
}
