package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What docs/configuration.md says is what holds. */
class DocumentationTest {

  @ParameterizedTest
  @EnumSource(FeatureGate.class)
  void everyGateIsToldAsItIs(FeatureGate gate) throws Exception {
    Optional<String> row =
        document().stream()
            .filter(line -> line.startsWith("| `" + gate.text() + "` |"))
            .findFirst();

    assertThat(row).as("row of " + gate.text()).isPresent();
    List<String> cells = Arrays.stream(row.get().split("\\|")).map(String::strip).toList();
    assertThat(cells.get(2)).isEqualTo(gate.onByDefault() ? "on" : "off");
    assertThat(cells.get(3)).isEqualToIgnoringCase(gate.stage().name());
    assertThat(cells.get(4)).isEqualTo(today(gate));
    assertThat(cells.size() > 5 ? cells.get(5) : "")
        .isEqualTo(String.join(", ", gate.needs().stream().map(FeatureGate::text).toList()));
  }

  @Test
  void everyExampleOfTheDocumentationLoads() throws Exception {
    String text = Files.readString(Path.of("docs/configuration.md"));
    String yaml = text.substring(text.indexOf("```yaml\n") + 8);

    assertThat(ConfigurationLoader.parse(yaml.substring(0, yaml.indexOf("```")), "", () -> "own"))
        .extracting(c -> c.metrics().enableClusterQueueResources())
        .isEqualTo(true);
  }

  private static String today(FeatureGate gate) {
    if (gate.works(true) && gate.works(false)) {
      return "on or off";
    }
    return gate.works(true) ? "on" : "off";
  }

  private static List<String> document() throws Exception {
    return Files.readAllLines(Path.of("docs/configuration.md"));
  }
}
