package dev.sluice.server;

import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.webhooks.WebhookRouter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Optional;

/** Passes admission reviews to the router, and conversion reviews to the conversion webhook. */
public final class WebhookEndpoint implements HttpHandler {

  /** The path of the conversion webhook. */
  public static final String CONVERSION_PATH = "/convert";

  /** The API server converts a whole page of a list with one request. */
  private static final int MAX_CONVERSION = 64 * 1024 * 1024;

  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String JSON = "application/json";

  private final WebhookRouter router;
  private final ConversionWebhook conversions;
  private final boolean clientsAreKnown;

  /** Creates an endpoint that answers all clients. */
  public WebhookEndpoint(WebhookRouter router, ConversionWebhook conversions) {
    this(router, conversions, false);
  }

  /**
   * Creates an endpoint.
   *
   * @param clientsAreKnown whether admission reviews are answered only for clients with a
   *     certificate. Conversion reviews always are answered: API servers have no client certificate
   *     for conversion.
   */
  public WebhookEndpoint(
      WebhookRouter router, ConversionWebhook conversions, boolean clientsAreKnown) {
    this.router = router;
    this.conversions = conversions;
    this.clientsAreKnown = clientsAreKnown;
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

  @Override
  public long cost(Request request) {
    JsonMemoryEstimate cost = JsonMemoryEstimate.of(request.requestBody());
    return request.path().equals(CONVERSION_PATH) ? 3 * cost.largestElement() : cost.whole();
  }

  @Override
  public Response answer(Request request) {
    if (request.path().equals(CONVERSION_PATH)) {
      return converted(request.requestBody());
    }
    try (InputStream in = request.requestBody().open()) {
      WebhookRouter.Reply reply = router.answer(request.path(), in);
      return new Response(reply.status(), reply.isJson() ? JSON : TEXT, reply.body());
    } catch (IOException e) {
      throw new UncheckedIOException("a body in memory", e);
    }
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
