package dev.sluice.kube.client;

import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.InterruptedIOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the API server for the name that it gives to this process. */
public final class OwnUser {

  private static final Logger LOG = LoggerFactory.getLogger(OwnUser.class);

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private OwnUser() {}

  /** The name of the client's user; empty, with a line in the log, while it can't be had. */
  public static Optional<String> of(KubernetesClient client) {
    try {
      return asked(client);
    } catch (KubernetesClientException e) {
      LOG.warn("own name unknown reason=\"{}\"", ApiErrorText.of(e));
      return Optional.empty();
    }
  }

  /**
   * The same at the start, which depends on it: whoever doesn't answer is asked again, for some
   * seconds.
   *
   * @throws InterruptedIOException when the thread is interrupted meanwhile
   */
  public static Optional<String> await(KubernetesClient client) throws InterruptedIOException {
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < PATIENCE.toNanos()) {
      try {
        return asked(client);
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN
            || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
          break;
        }
        pause();
      }
    }
    return of(client);
  }

  private static void pause() throws InterruptedIOException {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the own name was asked for");
    }
  }

  private static Optional<String> asked(KubernetesClient client) {
    SelfSubjectReview answer = client.resource(new SelfSubjectReview()).create();
    return Optional.ofNullable(answer.getStatus())
        .flatMap(status -> Optional.ofNullable(status.getUserInfo()))
        .flatMap(user -> Optional.ofNullable(user.getUsername()))
        .filter(name -> !name.isEmpty());
  }
}
