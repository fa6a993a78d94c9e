package dev.sluice.server.auth;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How the cluster knows its users, which API servers publish for servers that extend the API: the
 * authorities of client certificates, and the API server's own identity when it passes on requests.
 * It is read when somebody comes with a certificate, at most once in a short time, whether that
 * succeeds or not: a new authority counts after that.
 */
public final class ClusterAuthentication {

  /** How long what was read is used before it is read again. */
  public static final Duration TTL = Duration.ofSeconds(10);

  private static final String NAMESPACE = "kube-system";
  private static final String NAME = "extension-apiserver-authentication";

  /**
   * What is published.
   *
   * @param clientAuthorities who signs client certificates (PEM); empty if nobody does
   * @param frontProxy who may pass on requests of others
   */
  public record Published(String clientAuthorities, FrontProxy frontProxy) {}

  /**
   * Who may pass on requests of others, and how he names them. Names of headers are in lower case.
   *
   * @param authorities who signs his certificate (PEM); empty if there is no such proxy
   * @param names the allowed common names; empty: all
   * @param userHeaders headers with the user's name; the first that is there counts
   * @param uidHeaders the same with the user's UID
   * @param groupHeaders headers with groups; all count
   * @param extraPrefixes prefixes of headers with further attributes
   */
  public record FrontProxy(
      String authorities,
      List<String> names,
      List<String> userHeaders,
      List<String> uidHeaders,
      List<String> groupHeaders,
      List<String> extraPrefixes) {}

  private static final Published NOTHING = published(Map.of());

  private final KubernetesClient client;
  private final InstantSource clock;
  private Published known = NOTHING;
  private Optional<KubernetesClientException> failure = Optional.empty();
  private Instant until = Instant.MIN;

  /** Creates a reader; nothing is read yet. */
  public ClusterAuthentication(KubernetesClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /**
   * What is published now.
   *
   * @throws KubernetesClientException when it can't be read
   */
  public synchronized Published published() {
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

  private Published read() {
    ConfigMap published = client.configMaps().inNamespace(NAMESPACE).withName(NAME).get();
    return published == null || published.getData() == null
        ? NOTHING
        : published(published.getData());
  }

  private static Published published(Map<String, String> data) {
    return new Published(
        data.getOrDefault("client-ca-file", ""),
        new FrontProxy(
            data.getOrDefault("requestheader-client-ca-file", ""),
            list(data, "requestheader-allowed-names"),
            headers(data, "requestheader-username-headers"),
            headers(data, "requestheader-uid-headers"),
            headers(data, "requestheader-group-headers"),
            headers(data, "requestheader-extra-headers-prefix")));
  }

  private static List<String> headers(Map<String, String> data, String key) {
    return list(data, key).stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
  }

  /** A JSON array of texts; anything else is none. */
  private static List<String> list(Map<String, String> data, String key) {
    List<String> values = new ArrayList<>();
    try {
      JsonNode array = JsonMappers.JSON.readTree(data.getOrDefault(key, ""));
      array.forEach(value -> values.add(value.asText()));
    } catch (JsonProcessingException e) {
      return List.of();
    }
    return List.copyOf(values);
  }
}
