package dev.sluice.server.auth;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a user may do, decided by the cluster; answers are remembered for a short time. */
public final class AccessReviews {

  /** The group whose members may do everything, whatever the authorizers of the cluster say. */
  private static final String MASTERS = "system:masters";

  /** Of one user, who may look at many namespaces at once. */
  private static final int PER_SECOND = 20;

  private static final int BURST = 500;

  private final KubernetesClient client;
  private final ReviewCache<Boolean> answers;

  /**
   * Creates a reader.
   *
   * @param allowedTtl how long a permission counts without asking again
   * @param refusedTtl the same for a refusal
   */
  public AccessReviews(
      KubernetesClient client, Duration allowedTtl, Duration refusedTtl, InstantSource clock) {
    this.client = client;
    this.answers =
        new ReviewCache<>(
            allowed -> !allowed,
            allowedTtl,
            refusedTtl,
            clock,
            new RequestBudget("access reviews are needed", PER_SECOND, BURST, 0, clock));
  }

  /**
   * Whether the user may do this.
   *
   * @throws KubernetesClientException when the cluster can't be asked
   * @throws dev.sluice.server.http.OverBudgetException when too much was asked about this user
   */
  public boolean isAllowed(UserInfo user, UserAction action) {
    return user.getGroups().contains(MASTERS)
        || answers.get(
            key(user, action), user.getUsername(), () -> Reviews.isAllowed(client, user, action));
  }

  private static String key(UserInfo user, UserAction action) {
    ObjectNode key = JsonMappers.JSON.createObjectNode();
    key.put("user", user.getUsername()).put("uid", user.getUid());
    user.getGroups().forEach(key.withArray("groups")::add);
    key.set("extra", JsonMappers.JSON.valueToTree(user.getExtra()));
    key.set("action", JsonMappers.JSON.valueToTree(action));
    return key.toString();
  }

  /** Asks the API server who somebody is and what he may do; nothing is remembered. */
  static final class Reviews {

    private Reviews() {}

    /** The bearer of a token; empty if the token is not valid. */
    static Optional<UserInfo> user(KubernetesClient client, String token) {
      TokenReview review =
          new TokenReviewBuilder().withNewSpec().withToken(token).endSpec().build();
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
}
