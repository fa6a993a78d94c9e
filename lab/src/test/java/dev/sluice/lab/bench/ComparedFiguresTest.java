package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.bench.CompareCommand.ComparedFigures;
import dev.sluice.lab.bench.ProcessReading.Memory;
import org.junit.jupiter.api.Test;

class ComparedFiguresTest {

  @Test
  void tableHasMediansOfRoundsAndOursDividedByTheirs() {
    ComparedFigures compared = new ComparedFigures("older");
    for (double mebibytes : new double[] {90, 300, 80}) {
      compared.add("idle", "RSS, MiB", "older", mebibytes);
    }
    compared.add("idle", "RSS, MiB", ComparedFigures.OURS, 40);
    compared.add("idle", "RSS, MiB", ComparedFigures.OURS, 50);

    assertThat(compared.text())
        .isEqualTo(
            """
            | | | older | Sluice | ratio |
            |---|---|---:|---:|---:|
            | idle | RSS, MiB | 90.0 | 45.0 | 0.50 |
            """);
  }

  @Test
  void figureThatOneSideLacksHasNoRatio() {
    ComparedFigures compared = new ComparedFigures("older");
    compared.add("mini", "operator CPU, ms each", "older", 0);
    compared.add("mini", "in the last third, ms each", ComparedFigures.OURS, 4.5);

    assertThat(compared.text())
        .endsWith(
            """
            | mini | operator CPU, ms each | 0.00 | – | – |
            | mini | in the last third, ms each | – | 4.50 | – |
            """);
  }

  @Test
  void allRoundsAreWritten() {
    ComparedFigures compared = new ComparedFigures("older");
    compared.add("idle", "RSS, MiB", "older", 90);
    compared.add("idle", "RSS, MiB", "older", 80.5);

    assertThat(compared.json().toString())
        .isEqualTo(
            "[{\"scenario\":\"idle\",\"figure\":\"RSS, MiB\",\"values\":{\"older\":[90.0,80.5]}}]");
  }

  @Test
  void memoryKeepsTheGreaterOfEach() {
    assertThat(new Memory(100, 20).max(new Memory(90, 30))).isEqualTo(new Memory(100, 30));
  }
}
