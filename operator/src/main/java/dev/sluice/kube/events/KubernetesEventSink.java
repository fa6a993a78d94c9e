package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Writes events to the API server. Events are half of the writes of a Job, and nobody reads what
 * the API server answers to them: the answers aren't parsed.
 */
public final class KubernetesEventSink implements EventSink {

  private static final String JSON = "application/json";
  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final KubernetesClient client;

  /** With the client to write with. */
  public KubernetesEventSink(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public void create(Event event) {
    send("POST", collection(event), JSON, event);
  }

  @Override
  public void update(Event event, EventSeries series) {
    String path = collection(event) + "/" + event.getMetadata().getName();
    send("PATCH", path, MERGE_PATCH, Map.of("series", series));
  }

  private String collection(Event event) {
    return "%sapis/%s/namespaces/%s/events"
        .formatted(
            client.getMasterUrl(), event.getApiVersion(), event.getMetadata().getNamespace());
  }

  private void send(String method, String uri, String contentType, Object body) {
    HttpRequest request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(uri)
            .header("Accept", JSON)
            .timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .method(method, contentType, client.getKubernetesSerialization().asJson(body))
            .build();
    HttpResponse<byte[]> answer = client.getHttpClient().sendAsync(request, byte[].class).join();
    if (!answer.isSuccessful()) {
      throw new IllegalStateException("the API server answered " + answer.code());
    }
  }
}
