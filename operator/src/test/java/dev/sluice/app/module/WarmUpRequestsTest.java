package dev.sluice.app.module;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.app.module.CertificateModule.WarmUpRequests;
import dev.sluice.server.endpoints.WarmUp;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A request of the warm-up that is refused would exercise nothing but the refusal. */
class WarmUpRequestsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, AdmissionFunction> functions =
      Webhooks.functions(HostileReadingTest.settings(), new HostileReadingTest.Facts());

  @Test
  void eachRequestIsAllowedOrConverted() throws IOException {
    for (WarmUp.Sample sample : WarmUpRequests.all()) {
      if (sample.path().equals(WebhookEndpoint.CONVERSION_PATH)) {
        assertThat(converted(sample).at("/response/result/status").asText())
            .as("%s", new String(sample.body(), UTF_8))
            .isEqualTo("Success");
      } else {
        assertThat(functions).containsKey(sample.path());
        WebhookRouter.Reply reply =
            new WebhookRouter(functions)
                .answer(sample.path(), new ByteArrayInputStream(sample.body()));
        assertThat(JSON.readTree(reply.body()).at("/response/allowed").asBoolean())
            .as("%s %s", sample.path(), new String(reply.body(), UTF_8))
            .isTrue();
      }
    }
  }

  private static JsonNode converted(WarmUp.Sample sample) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new ConversionWebhook(new HubConverter())
        .read(() -> new ByteArrayInputStream(sample.body()))
        .writeAnswer(out);
    return JSON.readTree(out.toByteArray());
  }
}
