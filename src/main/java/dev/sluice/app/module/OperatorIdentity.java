package dev.sluice.app.module;

import dev.sluice.kube.client.OwnUser;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Knows the operator among the users of the API server, by the name that the API server gives to
 * this process. The answer is remembered. While it can't be had, any service account of the
 * operator's namespace passes for the operator.
 */
final class OperatorIdentity implements Predicate<String> {

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
    Optional<String> name = known.or(() -> OwnUser.of(client));
    known = name;
    return name.map(user::equals).orElseGet(() -> user.startsWith(accounts));
  }
}
