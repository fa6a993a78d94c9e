package dev.sluice.server.auth;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Asks the API server who somebody is and what he may do; nothing is remembered. */
final class Reviews {

  private Reviews() {}

  /** The bearer of a token; empty if the token is not valid. */
  static Optional<UserInfo> user(KubernetesClient client, String token) {
    TokenReview review = new TokenReviewBuilder().withNewSpec().withToken(token).endSpec().build();
    TokenReview answer = client.resource(review).create();
    boolean authenticated =
        answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAuthenticated());
    return authenticated ? Optional.ofNullable(answer.getStatus().getUser()) : Optional.empty();
  }

  /** Whether a user may do this. */
  static boolean isAllowed(KubernetesClient client, UserInfo user, UserAction action) {
    SubjectAccessReview answer = client.resource(review(user, action)).create();
    return answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAllowed());
  }

  private static SubjectAccessReview review(UserInfo user, UserAction action) {
    Map<String, List<String>> extra = user.getExtra() == null ? Map.of() : user.getExtra();
    var spec =
        new SubjectAccessReviewBuilder()
            .withNewSpec()
            .withUser(user.getUsername())
            .withUid(user.getUid())
            .withGroups(user.getGroups())
            .withExtra(extra);
    return switch (action) {
      case UserAction.OnPath(String verb, String path) ->
          spec.withNewNonResourceAttributes(path, verb).endSpec().build();
      case UserAction.OnResource on ->
          spec.withNewResourceAttributes()
              .withVerb(on.verb())
              .withGroup(on.group())
              .withVersion(on.version())
              .withResource(on.resource())
              .withSubresource(on.subresource())
              .withNamespace(on.namespace())
              .withName(on.name())
              .endResourceAttributes()
              .endSpec()
              .build();
    };
  }
}
