package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.bench.StartCommand.StartBenchmark;
import dev.sluice.lab.bench.StartCommand.StartBenchmark.StartFigures;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StartFiguresTest {

  @Test
  void aRowSaysWhatIsKnown() {
    StartFigures figures = new StartFigures();
    figures.start("empty", Duration.ofMillis(1500), Duration.ofMillis(2250), Optional.empty());
    figures.start(
        "5,000 Workloads pending",
        Duration.ofMillis(3000),
        Duration.ofMillis(5125),
        Optional.of(Duration.ofMillis(4010)));
    figures.change("leader killed", Duration.ofSeconds(16));

    assertThat(figures.text().lines().map(line -> line.strip().replaceAll(" {2,}", " | ")))
        .containsExactly(
            "ready | its CPU until then | first decision",
            "empty | 1.50 s | 2.25 s",
            "5,000 Workloads pending | 3.00 s | 5.13 s | 4.01 s",
            "leader killed | 16.00 s");
  }

  @Test
  void thereAreMoreWorkloadsThanQuotaSoThatSomeWait() {
    Scenario scenario = StartBenchmark.scenario(5000);

    assertThat(scenario.size()).isBetween(5000, 5029);
    assertThat(scenario.nominalCpu()).isEqualTo(600);
  }
}
