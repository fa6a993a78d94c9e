package dev.sluice.server.auth;

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
}
