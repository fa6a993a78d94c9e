package dev.sluice.dashboard;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.topology.TopologyView.Amounts;
import dev.sluice.core.topology.TopologyView.HeldPods;
import dev.sluice.core.topology.TopologyView.Leaf;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Nodes of 8 GPUs in blocks of racks, some of them held by Workloads of the two teams. */
final class PlayedTopology {

  static final String FLAVOR = "a100";
  static final String TOPOLOGY = "data-center";
  private static final long GIB = 1L << 30;

  private PlayedTopology() {}

  /** Two blocks of so many racks of four nodes. */
  static TopologyView view(int racks) {
    List<Leaf> leaves = new ArrayList<>();
    for (int block = 0; block < 2; block++) {
      for (int rack = 0; rack < racks; rack++) {
        for (int node = 0; node < 4; node++) {
          leaves.add(leaf(block, rack, node));
        }
      }
    }
    return new TopologyView(
        FLAVOR,
        TOPOLOGY,
        List.of("cloud.example.com/block", "cloud.example.com/rack", "kubernetes.io/hostname"),
        leaves);
  }

  /** Racks of the first block are full of one Workload, and of the second block partly used. */
  private static Leaf leaf(int block, int rack, int node) {
    String name = "gpu-%d-%02d-%d".formatted(block, rack, node);
    TreeMap<String, Amounts> amounts = new TreeMap<>();
    long gpus = block == 0 ? 8 : (rack + node) % 3 * 2L;
    amounts.put("nvidia.com/gpu", new Amounts(8, 0, gpus));
    amounts.put("cpu", new Amounts(96_000, 4_500, gpus * 10_000));
    amounts.put("memory", new Amounts(768 * GIB, 12 * GIB, gpus * 64 * GIB));
    List<HeldPods> holders =
        gpus == 0
            ? List.of()
            : List.of(
                new HeldPods(
                    block == 0
                        ? id("team-a", "job-train-%05d".formatted(rack * 10))
                        : id("team-b", "job-evaluate-%05d".formatted(rack * 10 + 1)),
                    gpus / 2));
    return new Leaf(
        List.of("block-" + (char) ('a' + block), "rack-%d-%02d".formatted(block, rack), name),
        1,
        amounts,
        holders);
  }

  private static WorkloadId id(String namespace, String name) {
    return new WorkloadId("uid-" + name, namespace, name);
  }
}
