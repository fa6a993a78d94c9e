package dev.sluice.kube.client;

import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the API server for the name that it gives to this process. */
public final class OwnUser {

  private static final Logger LOG = LoggerFactory.getLogger(OwnUser.class);

  private OwnUser() {}

  /** The name of the client's user; empty, with a line in the log, while it can't be had. */
  public static Optional<String> of(KubernetesClient client) {
    try {
      SelfSubjectReview answer = client.resource(new SelfSubjectReview()).create();
      return Optional.ofNullable(answer.getStatus())
          .flatMap(status -> Optional.ofNullable(status.getUserInfo()))
          .flatMap(user -> Optional.ofNullable(user.getUsername()))
          .filter(name -> !name.isEmpty());
    } catch (KubernetesClientException e) {
      LOG.warn("own name unknown reason=\"{}\"", ApiErrorText.of(e));
      return Optional.empty();
    }
  }
}
