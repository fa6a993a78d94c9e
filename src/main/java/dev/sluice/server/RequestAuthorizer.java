package dev.sluice.server;

/** Says who may read metrics. */
@FunctionalInterface
public interface RequestAuthorizer {

  /** What the cluster says about the bearer of a token. */
  enum Decision {
    /** May read. */
    ALLOWED,
    /** The token is unknown or no longer valid. */
    UNAUTHENTICATED,
    /** Known, and has no permission. */
    FORBIDDEN
  }

  /** Decides about the bearer of this token, which isn't empty. */
  Decision decide(String token);
}
