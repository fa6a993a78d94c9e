package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page docs/chart-values.md is what the chart's table says. */
class ChartValuesPageTest {

  private static final Path PAGE = Path.of("docs", "chart-values.md");
  private static final Path TEMPLATES = Path.of("helm/sluice/templates");

  @Test
  void thePageIsWhatTheTableSays() throws IOException {
    String page = KueueValues.page();
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE)).isEqualTo(page);
  }

  @Test
  void everyRowIsAboutSomeValue() throws IOException {
    Set<String> told = new HashSet<>();
    for (String leaf : KueueValues.leaves().keySet()) {
      told.add(KueueValues.rowOf(leaf).value());
    }

    assertThat(KueueValues.rows()).extracting(KueueValues.Row::value).hasSameElementsAs(told);
  }

  /** Helm renders templates in no order that it promises. */
  @Test
  void everyTemplateTakesTheValuesInFirst() throws IOException {
    try (Stream<Path> files = Files.list(TEMPLATES)) {
      assertThat(files.filter(file -> !file.getFileName().toString().startsWith("_")))
          .hasSizeGreaterThan(15)
          .allSatisfy(
              file ->
                  assertThat(Files.readString(file).replaceFirst("\\{\\{- /\\*.*?\\*/ -}}\n", ""))
                      .startsWith("{{- include \"sluice.values\" . -}}\n"));
    }
  }
}
