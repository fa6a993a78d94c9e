package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.app.Main;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorProcess.JavaCommand;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command as people run it, with a scenario of a few seconds. */
@OperatorTest
@Tag(BuildBreadth.NIGHTLY)
class BenchmarkIT {

  @Test
  void aSmallScenarioRunsToItsEndAndItsFiguresAreTold(@TempDir Path directory) throws IOException {
    Path json = directory.resolve("figures.json");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        new CommandLine(new BenchCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err));

    int code =
        command.execute(
            "mini", "--json", json.toString(), "--timeout", "180", "--reviews-per-second", "5");

    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString()).contains("wall time", "operator writes", "PATCH workloads/status");
    assertThat(out.toString()).contains("webhooks", "time to the answer");
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.at("/webhooks/reviews").asInt()).isPositive();
    assertThat(figures.at("/webhooks/errors").asInt())
        .as("a busy machine may answer some too late, but the samples are allowed: " + out)
        .isLessThan(figures.at("/webhooks/reviews").asInt());
    assertThat(figures.at("/immediateAnswers/reviews").asInt()).isPositive();
    assertThat(figures.at("/immediateAnswers/errors").asInt()).isZero();
    assertThat(figures.at("/webhooks/p99Millis").asDouble())
        .isLessThanOrEqualTo(figures.at("/webhooks/maxMillis").asDouble());
    assertThat(figures.path("workloads").asInt()).isEqualTo(60);
    assertThat(figures.path("idealSeconds").asDouble()).isEqualTo(1.86);
    assertThat(figures.path("wallSeconds").asDouble()).isGreaterThanOrEqualTo(1.0);
    assertThat(figures.path("admissionsPerSecond").asDouble()).isPositive();
    assertThat(figures.path("quotaUse").asDouble()).isBetween(0.01, 2.0);
    // one write admits; what waits is told why, and queues are told of, but not each time
    assertThat(figures.path("operatorWritesPerWorkload").asDouble()).isBetween(1.0, 8.0);
    assertThat(figures.path("operatorCpuMillisPerWorkload").asDouble()).isPositive();
    assertThat(figures.path("apiServerCpuMillisPerWorkload").asDouble()).isPositive();
    assertThat(figures.path("peakRssMiB").asDouble()).isGreaterThan(50);
    assertThat(figures.at("/operatorWrites/PATCH workloads~1status").asInt()).isBetween(60, 180);
    for (String each : new String[] {"small", "medium", "large"}) {
      assertThat(figures.at("/timeToAdmissionSeconds/" + each).asDouble()).isPositive();
    }
    assertThat(figures.at("/classes/small/count").asInt()).isEqualTo(42);
  }

  @Test
  void workOfSeveralPodsIsPlacedOnNodesInRacks(@TempDir Path directory) throws IOException {
    Path json = directory.resolve("figures.json");
    StringWriter err = new StringWriter();
    CommandLine command =
        new CommandLine(new BenchCommand())
            .setOut(new PrintWriter(new StringWriter()))
            .setErr(new PrintWriter(err));

    int code = command.execute("mini-topology", "--json", json.toString(), "--timeout", "180");

    assertThat(code).as(err.toString()).isZero();
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.path("workloads").asInt()).isEqualTo(60);
    assertThat(figures.at("/classes/large/count").asInt()).isEqualTo(6);
    assertThat(figures.path("quotaUse").asDouble()).isBetween(0.01, 2.0);
  }

  /** The other operator is this one, by its command, as somebody would give an older version. */
  @Test
  void anOperatorThatIsStartedByACommandIsMeasuredBesideThisOne(@TempDir Path directory)
      throws IOException {
    OperatorSettings settings = OperatorSettings.onFreePorts(new Random());
    Path configuration = Files.writeString(directory.resolve("other.yaml"), settings.yaml());
    Path json = directory.resolve("compared.json");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String other =
        "%s -cp '%s' %s operator --install --kubeconfig {kubeconfig} --config '%s'"
            .formatted(
                JavaCommand.java(),
                OperatorProcess.classPath(),
                Main.class.getName(),
                configuration);

    int code =
        new CommandLine(new BenchCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(
                "compare",
                "mini",
                "--other",
                other,
                "--other-name",
                "by command",
                "--other-ready",
                "http://127.0.0.1:" + settings.healthPort() + "/readyz",
                "--idle",
                "2",
                "--timeout",
                "180",
                "--json",
                json.toString());

    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .startsWith("| | | by command | Sluice | ratio |")
        .contains(
            "| idle | RSS, MiB |", "| mini | wall time, s |", "| mini | peak anonymous, MiB |");
    JsonNode rows = new ObjectMapper().readTree(json.toFile());
    assertThat(rows).isNotEmpty();
    for (JsonNode row : rows) {
      if (row.path("figure").asText().contains("MiB")) {
        assertThat(row.at("/values/by command/0").asDouble()).as(row.toString()).isGreaterThan(30);
        assertThat(row.at("/values/Sluice/0").asDouble()).as(row.toString()).isGreaterThan(30);
      }
    }
  }

  /** Nobody starts it again, so that the rest of the work would be waited for in vain. */
  @Test
  void aRunEndsWithItsOperator(TestCluster cluster) {
    OperatorThatEnds installation = new OperatorThatEnds(cluster.kubeconfig());
    Benchmark benchmark =
        new Benchmark(
            ScenarioReader.find("mini"),
            installation,
            Duration.ofDays(1),
            line -> installation.ended().complete("it has lost its lease"));

    assertThatThrownBy(() -> benchmark.run("", cluster.name("run")))
        .isInstanceOf(BenchException.class)
        .hasMessage("it has lost its lease");
  }

  /** An installation whose operator ends. */
  private record OperatorThatEnds(Path kubeconfig, CompletableFuture<String> ended)
      implements Installation {

    OperatorThatEnds(Path kubeconfig) {
      this(kubeconfig, new CompletableFuture<>());
    }

    @Override
    public long operatorPid() {
      return ProcessHandle.current().pid();
    }

    @Override
    public boolean passing() {
      return false;
    }

    @Override
    public void close() {
      // the control plane belongs to others
    }
  }
}
