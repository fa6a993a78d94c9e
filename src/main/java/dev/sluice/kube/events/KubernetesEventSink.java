package dev.sluice.kube.events;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Writes events to the API server. Events are half of the writes of a Job, and nobody reads what
 * the API server answers to them: the requests are put together by hand, and answers aren't parsed.
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
    send("POST", collection(event), JSON, json(event));
  }

  @Override
  public void update(Event event, EventSeries series) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.set("series", json(series));
    String path = collection(event) + "/" + event.getMetadata().getName();
    send("PATCH", path, MERGE_PATCH, patch);
  }

  private String collection(Event event) {
    return "%sapis/%s/namespaces/%s/events"
        .formatted(
            client.getMasterUrl(), event.getApiVersion(), event.getMetadata().getNamespace());
  }

  private void send(String method, String uri, String contentType, ObjectNode body) {
    HttpRequest request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(uri)
            .header("Accept", JSON)
            .timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .method(method, contentType, body.toString())
            .build();
    HttpResponse<byte[]> answer = client.getHttpClient().sendAsync(request, byte[].class).join();
    if (!answer.isSuccessful()) {
      throw new IllegalStateException("the API server answered " + answer.code());
    }
  }

  private static ObjectNode json(Event event) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("apiVersion", event.getApiVersion()).put("kind", event.getKind());
    json.putObject("metadata")
        .put("name", event.getMetadata().getName())
        .put("namespace", event.getMetadata().getNamespace());
    json.put("eventTime", event.getEventTime().getTime())
        .put("reportingController", event.getReportingController())
        .put("reportingInstance", event.getReportingInstance())
        .put("action", event.getAction())
        .put("reason", event.getReason())
        .put("type", event.getType())
        .put("note", event.getNote());
    json.putObject("regarding")
        .put("apiVersion", event.getRegarding().getApiVersion())
        .put("kind", event.getRegarding().getKind())
        .put("namespace", event.getRegarding().getNamespace())
        .put("name", event.getRegarding().getName())
        .put("uid", event.getRegarding().getUid());
    if (event.getSeries() != null) {
      json.set("series", json(event.getSeries()));
    }
    return json;
  }

  private static ObjectNode json(EventSeries series) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("count", series.getCount())
        .put("lastObservedTime", series.getLastObservedTime().getTime());
  }
}
