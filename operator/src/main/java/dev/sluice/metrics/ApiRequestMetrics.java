package dev.sluice.metrics;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts the Kubernetes client's requests to the API server: {@code rest_client_requests_total} by
 * method, status and host, and {@code rest_client_request_duration_seconds} by verb and host, until
 * the answer begins. To be added to the client's builder as an interceptor.
 */
public final class ApiRequestMetrics implements Interceptor {

  /** The name of the interceptor in the client's builder. */
  public static final String NAME = "sluice-metrics";

  /** Those of the client library that dashboards were made for. */
  private static final double[] BUCKETS = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

  private static final double NANOS = 1e9;

  /** More are not under way; those of clients that were closed are never answered. */
  private static final int MOST_STARTED = 10_000;

  private final Counter requests;
  private final Histogram durations;
  private final Map<UUID, Long> started = new ConcurrentHashMap<>();

  /** Registers the metrics. */
  public ApiRequestMetrics(PrometheusRegistry registry) {
    requests =
        Counter.builder()
            .name("rest_client_requests_total")
            .help("Requests to the API server, by method, status and host")
            .labelNames("method", "code", "host")
            .register(registry);
    durations =
        Histogram.builder()
            .name("rest_client_request_duration_seconds")
            .help("From a request to the API server to the beginning of its answer")
            .labelNames("verb", "host")
            .classicUpperBounds(BUCKETS)
            .classicOnly()
            .register(registry);
  }

  /** Called with the request as it is sent, whose identity the answer has, too. */
  @Override
  public AsyncBody.Consumer<List<ByteBuffer>> consumer(
      AsyncBody.Consumer<List<ByteBuffer>> consumer, HttpRequest request) {
    if (started.size() >= MOST_STARTED) {
      started.clear();
    }
    started.put(request.id(), System.nanoTime());
    return consumer;
  }

  @Override
  public void after(
      HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> body) {
    requests.labelValues(request.method(), String.valueOf(response.code()), host(request)).inc();
    Long since = started.remove(request.id());
    if (since != null) {
      durations
          .labelValues(request.method(), host(request))
          .observe((System.nanoTime() - since) / NANOS);
    }
  }

  @Override
  public void afterConnectionFailure(HttpRequest request, Throwable failure) {
    started.remove(request.id());
    requests.labelValues(request.method(), "<error>", host(request)).inc();
  }

  private static String host(HttpRequest request) {
    return String.valueOf(request.uri().getRawAuthority());
  }
}
