package dev.sluice.kube.client;

import dev.sluice.core.model.WorkloadId;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The requests by which Workloads are listed, watched and read, over the client's connections. */
public final class RawRequests {

  private static final String JSON = "application/json";

  private final HttpClient http;
  private final String group;
  private final Duration patience;

  /**
   * Requests over the connections of {@code client}.
   *
   * @param patience how long a single object may take
   */
  public RawRequests(KubernetesClient client, Duration patience) {
    this.http = client.getHttpClient();
    this.group = client.getMasterUrl() + "apis/kueue.x-k8s.io/v1beta2/";
    this.patience = patience;
  }

  public HttpClient http() {
    return http;
  }

  /** A page of all Workloads, at the newest version; {@code next} is empty for the first. */
  public HttpRequest page(int limit, String next) {
    String query = "workloads?limit=" + limit + (next.isEmpty() ? "" : "&continue=" + coded(next));
    return get(group + query).build();
  }

  /** A watch of all Workloads from a version on, which the server ends after a while. */
  public HttpRequest watch(long version, int seconds) {
    return get(group
            + "workloads?watch=true&allowWatchBookmarks=true&resourceVersion="
            + version
            + "&timeoutSeconds="
            + seconds)
        .forStreaming()
        .build();
  }

  /** The newest version of the collection: a consistent read of as little as possible. */
  public HttpRequest newest() {
    return bounded(get(group + "workloads?limit=1"));
  }

  public HttpRequest read(WorkloadId id) {
    return bounded(get(group + "namespaces/" + id.namespace() + "/workloads/" + id.name()));
  }

  private HttpRequest bounded(HttpRequest.Builder request) {
    return request.timeout(patience.toMillis(), TimeUnit.MILLISECONDS).build();
  }

  private HttpRequest.Builder get(String uri) {
    return http.newHttpRequestBuilder().uri(uri).header("Accept", JSON);
  }

  private static String coded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
