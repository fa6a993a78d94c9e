package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class ApiRequestMetricsTest {

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void requestsAreCountedByMethodAndStatus() {
    try (MetricsScrape scrape = new MetricsScrape()) {
      ApiRequestMetrics metrics = new ApiRequestMetrics(scrape.registry());
      try (KubernetesClient counted =
          new KubernetesClientBuilder()
              .withConfig(client.getConfiguration())
              .withHttpClientBuilderConsumer(
                  builder -> builder.addOrReplaceInterceptor(ApiRequestMetrics.NAME, metrics))
              .build()) {
        counted.configMaps().inNamespace("a").withName("none").get();
        counted.configMaps().inNamespace("a").list();
      }

      assertThat(new String(scrape.scrape().body(), StandardCharsets.UTF_8))
          .contains(
              "rest_client_requests_total{code=\"404\",host=\"%s\",method=\"GET\"} 1.0"
                  .formatted(client.getMasterUrl().getAuthority()),
              "rest_client_requests_total{code=\"200\",host=\"%s\",method=\"GET\"} 1.0"
                  .formatted(client.getMasterUrl().getAuthority()),
              "rest_client_request_duration_seconds_count{host=\"%s\",verb=\"GET\"} 2"
                  .formatted(client.getMasterUrl().getAuthority()),
              "rest_client_request_duration_seconds_bucket{host=\"%s\",verb=\"GET\",le=\"60.0\"} 2"
                  .formatted(client.getMasterUrl().getAuthority()));
    }
  }
}
