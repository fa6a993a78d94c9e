package dev.sluice.app;

import dev.sluice.kube.client.ApiErrorText;
import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows the operator among the users of the API server, by the name that the API server gives to
 * this process. The answer is remembered. While it can't be had, any service account of the
 * operator's namespace passes for the operator.
 */
final class OperatorIdentity implements Predicate<String> {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorIdentity.class);

  private final KubernetesClient client;
  private final String accounts;
  private volatile Optional<String> known = Optional.empty();

  /** Nothing is asked yet. */
  OperatorIdentity(KubernetesClient client, String namespace) {
    this.client = client;
    this.accounts = "system:serviceaccount:" + namespace + ":";
  }

  @Override
  public boolean test(String user) {
    Optional<String> name = known.or(this::ask);
    known = name;
    return name.map(user::equals).orElseGet(() -> user.startsWith(accounts));
  }

  private Optional<String> ask() {
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
