package dev.sluice.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** Sends objects to an API server as they are, and shows what it answers. */
public final class RawApi implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final KubernetesClient client;

  /** Uses the same server and rights as the given client. */
  public RawApi(KubernetesClient client) {
    // An answer of 500, as to an object that can't be converted, is an answer too.
    Config config =
        new ConfigBuilder(client.getConfiguration()).withRequestRetryBackoffLimit(0).build();
    this.client = new KubernetesClientBuilder().withConfig(config).build();
  }

  /** Sends an object; the answer is an object of the API or a Status. */
  public JsonNode send(String method, String path, JsonNode body) {
    try {
      return JSON.readTree(client.raw(path, method, body.toString()));
    } catch (KubernetesClientException e) {
      if (e.getStatus() == null) {
        throw e;
      }
      return JSON.valueToTree(e.getStatus());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
