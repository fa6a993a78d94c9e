package dev.sluice.server.endpoints;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.OverBudgetException;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Who asks below the visibility API, whether he may, and how often. Errors are {@code Status}
 * objects, as the API server's.
 *
 * @param requestBudget how often somebody may ask
 */
record CallerCheck(RequestUsers users, AccessReviews access, RequestBudget requestBudget) {

  /**
   * The answer to somebody who may do that; else why there is none: with code 401, 403, 429, or 503
   * if it can't be found out.
   *
   * @param action on a collection, in a namespace or in all of them
   */
  Response answer(Request request, UserAction.OnResource action, Supplier<Response> allowed) {
    return answer(
        request,
        user -> {
          take(user);
          return ifAllowed(user, action, allowed);
        });
  }

  /**
   * The answer to somebody who is known; else why there is none. What it takes from the budget and
   * which access it needs is said within.
   */
  Response answer(Request request, Function<UserInfo, Response> known) {
    try {
      return users
          .of(request)
          .map(known)
          .orElseGet(() -> VisibilityEndpoint.failure(401, "Unauthorized", "Unauthorized"));
    } catch (OverBudgetException e) {
      return VisibilityEndpoint.failure(429, "TooManyRequests", String.valueOf(e.getMessage()))
          .with(e.response().headers());
    } catch (KubernetesClientException e) {
      return VisibilityEndpoint.failure(
          503, "ServiceUnavailable", "who may ask this can't be found out: " + ApiErrorText.of(e));
    }
  }

  /**
   * Takes a request from the budget of a user.
   *
   * @throws OverBudgetException if nothing is left
   */
  void take(UserInfo user) {
    requestBudget.take(user.getUsername());
  }

  /** The answer to somebody who may do that; with code 403 to others. */
  Response ifAllowed(UserInfo user, UserAction action, Supplier<Response> allowed) {
    return access.isAllowed(user, action)
        ? allowed.get()
        : VisibilityEndpoint.failure(403, "Forbidden", forbidden(user.getUsername(), action));
  }

  /** As API servers say it. */
  private static String forbidden(String user, UserAction action) {
    return switch (action) {
      case UserAction.OnPath(String verb, String path) ->
          "forbidden: User \"%s\" cannot %s path \"%s\"".formatted(user, verb, path);
      case UserAction.OnResource on ->
          "%s.%s %sis forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s"
              .formatted(
                  on.resource(),
                  on.group(),
                  on.name().isEmpty() ? "" : "\"" + on.name() + "\" ",
                  user,
                  on.verb(),
                  on.resource() + (on.subresource().isEmpty() ? "" : "/" + on.subresource()),
                  on.group(),
                  on.namespace().isEmpty()
                      ? "at the cluster scope"
                      : "in the namespace \"" + on.namespace() + "\"");
    };
  }
}
