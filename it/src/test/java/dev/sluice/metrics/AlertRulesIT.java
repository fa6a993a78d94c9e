package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.testing.GoProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rules as they are shipped, played by Prometheus' own tool in the time that it makes up: each
 * alert fires after the time that its rule says, and not earlier.
 */
@Tag("faults")
class AlertRulesIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Pattern ALERT = Pattern.compile("alertname=\"(\\w+)\"");

  @Test
  void eachAlertFiresAfterItsTimeAndNotEarlier(@TempDir Path directory) throws Exception {
    String played = played();
    assertThat(expected(played))
        .containsExactlyInAnyOrderElementsOf(new TreeSet<>(MonitoringFiles.alerts()));
    Files.copy(MonitoringFiles.RULES, directory.resolve("rules.yaml"));
    Path file = Files.writeString(directory.resolve("alert-times.yaml"), played);
    String promtool = PrometheusServer.program("promtool").toString();

    GoProgram.Run check =
        GoProgram.run(
            List.of(promtool, "check", "rules", directory.resolve("rules.yaml").toString()),
            Map.of(),
            LIMIT);
    GoProgram.Run test =
        GoProgram.run(List.of(promtool, "test", "rules", file.toString()), Map.of(), LIMIT);

    assertThat(check.code()).as(check.output() + check.errors()).isZero();
    assertThat(test.code()).as(test.output() + test.errors()).isZero();
  }

  private static String played() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(AlertRulesIT.class.getResourceAsStream("alert-times.yaml"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The alerts that the file expects to fire. */
  private static Set<String> expected(String played) throws IOException {
    Set<String> names = new TreeSet<>();
    JsonNode tests = new ObjectMapper(new YAMLFactory()).readTree(played).path("tests");
    for (JsonNode sample : tests.findValues("exp_samples")) {
      names.addAll(
          ALERT
              .matcher(sample.toString().replace("\\", ""))
              .results()
              .map((MatchResult result) -> result.group(1))
              .collect(Collectors.toSet()));
    }
    return names;
  }
}
