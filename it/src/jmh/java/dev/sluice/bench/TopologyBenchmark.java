package dev.sluice.bench;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyTree;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Searches for places of one pod set, in blocks of 20 racks with 20 nodes each, half used. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class TopologyBenchmark {

  /** Nodes, and what is asked of them. */
  @State(Scope.Thread)
  public static class Nodes {

    /** How many nodes there are. */
    @Param({"1000", "10000", "100000"})
    public int leaves;

    /** What the pods ask for. */
    @Param({"required", "preferred", "unconstrained", "slices", "none"})
    public String asked = "";

    private final TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);
    private TopologyRequest request = TopologyRequest.NONE;
    private int pods;

    /** Builds the nodes. */
    @Setup(Level.Trial)
    public void build() {
      Random random = new Random(1);
      cache.set(new TopologySpec("t", List.of("block", "rack", TopologySpec.HOSTNAME)));
      cache.set(new Flavor("f", Map.of(), List.of(), List.of(), "t"));
      for (int i = 0; i < leaves; i++) {
        String name = "n" + i;
        cache.set(
            new ClusterNode(
                name,
                Map.of("block", "b" + i / 400, "rack", "r" + i / 20, TopologySpec.HOSTNAME, name),
                List.of(),
                new TreeMap<>(Map.of("cpu", 64_000L, "memory", 1L << 38, "gpu", 8L, "pods", 110L)),
                true));
        long gpus = random.nextInt(9);
        cache.setUsage(
            name,
            new TreeMap<>(
                Map.of("cpu", gpus * 7_000, "memory", gpus << 34, "gpu", gpus, "pods", gpus)));
      }
      pods = 64;
      request =
          switch (asked) {
            case "required" -> TopologyRequest.required("rack");
            case "preferred" -> {
              pods = 400;
              yield TopologyRequest.preferred("rack");
            }
            case "unconstrained" -> TopologyRequest.unconstrained();
            case "slices" ->
                TopologyRequest.required("block", new TopologyRequest.Slice("rack", 16));
            default -> {
              pods = 1_000;
              yield TopologyRequest.required("rack");
            }
          };
    }

    private Placement place() {
      TopologyTree tree = Objects.requireNonNull(cache.tree("f"));
      Pods each =
          new Pods(
              pods,
              new TreeMap<>(Map.of("cpu", 7_000L, "memory", 1L << 34, "gpu", 1L)),
              NodeConstraints.ANYWHERE);
      return cache.place(tree, new PlacementRequest(each, null, request), false);
    }
  }

  /** One search. */
  @Benchmark
  public Placement place(Nodes nodes) {
    return nodes.place();
  }
}
