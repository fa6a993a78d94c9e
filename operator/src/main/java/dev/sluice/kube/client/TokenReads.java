package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads at an API server as somebody who has shown his token: the API server decides by his rights.
 * Nothing of this process's own identity is sent. The connections are made at the first request.
 * Answers are bounded: 8 MiB for one, 32 MiB for all that are being read, ten seconds. Thread-safe.
 */
public final class TokenReads implements AutoCloseable {

  private static final int LONGEST = 8 << 20;
  private static final long TOGETHER = 32L << 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final Config cluster;
  private final BoundedAnswers answers = new BoundedAnswers(LONGEST, TOGETHER);
  private @Nullable KubernetesClient client;
  private boolean closed;

  /** At the API server of a configuration, of which the identity is left out. */
  public TokenReads(Config own) {
    cluster =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(own.getMasterUrl())
            .withCaCertData(own.getCaCertData())
            .withCaCertFile(own.getCaCertFile())
            .withTrustCerts(own.isTrustCerts())
            .withDisableHostnameVerification(own.isDisableHostnameVerification())
            .withHttpProxy(own.getHttpProxy())
            .withHttpsProxy(own.getHttpsProxy())
            .withNoProxy(own.getNoProxy())
            .withConnectionTimeout((int) TIMEOUT.toMillis())
            .withRequestRetryBackoffLimit(0)
            .build();
  }

  /**
   * Reads what is at a path, with its query, below the address of the API server. The future never
   * completes with an exception.
   */
  public CompletableFuture<ApiOutcome> get(String path, String token) {
    try {
      KubernetesClient known = client();
      HttpClient http = known.getHttpClient();
      HttpRequest request =
          http.newHttpRequestBuilder()
              .uri(known.getMasterUrl().toString().replaceAll("/$", "") + path)
              .header("Accept", "application/json")
              .header("Authorization", "Bearer " + token)
              .timeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
              .build();
      return answers
          .send(http, request)
          .orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
          .thenApply(answer -> ApiOutcome.of(answer.head(), answer.body()))
          .exceptionally(
              failure ->
                  ApiOutcome.Unreachable.unanswered(
                      failure.getCause() == null ? failure : failure.getCause()));
    } catch (IllegalStateException | IllegalArgumentException notSent) {
      return CompletableFuture.completedFuture(
          ApiOutcome.Unreachable.notSent(String.valueOf(notSent.getMessage())));
    }
  }

  private synchronized KubernetesClient client() {
    if (closed) {
      throw new IllegalStateException("this process ends");
    }
    KubernetesClient known = client;
    if (known == null) {
      known = new KubernetesClientBuilder().withConfig(cluster).build();
      client = known;
    }
    return known;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (client != null) {
      client.close();
    }
  }
}
