package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.module.MetricsModule.WorkloadMetricsFactory;
import org.junit.jupiter.api.Test;

class WorkloadMetricsFactoryTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

  private static boolean reports(String fields, String gates) throws ConfigurationException {
    return WorkloadMetricsFactory.reportsLocalQueues(
        ConfigurationLoader.parse(HEAD + fields, gates, () -> "kueue-system"));
  }

  @Test
  void localQueuesAreReportedUnlessTheBlockOrTheGateIsOff() throws ConfigurationException {
    assertThat(reports("", "")).isTrue();
    assertThat(reports("", "LocalQueueMetrics=false")).isFalse();
    assertThat(reports("metrics: {localQueueMetrics: {enable: false}}\n", "")).isFalse();
  }
}
