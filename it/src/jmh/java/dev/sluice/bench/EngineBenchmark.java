package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
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

/** Rounds of the engine on a full cluster; the counter tells the decisions, by wall-clock time. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class EngineBenchmark {

  /** A cluster as it stands before the first round. */
  @State(Scope.Thread)
  public static class Cluster {

    /** How many wait. */
    @Param({"1000", "100000"})
    public int pending;

    /** How many ClusterQueues there are. */
    @Param({"10", "10000"})
    public int queues;

    private EngineScenario scenario = new EngineScenario(new Size(1, 1, 1), Policies.NONE);

    /** Builds the cluster. */
    @Setup(Level.Trial)
    public void build() {
      scenario = new EngineScenario(new Size(queues, 10, 20), Policies.NONE);
      scenario.fill(pending + queues * 10);
    }
  }

  /** Counts decisions. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Decisions {

    /** How many admissions were decided. */
    public long decisions;
  }

  /** Ends, arrivals, and the decisions that follow. */
  @Benchmark
  public void round(Cluster cluster, Decisions count) {
    count.decisions += cluster.scenario.round();
  }
}
