package dev.sluice.server.endpoints;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.ledger.Ledger;
import dev.sluice.ledger.UsageDocument;
import dev.sluice.ledger.UsageQuery;
import dev.sluice.ledger.UsageReport;
import dev.sluice.ledger.UsageReport.Format;
import dev.sluice.ledger.UsageRows;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.api.VisibilityApi;
import java.io.IOException;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code GET …/usage} and {@code …/namespaces/NAMESPACE/usage} below the visibility API: what was
 * used; {@code DELETE} of the second forgets the ended attempts of a namespace
 * (docs/ledger.md#usage). They need the verbs {@code list} and {@code deletecollection}, as an API
 * server names requests for a resource without a name. Everything else is answered by another
 * handler. Errors are {@code Status} objects.
 */
public final class UsageEndpoint extends PathEndpoint {

  private static final Logger LOG = LoggerFactory.getLogger(UsageEndpoint.class);
  private static final Pattern PATH =
      Pattern.compile(
          "/apis/"
              + Pattern.quote(VisibilityApi.GROUP)
              + "/(v[a-z0-9]+)(?:/namespaces/([^/]+))?/"
              + VisibilityApi.USAGE);

  /**
   * What an answer may take until it is sent: for each row the row and its nodes, with eight groups
   * about 4 KiB, and the texts, which are bounded together, three times.
   */
  private static final long ANSWER_BYTES = UsageQuery.MOST_ROWS * 4L * 1024 + (12L << 20);

  private static final Duration USUAL = Duration.ofDays(30);

  private final CallerCheck callerCheck;
  private final Ledger ledger;
  private final Function<String, Optional<CountedUse>> budgets;
  private final InstantSource clock;

  /**
   * What a Budget counts.
   *
   * @param since from when on
   */
  public record CountedUse(UsageQuery.Scope scope, Instant since) {}

  /**
   * Creates the endpoint.
   *
   * @param budgets what the Budget of a name counts; empty if there is none
   * @param others answers other paths
   */
  public UsageEndpoint(
      RequestUsers users,
      AccessReviews access,
      Ledger ledger,
      Function<String, Optional<CountedUse>> budgets,
      InstantSource clock,
      HttpHandler others) {
    super(PATH, others);
    this.ledger = ledger;
    this.budgets = budgets;
    this.clock = clock;
    this.callerCheck = new CallerCheck(users, access, new RequestBudget("usage", 2, 10, 0, clock));
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
    Optional<String> namespace = Optional.ofNullable(path.group(2));
    boolean deletes = request.method().equals("DELETE") && namespace.isPresent();
    if (!deletes && !request.method().equals("GET")) {
      return VisibilityEndpoint.failure(
          405, "MethodNotAllowed", "method " + request.method() + " is not allowed here");
    }
    UserAction.OnResource action =
        new UserAction.OnResource(
            deletes ? "deletecollection" : "list",
            VisibilityApi.GROUP,
            path.group(1),
            VisibilityApi.USAGE,
            "",
            namespace.orElse(""),
            "");
    return callerCheck.answer(
        request,
        action,
        () -> {
          try {
            return deletes ? deleted(namespace.orElseThrow()) : usage(request, namespace);
          } catch (SQLException e) {
            // the database's words may name its address or its files
            LOG.warn("usage=unread reason=\"{}\"", e.toString());
            return VisibilityEndpoint.failure(
                503,
                "ServiceUnavailable",
                "the ledger can't be asked now; the operator's log says why");
          }
        });
  }

  private Response deleted(String namespace) throws SQLException {
    return VisibilityEndpoint.json(
        200, JsonNodeFactory.instance.objectNode().put("deleted", ledger.delete(namespace)));
  }

  private Response usage(Request request, Optional<String> namespace) throws SQLException {
    if (request.parameter("output").filter("rows"::equals).isPresent()) {
      return rows(request, namespace);
    }
    Instant now = clock.instant();
    UsageQuery asked;
    Format format;
    try {
      Instant until =
          request.parameter("until").map(text -> UsageQuery.time(text, now)).orElse(now);
      Optional<CountedUse> counted =
          request.parameter("budget").map(name -> counted(name, namespace));
      UsageQuery query =
          UsageQuery.of(
              request.parameter("by").orElse(""),
              request
                  .parameter("since")
                  .map(text -> UsageQuery.time(text, now))
                  .or(() -> counted.map(CountedUse::since))
                  .orElseGet(() -> until.minus(USUAL)),
              until,
              namespace);
      asked = counted.map(use -> query.within(use.scope())).orElse(query);
      format = format(request.parameter("output").orElse("json"));
    } catch (IllegalArgumentException | DateTimeException e) {
      return VisibilityEndpoint.failure(400, "BadRequest", String.valueOf(e.getMessage()));
    }
    UsageRows rows = ledger.usage(asked);
    if (format == Format.JSON) {
      return VisibilityEndpoint.json(200, UsageDocument.of(rows));
    }
    try {
      return Response.text(200, new UsageReport(rows).in(format));
    } catch (IOException e) {
      throw new IllegalStateException("a tree can be written", e);
    }
  }

  private Response rows(Request request, Optional<String> namespace) throws SQLException {
    if (namespace.isEmpty()) {
      return VisibilityEndpoint.failure(
          400, "BadRequest", "output: \"rows\" is for one namespace only");
    }
    try {
      return VisibilityEndpoint.json(
          200, ledger.attempts(namespace.get(), request.parameter("continue").orElse("")));
    } catch (IllegalArgumentException e) {
      return VisibilityEndpoint.failure(400, "BadRequest", String.valueOf(e.getMessage()));
    }
  }

  /** Who may ask for one namespace is told nothing of budgets, which are for the cluster. */
  private CountedUse counted(String budget, Optional<String> namespace) {
    if (namespace.isPresent()) {
      throw new IllegalArgumentException("budget: not allowed with a namespace");
    }
    return budgets
        .apply(budget)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "budget: there is no Budget \"" + budget + "\" that counts"));
  }

  private static Format format(String text) {
    return Stream.of(Format.values())
        .filter(format -> format.name().toLowerCase(Locale.ROOT).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "output: \"" + text + "\" is none of table, csv, json, focus, opencost, rows"));
  }
}
