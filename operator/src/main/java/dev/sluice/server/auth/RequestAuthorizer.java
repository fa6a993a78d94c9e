package dev.sluice.server.auth;

import dev.sluice.server.auth.AccessReviews.Reviews;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/** Decides whether a user may read an endpoint. */
@FunctionalInterface
public interface RequestAuthorizer {

  /** Decision about the bearer of a token. */
  enum Decision {
    /** The user may read. */
    ALLOWED,
    /** The token is unknown or no longer valid. */
    UNAUTHENTICATED,
    /** The user is known and has no permission. */
    FORBIDDEN
  }

  /** Decides about the bearer of this token, which is not empty. */
  Decision decide(String token);

  /**
   * The same for a request.
   *
   * @param source where the request comes from
   * @throws dev.sluice.server.http.OverBudgetException when this source has shown too many unknown
   *     tokens
   */
  default Decision decide(String token, String source) {
    return decide(token);
  }

  /**
   * Authorizes through the API server: a TokenReview, then a SubjectAccessReview for the verb
   * {@code get} on the path.
   */
  final class KubernetesRequestAuthorizer implements RequestAuthorizer {

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

  /** Caches decisions of another authorizer for a short time, and refusals for a shorter time. */
  final class CachingRequestAuthorizer implements RequestAuthorizer {

    private static final int MAX_TOKEN_LENGTH = 16 * 1024;

    private final RequestAuthorizer authorizer;
    private final ReviewCache<Decision> decisions;

    /**
     * Creates a cache.
     *
     * @param allowedTtl how long an allowed token is cached
     * @param refusedTtl how long a refused token is cached
     */
    public CachingRequestAuthorizer(
        RequestAuthorizer authorizer,
        Duration allowedTtl,
        Duration refusedTtl,
        InstantSource clock) {
      this.authorizer = authorizer;
      this.decisions =
          new ReviewCache<>(
              decision -> decision != Decision.ALLOWED, allowedTtl, refusedTtl, clock);
    }

    /**
     * {@inheritDoc}
     *
     * @throws KubernetesClientException when too many requests are in progress
     */
    @Override
    public Decision decide(String token) {
      return decide(token, "");
    }

    @Override
    public Decision decide(String token, String source) {
      return token.length() > MAX_TOKEN_LENGTH
          ? Decision.UNAUTHENTICATED
          : decisions.get(token, source, () -> authorizer.decide(token));
    }
  }
}
