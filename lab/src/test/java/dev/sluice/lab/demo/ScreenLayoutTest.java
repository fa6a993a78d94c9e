package dev.sluice.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.demo.FirstJobScenario.FirstJobExpectation;
import dev.sluice.lab.demo.Screens.Dashboard.Row;
import dev.sluice.lab.demo.Screens.Dashboard.Section;
import dev.sluice.lab.demo.Screens.ScreenLayout;
import dev.sluice.lab.demo.Screens.ScreenLayout.Shown;
import dev.sluice.lab.demo.Screens.TerminalSize;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScreenLayoutTest {

  private static final FirstJobExpectation FIRST = FirstJobExpectation.STARTS_ON_FREE_QUOTA;

  private static List<String> lines(TerminalSize size, int jobs) {
    List<Row> rows =
        IntStream.range(0, jobs)
            .mapToObj(i -> new Row("job " + i, "job-" + i + " " + "x".repeat(200), i % 3 == 2))
            .toList();
    return new ScreenLayout(size, ScreenLayout.Styles.PLAIN)
        .lines(
            new Shown(
                "  1 s  a step\nof two lines",
                "waits for a Job, 3 s",
                List.of(FirstJobExpectation.values()),
                Map.of(FIRST, new ExpectationResult(FIRST, true, "seen")),
                List.of(
                    new Section("QUOTA", "queue", List.of(Row.of("a queue"), Row.of("another"))),
                    new Section("WORKLOADS", "job", rows)),
                IntStream.range(0, 50).mapToObj(i -> "event " + i).toList()));
  }

  @ParameterizedTest
  @CsvSource({"10,60,180", "24,80,180", "24,80,3", "40,120,180", "40,120,0", "200,250,180"})
  void isNeverTallerOrWiderThanTheTerminal(int rows, int columns, int jobs) {
    List<String> lines = lines(new TerminalSize(rows, columns), jobs);

    assertThat(lines).hasSizeLessThan(rows);
    assertThat(lines).allMatch(line -> line.length() < columns && line.indexOf('\n') < 0);
  }

  @Test
  void listsAllExpectationsAndCountsWhatHasEndedAndWhatHasNoRoom() {
    List<String> lines = lines(new TerminalSize(24, 80), 180);

    assertThat(lines.get(1)).isEqualTo("waits for a Job, 3 s");
    assertThat(lines.get(2)).startsWith("[x] 1. ");
    assertThat(lines.subList(3, 8)).allMatch(line -> line.startsWith("[ ] "));
    assertThat(lines).contains("  another", "EVENTS", "  event 49");
    long shown = lines.stream().filter(line -> line.startsWith("  job-")).count();
    assertThat(lines).contains("  and %d more; 60 finished".formatted(120 - shown));
  }

  @Test
  void showsAllRowsWhereThereIsRoom() {
    assertThat(lines(new TerminalSize(40, 120), 3))
        .contains("  1 finished")
        .doesNotContain("  job-2")
        .filteredOn(line -> line.startsWith("  event"))
        .hasSize(6);
  }

  @ParameterizedTest
  @CsvSource({"24 80,24,80", "0 0,24,80", "'',24,80", "3 20,10,60", "x y,24,80"})
  void sizesAreReadWhateverIsSaid(String said, int rows, int columns) {
    assertThat(TerminalSize.parse(said)).isEqualTo(new TerminalSize(rows, columns));
  }

  @Test
  void aLongLineIsCutOrBrokenBetweenWords() {
    TerminalSize size = new TerminalSize(24, 80);
    String text = "[ ] 1. " + "word ".repeat(20).strip();

    assertThat(size.fitting(text, 8)).hasSize(71).endsWith("...");
    assertThat(size.fitting("short", 8)).isEqualTo("short");
    assertThat(size.wrapped(text, "       "))
        .hasSize(2)
        .allMatch(line -> line.length() < 80 && line.endsWith("word"))
        .last()
        .asString()
        .startsWith("       word");
    assertThat(size.wrapped("short", "  ")).containsExactly("short");
  }
}
