package dev.sluice.metrics;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Counts the Kubernetes client's requests to the API server: {@code rest_client_requests_total} by
 * method and status. To be added to the client's builder as an interceptor.
 */
public final class ApiRequestMetrics implements Interceptor {

  /** The name of the interceptor in the client's builder. */
  public static final String NAME = "sluice-metrics";

  private final Counter requests;

  /** Registers the metric. */
  public ApiRequestMetrics(PrometheusRegistry registry) {
    requests =
        Counter.builder()
            .name("rest_client_requests_total")
            .help("Requests to the API server, by method and status")
            .labelNames("method", "code")
            .register(registry);
  }

  @Override
  public void after(
      HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> body) {
    requests.labelValues(request.method(), String.valueOf(response.code())).inc();
  }

  @Override
  public void afterConnectionFailure(HttpRequest request, Throwable failure) {
    requests.labelValues(request.method(), "<error>").inc();
  }
}
