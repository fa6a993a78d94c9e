package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Objects;

/** Reads with the client library, which knows every way to log in. */
public final class ClientApiReader implements ApiReader {

  private final KubernetesClient client;

  /** Takes the client over: it is closed with the reader. */
  public ClientApiReader(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public String get(String path) {
    return Objects.requireNonNullElse(client.raw(path, "GET", null), "");
  }

  @Override
  public void close() {
    client.close();
  }
}
