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
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Who may ask for a collection below the visibility API, and how often. Errors are {@code Status}
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
    try {
      Optional<UserInfo> user = users.of(request);
      if (user.isEmpty()) {
        return VisibilityEndpoint.failure(401, "Unauthorized", "Unauthorized");
      }
      String name = user.get().getUsername();
      requestBudget.take(name);
      return access.isAllowed(user.get(), action)
          ? allowed.get()
          : VisibilityEndpoint.failure(403, "Forbidden", forbidden(name, action));
    } catch (OverBudgetException e) {
      return VisibilityEndpoint.failure(429, "TooManyRequests", String.valueOf(e.getMessage()))
          .with(e.response().headers());
    } catch (KubernetesClientException e) {
      return VisibilityEndpoint.failure(
          503, "ServiceUnavailable", "who may ask this can't be found out: " + ApiErrorText.of(e));
    }
  }

  private static String forbidden(String user, UserAction.OnResource action) {
    return "%1$s.%2$s is forbidden: User \"%3$s\" cannot %4$s resource \"%1$s\" in API group \"%2$s\" %5$s"
        .formatted(
            action.resource(),
            action.group(),
            user,
            action.verb(),
            action.namespace().isEmpty()
                ? "at the cluster scope"
                : "in the namespace \"" + action.namespace() + "\"");
  }
}
