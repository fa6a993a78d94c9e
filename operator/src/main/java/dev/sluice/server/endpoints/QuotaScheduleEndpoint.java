package dev.sluice.server.endpoints;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.OverBudgetException;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code GET …/quotaschedules} below the visibility API: when the quota of ClusterQueues is at
 * another factor than 1, now and in the next two weeks (docs/quota-by-time.md#what-is-shown). It
 * needs the verb {@code list}. With {@code output=text} there is a line for each time, its parts
 * separated by tabs, as the calendar of {@code kubectl sluice} has them. Everything else is
 * answered by another handler. Errors are {@code Status} objects.
 */
public final class QuotaScheduleEndpoint extends PathEndpoint {

  private static final Pattern PATH =
      Pattern.compile(
          "/apis/"
              + Pattern.quote(VisibilityApi.GROUP)
              + "/(v[a-z0-9]+)/"
              + VisibilityApi.QUOTA_SCHEDULES);

  /** The kind of a row, where it stands beside reservations. */
  private static final String ROW = "quota-schedule";

  private static final int PER_SECOND = 2;
  private static final int BURST = 10;

  /** What an answer takes until it is sent: a thousand queues with 16 times of 200 bytes. */
  private static final long ANSWER_BYTES = 4L << 20;

  private final RequestUsers users;
  private final AccessReviews access;
  private final Supplier<SortedMap<String, List<Interval>>> schedules;
  private final InstantSource clock;
  private final RequestBudget requestBudget;

  /**
   * Creates the endpoint.
   *
   * @param schedules the times by ClusterQueue
   * @param others answers other paths
   */
  public QuotaScheduleEndpoint(
      RequestUsers users,
      AccessReviews access,
      Supplier<SortedMap<String, List<Interval>>> schedules,
      InstantSource clock,
      HttpHandler others) {
    super(PATH, others);
    this.users = users;
    this.access = access;
    this.schedules = schedules;
    this.clock = clock;
    this.requestBudget = new RequestBudget("quota schedules", PER_SECOND, BURST, 0, clock);
  }

  @Override
  int maxBody() {
    return 0;
  }

  @Override
  public boolean asksForCertificates() {
    return true;
  }

  @Override
  long ownCost(Request request) {
    return ANSWER_BYTES;
  }

  @Override
  Response answer(Request request, Matcher path) {
    if (!request.method().equals("GET")) {
      return VisibilityEndpoint.failure(
          405, "MethodNotAllowed", "method " + request.method() + " is not allowed, use GET");
    }
    try {
      Optional<UserInfo> user = users.of(request);
      if (user.isEmpty()) {
        return VisibilityEndpoint.failure(401, "Unauthorized", "Unauthorized");
      }
      requestBudget.take(user.get().getUsername());
      UserAction action =
          new UserAction.OnResource(
              "list",
              VisibilityApi.GROUP,
              path.group(1),
              VisibilityApi.QUOTA_SCHEDULES,
              "",
              "",
              "");
      if (!access.isAllowed(user.get(), action)) {
        return VisibilityEndpoint.failure(
            403,
            "Forbidden",
            "%1$s.%2$s is forbidden: User \"%3$s\" cannot list resource \"%1$s\" in API group \"%2$s\" at the cluster scope"
                .formatted(
                    VisibilityApi.QUOTA_SCHEDULES, VisibilityApi.GROUP, user.get().getUsername()));
      }
      return switch (request.parameter("output").orElse("json")) {
        case "json" -> VisibilityEndpoint.json(200, document(schedules.get()));
        case "text" -> Response.text(200, lines(schedules.get(), clock.instant()));
        default -> VisibilityEndpoint.failure(400, "BadRequest", "output: it must be json or text");
      };
    } catch (OverBudgetException e) {
      return VisibilityEndpoint.failure(429, "TooManyRequests", String.valueOf(e.getMessage()))
          .with(e.response().headers());
    } catch (KubernetesClientException e) {
      return VisibilityEndpoint.failure(
          503, "ServiceUnavailable", "who may ask this can't be found out: " + ApiErrorText.of(e));
    }
  }

  private static ObjectNode document(Map<String, List<Interval>> schedules) {
    ObjectNode document = JsonMappers.JSON.createObjectNode().put("kind", "QuotaScheduleList");
    ArrayNode items = document.putArray("items");
    schedules.forEach(
        (queue, intervals) ->
            intervals.forEach(
                each ->
                    items
                        .addObject()
                        .put("clusterQueue", queue)
                        .put("start", each.start().toString())
                        .put("end", each.end().toString())
                        .put("factor", each.factor().toPlainString())));
    return document;
  }

  private static String lines(Map<String, List<Interval>> schedules, Instant now) {
    List<String> lines = new ArrayList<>();
    schedules.forEach(
        (queue, intervals) ->
            intervals.forEach(
                each ->
                    lines.add(
                        String.join(
                            "\t",
                            each.start().toString(),
                            each.end().toString(),
                            each.start().isAfter(now) ? "Upcoming" : "Current",
                            ROW,
                            queue,
                            "everybody",
                            "ClusterQueue %s: factor %s"
                                .formatted(queue, each.factor().toPlainString())))));
    return String.join("\n", lines);
  }
}
