package dev.sluice.server;

import dev.sluice.kube.client.ApiErrorText;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The endpoint {@code /metrics}, for users that the API server authorizes. */
public final class MetricsEndpoint implements HttpHandler {

  /** The path of the endpoint. */
  public static final String PATH = "/metrics";

  private static final Logger log = LoggerFactory.getLogger(MetricsEndpoint.class);
  private static final String BEARER = "bearer ";

  private final RequestAuthorizer authorizer;
  private final Scrape scrape;

  /** Writes all metrics. */
  @FunctionalInterface
  public interface Scrape {

    /**
     * The metrics at the time of the call, with their content type.
     *
     * @param accept the Accept header of the client, empty if absent
     */
    Response scrape(Optional<String> accept);
  }

  /** Creates the endpoint. */
  public MetricsEndpoint(RequestAuthorizer authorizer, Scrape scrape) {
    this.authorizer = authorizer;
    this.scrape = scrape;
  }

  @Override
  public int maxBody(String path) {
    return 0;
  }

  @Override
  public Response answer(Request request) {
    if (!request.path().equals(PATH)) {
      return Response.text(404, "not found, metrics are at " + PATH);
    }
    if (!request.method().equals("GET")) {
      return Response.text(405, "method " + request.method() + " is not allowed, use GET");
    }
    return switch (decide(token(request))) {
      case UNAUTHENTICATED -> Response.text(401, "Unauthorized");
      case FORBIDDEN -> Response.text(403, "Forbidden: the verb get on " + PATH + " is needed");
      case ALLOWED -> scrape.scrape(request.header("accept"));
    };
  }

  private RequestAuthorizer.Decision decide(Optional<String> token) {
    try {
      return token.map(authorizer::decide).orElse(RequestAuthorizer.Decision.UNAUTHENTICATED);
    } catch (RuntimeException e) {
      log.warn("scrape result=refused reason=\"{}\"", ApiErrorText.of(e));
      return RequestAuthorizer.Decision.UNAUTHENTICATED;
    }
  }

  private static Optional<String> token(Request request) {
    return request
        .header("authorization")
        .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(BEARER))
        .map(value -> value.substring(BEARER.length()).strip())
        .filter(token -> !token.isEmpty());
  }
}
