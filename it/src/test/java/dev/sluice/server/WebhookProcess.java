package dev.sluice.server;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.TlsSettings;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter;
import java.time.Duration;
import java.util.Map;

/** A process that serves webhooks, says on which port, and ends with its standard input. */
final class WebhookProcess {

  static final String PATH = "/validate-batch-v1-job";

  private WebhookProcess() {}

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    ReloadableKeyManager keys = new ReloadableKeyManager();
    keys.use(Fakes.selfMade("localhost"));
    WebhookRouter router = new WebhookRouter(Map.of(PATH, request -> AdmissionResult.allowed()));
    try (HttpService server =
        HttpService.tls(
            new BindAddress("127.0.0.1", 0),
            keys.context(),
            TlsSettings.STRICT,
            new WebhookEndpoint(router, new ConversionWebhook(new HubConverter())),
            Duration.ZERO)) {
      System.out.println(server.port());
      System.in.transferTo(java.io.OutputStream.nullOutputStream());
    }
  }
}
