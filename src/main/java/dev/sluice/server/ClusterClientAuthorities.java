package dev.sluice.server;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * The authorities that sign the cluster's client certificates. API servers publish them for servers
 * that extend the API. They are read when somebody comes with a certificate, at most once in a
 * short time, whether that succeeds or not: a new authority counts after that.
 */
public final class ClusterClientAuthorities {

  /** How long the authorities are used before they are read again. */
  public static final Duration TTL = Duration.ofSeconds(10);

  private static final String NAMESPACE = "kube-system";
  private static final String NAME = "extension-apiserver-authentication";
  private static final String KEY = "client-ca-file";

  private final KubernetesClient client;
  private final InstantSource clock;
  private String known = "";
  private Optional<KubernetesClientException> failure = Optional.empty();
  private Instant until = Instant.MIN;

  /** Creates a reader; nothing is read yet. */
  public ClusterClientAuthorities(KubernetesClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * The authorities (PEM); empty text if the cluster has none.
   *
   * @throws KubernetesClientException when they can't be read
   */
  public synchronized String pem() {
    Instant now = clock.instant();
    if (!now.isBefore(until)) {
      until = now.plus(TTL);
      try {
        known = read();
        failure = Optional.empty();
      } catch (KubernetesClientException e) {
        failure = Optional.of(e);
      }
    }
    if (failure.isPresent()) {
      throw failure.get();
    }
    return known;
  }

  private String read() {
    ConfigMap published = client.configMaps().inNamespace(NAMESPACE).withName(NAME).get();
    return published == null || published.getData() == null
        ? ""
        : published.getData().getOrDefault(KEY, "");
  }
}
