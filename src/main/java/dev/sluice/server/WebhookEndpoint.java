package dev.sluice.server;

import dev.sluice.webhooks.WebhookRouter;

/** Hands reviews to the router. */
public final class WebhookEndpoint implements Endpoint {

  private final WebhookRouter router;

  /** Around the router that answers. */
  public WebhookEndpoint(WebhookRouter router) {
    this.router = router;
  }

  @Override
  public Response answer(Request request) {
    if (!request.method().equals("POST")) {
      return Response.text(405, "method " + request.method() + " is not allowed, use POST");
    }
    WebhookRouter.Reply reply = router.answer(request.path(), request.body());
    String type = reply.isJson() ? "application/json" : "text/plain; charset=utf-8";
    return new Response(reply.status(), type, reply.body());
  }
}
