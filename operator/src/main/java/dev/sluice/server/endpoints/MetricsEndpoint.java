package dev.sluice.server.endpoints;

import dev.sluice.server.auth.BearerToken;
import dev.sluice.server.auth.RequestAuthorizer;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The endpoints {@code /metrics} and {@code /configz}, each for users whom the API server
 * authorizes for its path.
 */
public final class MetricsEndpoint implements HttpHandler {

  /** The path of the metrics. */
  public static final String PATH = "/metrics";

  /** The path of the configuration in force. */
  public static final String CONFIGURATION_PATH = "/configz";

  private final RequestAuthorizer authorizer;
  private final Scrape scrape;
  private final RequestAuthorizer configurationAuthorizer;
  private final String configuration;

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

  /**
   * Creates the endpoint.
   *
   * @param authorizer who may read the metrics
   * @param configurationAuthorizer who may read the configuration
   * @param configuration the configuration in force, as YAML
   */
  public MetricsEndpoint(
      RequestAuthorizer authorizer,
      Scrape scrape,
      RequestAuthorizer configurationAuthorizer,
      String configuration) {
    this.authorizer = authorizer;
    this.scrape = scrape;
    this.configurationAuthorizer = configurationAuthorizer;
    this.configuration = configuration;
  }

  @Override
  public int maxBody(String path) {
    return 0;
  }

  @Override
  public Response answer(Request request) {
    boolean metrics = request.path().equals(PATH);
    if (!metrics && !request.path().equals(CONFIGURATION_PATH)) {
      return Response.text(404, "not found, metrics are at " + PATH);
    }
    if (!request.method().equals("GET")) {
      return Response.text(405, "method " + request.method() + " is not allowed, use GET");
    }
    return BearerToken.refusal(
            request, metrics ? authorizer : configurationAuthorizer, request.path())
        .orElseGet(() -> metrics ? scrape.scrape(request.header("accept")) : configuration());
  }

  private Response configuration() {
    return new Response(200, "application/yaml", configuration.getBytes(StandardCharsets.UTF_8));
  }
}
