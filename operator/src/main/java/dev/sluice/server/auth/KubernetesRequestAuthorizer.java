package dev.sluice.server.auth;

import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;

/**
 * Authorizes through the API server: a TokenReview, then a SubjectAccessReview for the verb {@code
 * get} on the path.
 */
public final class KubernetesRequestAuthorizer implements RequestAuthorizer {

  private final KubernetesClient client;
  private final UserAction action;

  /**
   * Creates an authorizer for one path.
   *
   * @param path the path for which the user needs the verb {@code get}, such as {@code /metrics}
   */
  public KubernetesRequestAuthorizer(KubernetesClient client, String path) {
    this.client = client;
    this.action = new UserAction.OnPath("get", path);
  }

  @Override
  public Decision decide(String token) {
    Optional<UserInfo> user = Reviews.user(client, token);
    if (user.isEmpty()) {
      return Decision.UNAUTHENTICATED;
    }
    return Reviews.isAllowed(client, user.get(), action) ? Decision.ALLOWED : Decision.FORBIDDEN;
  }
}
