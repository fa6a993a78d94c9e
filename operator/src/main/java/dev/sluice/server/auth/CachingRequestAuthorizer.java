package dev.sluice.server.auth;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;

/** Caches decisions of another authorizer for a short time, and refusals for a shorter time. */
public final class CachingRequestAuthorizer implements RequestAuthorizer {

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
      RequestAuthorizer authorizer, Duration allowedTtl, Duration refusedTtl, InstantSource clock) {
    this.authorizer = authorizer;
    this.decisions =
        new ReviewCache<>(decision -> decision != Decision.ALLOWED, allowedTtl, refusedTtl, clock);
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
