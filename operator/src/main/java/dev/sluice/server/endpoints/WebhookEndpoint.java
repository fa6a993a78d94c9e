package dev.sluice.server.endpoints;

import dev.sluice.api.TextLimits;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.JsonMemoryEstimate;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes admission reviews to the router, and conversion reviews to the conversion webhook. */
public final class WebhookEndpoint implements HttpHandler {

  /** The path of the conversion webhook. */
  public static final String CONVERSION_PATH = "/convert";

  /** The API server converts a whole page of a list with one request. */
  private static final int MAX_CONVERSION = 64 * 1024 * 1024;

  private static final int UNREADABLE = 400;
  private static final int TOO_LARGE = 413;
  private static final int UNAVAILABLE = 503;
  private static final int TIMEOUT = 504;

  /** What the listener hears, by the status that the review is refused with. */
  private static final Map<Integer, String> REASONS =
      Map.of(
          UNREADABLE,
          "Unreadable",
          TOO_LARGE,
          "Size",
          UNAVAILABLE,
          "Overload",
          TIMEOUT,
          "Deadline");

  private static final int MOST_SHOWN = 253;
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String JSON = "application/json";

  private static final Logger log = LoggerFactory.getLogger(WebhookEndpoint.class);

  private final WebhookRouter router;
  private final ConversionWebhook conversions;
  private final boolean clientsAreKnown;
  private final GivenUpListener listener;
  private final ReviewExecutor reviews;

  /** Hears of reviews that were not computed, and so were refused. */
  @FunctionalInterface
  public interface GivenUpListener {
    /**
     * A review was refused.
     *
     * @param path of the webhook
     * @param reason {@code Deadline} if it took too long, {@code Overload} if others were in the
     *     way, {@code Size} if it is too large, {@code Unreadable} if it has too many values, is
     *     nested too deep, or is no JSON
     */
    void givenUp(String path, String reason);
  }

  /** Creates an endpoint that answers all clients. */
  public WebhookEndpoint(WebhookRouter router, ConversionWebhook conversions) {
    this(router, conversions, false, (path, reason) -> {});
  }

  /**
   * Creates an endpoint.
   *
   * @param listener hears of reviews that are given up
   * @param clientsAreKnown whether admission reviews are answered only for clients with a
   *     certificate. Conversion reviews always are answered: API servers have no client certificate
   *     for conversion.
   */
  public WebhookEndpoint(
      WebhookRouter router,
      ConversionWebhook conversions,
      boolean clientsAreKnown,
      GivenUpListener listener) {
    this(
        router,
        conversions,
        clientsAreKnown,
        listener,
        new ReviewExecutor(ReviewExecutor.Limits.ofThisProcess()));
  }

  /** Creates an endpoint with an executor of its own. */
  WebhookEndpoint(
      WebhookRouter router,
      ConversionWebhook conversions,
      boolean clientsAreKnown,
      GivenUpListener listener,
      ReviewExecutor reviews) {
    this.router = router;
    this.conversions = conversions;
    this.clientsAreKnown = clientsAreKnown;
    this.listener = listener;
    this.reviews = reviews;
  }

  @Override
  public boolean asksForCertificates() {
    return clientsAreKnown;
  }

  @Override
  public Optional<Response> answerAtOnce(Head head) {
    boolean converts = head.path().equals(CONVERSION_PATH);
    if (!converts && !router.knows(head.path())) {
      return Optional.of(Response.text(404, "no webhook at " + head.path()));
    }
    if (!head.method().equals("POST")) {
      return Optional.of(
          Response.text(405, "method " + head.method() + " is not allowed, use POST"));
    }
    if (clientsAreKnown && !converts && !head.hasCertificate()) {
      return Optional.of(Response.text(401, "Unauthorized: a client certificate is needed"));
    }
    return Optional.empty();
  }

  @Override
  public int maxBody(String path) {
    return path.equals(CONVERSION_PATH) ? MAX_CONVERSION : USUAL_BODY;
  }

  @Override
  public boolean isStreamed(String path) {
    return path.equals(CONVERSION_PATH);
  }

  /** Reviews are bounded by the namespace and the user that they are for. */
  @Override
  public boolean bounds(String path) {
    return !path.equals(CONVERSION_PATH);
  }

  @Override
  public long cost(Request request) {
    return 3 * JsonMemoryEstimate.of(request.requestBody()).largestElement();
  }

  @Override
  public Response answer(Request request) {
    if (request.path().equals(CONVERSION_PATH)) {
      return converted(request.requestBody());
    }
    WebhookRouter.Head head = WebhookRouter.head(request.requestBody().open());
    long cost = JsonMemoryEstimate.of(request.requestBody()).whole();
    if (!reviews.fits(cost)) {
      String why = "the body would take " + cost + " bytes of memory";
      return unanswered(request.path(), head, TOO_LARGE, why);
    }
    try {
      return reviews.answer(
          new ReviewExecutor.Requester(head.namespace(), head.user()),
          request.requestBody().length(),
          cost,
          () -> reviewed(request, head));
    } catch (ReviewExecutor.GivenUpException e) {
      boolean overloaded = e.reason() == ReviewExecutor.Reason.OVERLOAD;
      int status = overloaded ? UNAVAILABLE : TIMEOUT;
      return unanswered(request.path(), head, status, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Response.text(503, "the server is closing");
    }
  }

  private Response reviewed(Request request, WebhookRouter.Head head) {
    try (InputStream in = request.requestBody().open()) {
      WebhookRouter.Reply reply = router.answer(request.path(), in);
      return reply.status() == UNREADABLE && !head.uid().isEmpty()
          ? unanswered(request.path(), head, UNREADABLE, text(reply))
          : response(reply);
    } catch (IOException e) {
      throw new UncheckedIOException("a body in memory", e);
    }
  }

  private static String text(WebhookRouter.Reply reply) {
    return new String(reply.body(), StandardCharsets.UTF_8).strip();
  }

  /** A review that isn't taken is refused, also where the registration ignores failures. */
  @Override
  public Response refusal(String path, InputStream body, Response usual) {
    if (path.equals(CONVERSION_PATH)) {
      return usual;
    }
    WebhookRouter.Head head = WebhookRouter.head(body);
    String why =
        usual.status() == TOO_LARGE
            ? "it is larger than " + maxBody(path) + " bytes"
            : "too many reviews are sent at a time";
    return head.uid().isEmpty() ? usual : unanswered(path, head, usual.status(), why);
  }

  private Response unanswered(String path, WebhookRouter.Head head, int status, String why) {
    log.warn(
        "review path={} kind={} object=\"{}/{}\" user=\"{}\" result=refused reason=\"{}\"",
        path,
        shown(head.kind()),
        shown(head.namespace()),
        shown(head.name()),
        shown(head.user()),
        why);
    listener.givenUp(path, REASONS.getOrDefault(status, ""));
    return response(WebhookRouter.unanswered(head, status, why));
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }

  private static Response response(WebhookRouter.Reply reply) {
    return new Response(reply.status(), reply.isJson() ? JSON : TEXT, reply.body());
  }

  private Response converted(RequestBody requestBody) {
    try {
      ConversionWebhook.Review review = conversions.read(requestBody::open);
      return new Response(200, JSON, new Converted(review));
    } catch (IOException | IllegalArgumentException e) {
      return Response.text(400, "the body is not a review: " + e.getMessage());
    }
  }

  /**
   * Writes the response while it is computed, so that only one object of the list is in memory at a
   * time.
   */
  private record Converted(ConversionWebhook.Review review) implements Response.Content {
    @Override
    public long length() {
      return -1;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      review.writeAnswer(out);
    }
  }
}
