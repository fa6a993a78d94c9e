package dev.sluice.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.lab.process.OperatorSettings.ElectionTimes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The operator reads in its configuration file what the settings say. */
class OperatorSettingsTest {

  @Test
  void theFileSaysWhatTheSettingsSay() throws Exception {
    OperatorSettings settings =
        new OperatorSettings(
            "127.0.0.5",
            20_001,
            20_002,
            20_003,
            20_004,
            new ElectionTimes(
                Duration.ofMillis(2500), Duration.ofSeconds(2), Duration.ofMillis(500)),
            "enableClusterQueueResources: true",
            "");

    Configuration read = ConfigurationLoader.parse(settings.yaml(), "", () -> "kueue-system");

    assertThat(read.webhook().port()).isEqualTo(20_001);
    assertThat(read.webhook().host()).isEqualTo("127.0.0.5");
    assertThat(read.health().bindAddress()).contains(new BindAddress("127.0.0.1", 20_002));
    assertThat(read.metrics().bindAddress()).contains(new BindAddress("127.0.0.1", 20_003));
    assertThat(read.metrics().enableClusterQueueResources()).isTrue();
    assertThat(read.visibilityServer().bindPort()).isEqualTo(20_004);
    assertThat(read.leaderElection().leaderElect()).isTrue();
    assertThat(read.leaderElection().leaseDuration()).isEqualTo(Duration.ofMillis(2500));
    assertThat(read.leaderElection().renewDeadline()).isEqualTo(Duration.ofSeconds(2));
    assertThat(read.leaderElection().retryPeriod()).isEqualTo(Duration.ofMillis(500));
  }
}
