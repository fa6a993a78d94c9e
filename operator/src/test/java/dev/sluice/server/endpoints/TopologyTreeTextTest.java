package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.topology.TopologyView.Amounts;
import dev.sluice.core.topology.TopologyView.HeldPods;
import dev.sluice.core.topology.TopologyView.Leaf;
import dev.sluice.server.endpoints.ExplainEndpoint.TopologyTreeText;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TopologyTreeTextTest {

  private static Leaf leaf(String rack, String node, Amounts cpu, HeldPods... holders) {
    return new Leaf(List.of(rack, node), 1, new TreeMap<>(Map.of("cpu", cpu)), List.of(holders));
  }

  private static HeldPods held(String name, long pods) {
    return new HeldPods(new WorkloadId("uid-" + name, "team", name), pods);
  }

  @Test
  void eachDomainSaysWhatItHasAndWhoHoldsIt() {
    TopologyView view =
        new TopologyView(
            "gpu",
            "racks",
            List.of("rack", "kubernetes.io/hostname"),
            List.of(
                leaf("r1", "n1", new Amounts(8_000, 1_000, 3_000), held("a", 3)),
                leaf("r1", "n2", new Amounts(8_000, 0, 0)),
                leaf("r2", "n3", new Amounts(4_000, 0, 6_000), held("a", 1), held("b", 5))));

    assertThat(TopologyTreeText.lines(view))
        .containsExactly(
            "flavor gpu: 3 nodes in topology racks (rack > kubernetes.io/hostname)",
            "  r1: cpu 12 of 16 free",
            "    n1: cpu 4 of 8 free (1 used by other pods); held by team/a (3 pods)",
            "    n2: cpu 8 of 8 free",
            "  r2: cpu 0 of 4 free",
            "    n3: cpu 0 of 4 free; held by team/a (1 pod), team/b (5 pods)",
            "cpu: 12 free in all, at most 12 in one rack (100 %), 8 in one kubernetes.io/hostname"
                + " (67 %)");
  }

  @Test
  void amountsThatAreComparedHaveOneUnit() {
    long gibi = 1L << 30;
    TopologyView view =
        new TopologyView(
            "gpu",
            "racks",
            List.of("rack"),
            List.of(
                new Leaf(
                    List.of("r1"),
                    1,
                    new TreeMap<>(
                        Map.of(
                            "memory", new Amounts(8192 * gibi, 5 * gibi, 10 * gibi),
                            "pods", new Amounts(20_000, 0, 4))),
                    List.of())));

    assertThat(TopologyTreeText.lines(view))
        .contains(
            "  r1: memory 8177Gi of 8192Gi free (5Gi used by other pods), pods 19996 of 20000 free",
            "memory: 8177Gi free in all, at most 8177Gi in one rack (100 %)");
  }

  @Test
  void whereNothingIsFreeNothingIsScattered() {
    TopologyView view =
        new TopologyView(
            "gpu",
            "racks",
            List.of("rack"),
            List.of(
                new Leaf(
                    List.of("r1"),
                    2,
                    new TreeMap<>(Map.of("cpu", new Amounts(4_000, 4_000, 0))),
                    List.of())));

    assertThat(TopologyTreeText.lines(view))
        .containsExactly(
            "flavor gpu: 2 nodes in topology racks (rack)",
            "  r1: cpu 0 of 4 free (4 used by other pods)",
            "cpu: 0 free in all");
  }
}
