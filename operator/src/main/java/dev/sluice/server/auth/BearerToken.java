package dev.sluice.server.auth;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.server.http.OverBudgetException;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Authorizes requests by the bearer token in their header. */
public final class BearerToken {

  private static final Logger log = LoggerFactory.getLogger(BearerToken.class);
  private static final String BEARER = "bearer ";

  private BearerToken() {}

  /**
   * The response to a user who may not read {@code path}; empty if the user may. Nobody may while
   * the authorizer fails.
   */
  public static Optional<Response> refusal(
      Request request, RequestAuthorizer authorizer, String path) {
    return switch (decide(request, authorizer)) {
      case UNAUTHENTICATED -> Optional.of(Response.text(401, "Unauthorized"));
      case FORBIDDEN ->
          Optional.of(Response.text(403, "Forbidden: the verb get on " + path + " is needed"));
      case ALLOWED -> Optional.empty();
    };
  }

  private static RequestAuthorizer.Decision decide(Request request, RequestAuthorizer authorizer) {
    try {
      return of(request)
          .map(token -> authorizer.decide(token, request.source()))
          .orElse(RequestAuthorizer.Decision.UNAUTHENTICATED);
    } catch (OverBudgetException e) {
      throw e;
    } catch (RuntimeException e) {
      log.warn("request path={} result=refused reason=\"{}\"", request.path(), ApiErrorText.of(e));
      return RequestAuthorizer.Decision.UNAUTHENTICATED;
    }
  }

  /** The token that a request shows; empty if it shows none. */
  public static Optional<String> of(Request request) {
    return request
        .header("authorization")
        .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(BEARER))
        .map(value -> value.substring(BEARER.length()).strip())
        .filter(token -> !token.isEmpty());
  }
}
