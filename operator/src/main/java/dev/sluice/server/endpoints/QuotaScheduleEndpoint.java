package dev.sluice.server.endpoints;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.api.VisibilityApi;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private final CallerCheck callerCheck;
  private final Supplier<SortedMap<String, List<Interval>>> schedules;
  private final InstantSource clock;

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
    this.schedules = schedules;
    this.clock = clock;
    this.callerCheck =
        new CallerCheck(
            users, access, new RequestBudget("quota schedules", PER_SECOND, BURST, 0, clock));
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
    return callerCheck.answer(
        request,
        new UserAction.OnResource(
            "list", VisibilityApi.GROUP, path.group(1), VisibilityApi.QUOTA_SCHEDULES, "", "", ""),
        () ->
            switch (request.parameter("output").orElse("json")) {
              case "json" -> VisibilityEndpoint.json(200, document(schedules.get()));
              case "text" -> Response.text(200, lines(schedules.get(), clock.instant()));
              default ->
                  VisibilityEndpoint.failure(400, "BadRequest", "output: it must be json or text");
            });
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
