package dev.sluice.kube.client;

import dev.sluice.core.model.WorkloadId;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The requests by which single Workloads and their newest version are read, over the client's
 * connections.
 */
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

  /** The address of all Workloads. */
  public String collection() {
    return group + "workloads";
  }

  public HttpClient http() {
    return http;
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
}
