package dev.sluice.server;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;

/**
 * Authorizes through the API server: a TokenReview, then a SubjectAccessReview for the verb {@code
 * get} on the path.
 */
public final class KubernetesRequestAuthorizer implements RequestAuthorizer {

  private final KubernetesClient client;
  private final String path;

  /**
   * Creates an authorizer for one path.
   *
   * @param path the path for which the user needs the verb {@code get}, such as {@code /metrics}
   */
  public KubernetesRequestAuthorizer(KubernetesClient client, String path) {
    this.client = client;
    this.path = path;
  }

  @Override
  public Decision decide(String token) {
    Optional<UserInfo> user = user(token);
    if (user.isEmpty()) {
      return Decision.UNAUTHENTICATED;
    }
    return decide(user.get());
  }

  /** Decides about a user who is known. */
  public Decision decide(UserInfo user) {
    return isAllowed(user) ? Decision.ALLOWED : Decision.FORBIDDEN;
  }

  /** The decisions about users as text, as {@link ClientCertificateAuthorizer} knows them. */
  public RequestAuthorizer ofUsers() {
    return text -> decide(ClientCertificateAuthorizer.user(text));
  }

  private Optional<UserInfo> user(String token) {
    TokenReview review = new TokenReviewBuilder().withNewSpec().withToken(token).endSpec().build();
    TokenReview answer = client.resource(review).create();
    boolean authenticated =
        answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAuthenticated());
    return authenticated ? Optional.ofNullable(answer.getStatus().getUser()) : Optional.empty();
  }

  private boolean isAllowed(UserInfo user) {
    SubjectAccessReview review =
        new SubjectAccessReviewBuilder()
            .withNewSpec()
            .withUser(user.getUsername())
            .withUid(user.getUid())
            .withGroups(user.getGroups())
            .withNewNonResourceAttributes(path, "get")
            .endSpec()
            .build();
    SubjectAccessReview answer = client.resource(review).create();
    return answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAllowed());
  }
}
