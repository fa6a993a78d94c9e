package dev.sluice.webhooks.review;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookRouterTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String REVIEW =
      """
      {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
        "uid":"705ab4f5","operation":"CREATE","namespace":"team","name":"sample",
        "kind":{"group":"batch","version":"v1","kind":"Job"},
        "object":{"apiVersion":"batch/v1","kind":"Job",
          "metadata":{"name":"sample","labels":{"kueue.x-k8s.io/queue-name":"%s"}},
          "spec":{"parallelism":3}},"oldObject":null}}
      """;

  private final WebhookRouter router =
      new WebhookRouter(Webhooks.functions(Reviews.settings(), Reviews.Cluster.EMPTY));

  private static ByteArrayInputStream text(String body) {
    return new ByteArrayInputStream(body.getBytes(UTF_8));
  }

  private JsonNode ask(String path, String body) throws Exception {
    WebhookRouter.Reply reply = router.answer(path, text(body));
    assertThat(reply.status()).isEqualTo(200);
    return JSON.readTree(reply.body());
  }

  @Test
  void thePatchIsBase64() throws Exception {
    JsonNode answer = ask("/mutate-batch-v1-job", REVIEW.formatted("training"));

    assertThat(answer.toString())
        .isEqualTo(
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{"
                + "\"uid\":\"705ab4f5\",\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\""
                + Base64.getEncoder()
                    .encodeToString(
                        "[{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}]"
                            .getBytes(UTF_8))
                + "\"}}");
  }

  @Test
  void aRefusalNamesFieldValueAndRule() throws Exception {
    JsonNode answer = ask("/validate-batch-v1-job", REVIEW.formatted("A b"));

    JsonNode status = answer.at("/response/status");
    assertThat(answer.at("/response/allowed").asBoolean(true)).isFalse();
    assertThat(status.path("code").asInt()).isEqualTo(403);
    assertThat(status.path("reason").asText()).isEqualTo("Forbidden");
    assertThat(status.path("message").asText())
        .startsWith("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"A b\": a lower");
    assertThat(status.at("/details/causes/0/field").asText())
        .isEqualTo("metadata.labels[kueue.x-k8s.io/queue-name]");
    assertThat(status.at("/details/causes/0/reason").asText()).isEqualTo("FieldValueInvalid");
    assertThat(status.at("/details/causes/0/message").asText())
        .startsWith("Invalid value: \"A b\"");
    assertThat(status.at("/details/kind").asText()).isEqualTo("Job");
    assertThat(status.at("/details/name").asText()).isEqualTo("sample");
  }

  @Test
  void nothingToChangeMeansNoPatch() throws Exception {
    JsonNode answer = ask("/validate-batch-v1-job", REVIEW.formatted("training"));
    assertThat(answer.path("response").toString())
        .isEqualTo("{\"uid\":\"705ab4f5\",\"allowed\":true}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no json",
        "[]",
        "7",
        "null",
        "{}",
        "{\"kind\":\"AdmissionReview\"}",
        "{\"kind\":\"AdmissionReview\",\"request\":{}}",
        "{\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"a\",\"operation\":\"EAT\"}}",
        "{\"kind\":\"Other\",\"request\":{\"uid\":\"a\",\"operation\":\"CREATE\"}}"
      })
  void whatIsNoReviewIsABadRequest(String body) {
    WebhookRouter.Reply reply = router.answer("/mutate-batch-v1-job", text(body));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(new String(reply.body(), UTF_8)).doesNotContain("Exception").doesNotContain("\tat ");
  }

  @Test
  void nestingWithoutEndIsABadRequest() {
    WebhookRouter.Reply reply =
        router.answer("/mutate-batch-v1-job", text("{\"a\":".repeat(100_000)));
    assertThat(reply.status()).isEqualTo(400);
  }

  @Test
  void unknownPathsAreNotFound() {
    assertThat(router.answer("/mutate-batch-v2-job", text(REVIEW)).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/mutate--v1-pod",
        "/validate--v1-pod",
        "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
        "/validate-kubeflow-org-v1-pytorchjob",
        "/mutate-kubeflow-org-v1-jaxjob",
        "/mutate-kubeflow-org-v2beta1-mpijob",
        "/mutate-trainer-kubeflow-org-v1alpha1-trainjob",
        "/mutate-ray-io-v1-rayjob",
        "/mutate-ray-io-v1-raycluster",
        "/mutate-ray-io-v1-rayservice",
        "/mutate-workload-codeflare-dev-v1beta2-appwrapper",
        "/mutate-sparkoperator-k8s-io-v1beta2-sparkapplication",
        "/mutate-apps-v1-deployment",
        "/mutate-apps-v1-statefulset",
        "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
      })
  void integrationsThatAreOffAllowEverything(String path) {
    assertThat(askWhereAllIsOff(path, "A b"))
        .contains("\"response\":{\"uid\":\"705ab4f5\",\"allowed\":true}");
  }

  @Test
  void aJobIntegrationThatIsOffAllowsEverything() {
    assertThat(askWhereAllIsOff("/mutate-batch-v1-job", "training"))
        .contains("\"allowed\":true")
        .doesNotContain("patch");
  }

  private static String askWhereAllIsOff(String path, String queue) {
    WebhookSettings on = Reviews.settings();
    WebhookSettings off =
        new WebhookSettings(false, on.managedNamespaces(), Set.of(), on.gates(), on.working());
    WebhookRouter.Reply reply =
        new WebhookRouter(Webhooks.functions(off, Reviews.Cluster.EMPTY))
            .answer(path, text(REVIEW.formatted(queue)));
    return new String(reply.body(), UTF_8);
  }

  @Test
  void moreValuesThanAnyObjectHasAreABadRequest() {
    String body = "{\"a\":[" + "0,".repeat(1_000_000) + "0]}";
    WebhookRouter.Reply reply = router.answer("/mutate-batch-v1-job", text(body));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(new String(reply.body(), UTF_8)).contains("Token count");
  }

  @Test
  void everyPathOfTheContractHasAFunction() {
    assertThat(Webhooks.functions(Reviews.settings(), Reviews.Cluster.EMPTY).keySet())
        .hasSize(52)
        .containsAll(
            Map.of("/validate-kueue-x-k8s-io-v1beta2-cohort", 1, "/validate-batch-v1-job", 1)
                .keySet());
  }

  @Test
  void whileTheClusterIsNotListedTheRequestIsToBeRepeated() {
    WebhookRouter waiting =
        new WebhookRouter(
            Map.of(
                "/waits",
                request -> {
                  throw new ClusterNotListedException(
                      "the cluster isn't listed yet", new Exception());
                }));

    WebhookRouter.Reply reply =
        waiting.answer(
            "/waits",
            new ByteArrayInputStream(
                "{\"kind\": \"AdmissionReview\", \"request\": {\"uid\": \"u\", \"operation\": \"CREATE\"}}"
                    .getBytes(StandardCharsets.UTF_8)));

    assertThat(reply.status()).isEqualTo(503);
  }
}
