package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The block {@code forecast} of the configuration. */
class ForecastSettingsTest {

  private static Configuration load(String yaml) throws ConfigurationException {
    return ConfigurationLoader.parse(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + yaml,
        "",
        () -> "kueue-system");
  }

  @Test
  void nobodyIsWarnedByDefault() throws Exception {
    assertThat(load("namespace: own").warnOnCreate()).isZero();
  }

  @Test
  void theWaitIsReadAndPrinted() throws Exception {
    Configuration read = load("forecast: {warnOnCreate: 90m}");
    assertThat(read.warnOnCreate()).isEqualTo(Duration.ofMinutes(90));
    assertThat(ConfigurationLoader.parse(read.effective(), "", () -> "kueue-system").warnOnCreate())
        .isEqualTo(Duration.ofMinutes(90));
  }

  @Test
  void whatIsNoWaitIsRefused() {
    assertThatThrownBy(() -> load("forecast: {warnOnCreate: -1s}"))
        .hasMessageContaining("forecast.warnOnCreate")
        .hasMessageContaining("at least 0s");
    assertThatThrownBy(() -> load("forecast: {warnOnCreate: soon}"))
        .hasMessageContaining("forecast.warnOnCreate");
    assertThatThrownBy(() -> load("forecast: {warn: 1h}")).hasMessageContaining("forecast.warn");
  }
}
