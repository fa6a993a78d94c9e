package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.ConfigurationLoader;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsMapperTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

  /** How long after admission readiness may be told with the end of the job. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "namespace: own | PT29M",
        "waitForPodsReady: {timeout: 10m} | PT9M",
        "waitForPodsReady: {timeout: 2m} | PT1M",
        "waitForPodsReady: {timeout: 90s} | PT0S",
        "waitForPodsReady: {blockAdmission: true} | PT0S"
      })
  void readinessIsToldAtOnceInTheMinuteBeforeATimeOut(String yaml, Duration expected)
      throws Exception {
    OptionsMapper options =
        new OptionsMapper(ConfigurationLoader.parse(HEAD + yaml + "\n", "", () -> "own"));

    assertThat(options.quickStart()).isEqualTo(expected);
  }
}
