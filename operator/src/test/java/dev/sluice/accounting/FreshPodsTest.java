package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.client.ApiClient;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.feed.AdmittedRequests;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Whoever makes pods says how many there are, and how large. */
class FreshPodsTest {

  private static String pod(int number) {
    return """
    {"metadata": {"namespace": "team", "name": "p%d", "uid": "%s"}, "spec": {"containers": []}}\
    """
        .formatted(number, new UUID(7, number));
  }

  /** Whether a pod is such a one is asked when it is parsed. */
  private static final String PLACEHOLDER =
      """
      {"metadata": {"namespace": "team", "name": "held", "labels": {"sluice.dev/placeholder": "true"},
        "ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
          "name": "w", "uid": "u", "controller": true}]},
       "spec": {"priorityClassName": "sluice-placeholder", "terminationGracePeriodSeconds": 0,
         "containers": [{"name": "c", "image": "pause"}]}}
      """;

  private static String list(String continued, String items) {
    return "{\"metadata\": {\"resourceVersion\": \"1\", \"continue\": \"%s\"}, \"items\": [%s]}"
        .formatted(continued, items);
  }

  @Test
  void podsAreReadPageByPageAndEachIsForgottenBeforeTheNextComes()
      throws IOException, InterruptedException {
    CountDownLatch parsed = new CountDownLatch(1);
    AtomicBoolean inTime = new AtomicBoolean();
    PodRecordParser parser =
        new PodRecordParser(
            AdmittedRequests.PLAIN,
            image -> {
              parsed.countDown();
              return true;
            });
    String last = list("", PLACEHOLDER + "," + pod(2));
    int rest = last.indexOf(pod(2));
    try (ScriptedServer server = new ScriptedServer()) {
      server
          .then(200, list("more", pod(1)))
          .then(
              exchange -> {
                exchange.sendResponseHeaders(200, 0);
                try (OutputStream body = exchange.getResponseBody()) {
                  body.write(last.substring(0, rest).getBytes(StandardCharsets.UTF_8));
                  body.flush();
                  inTime.set(parsed.await(10, TimeUnit.SECONDS));
                  body.write(last.substring(rest).getBytes(StandardCharsets.UTF_8));
                }
              });
      FreshPods freshPods =
          new FreshPods(new ApiClient(server.client(), ApiClient.Options.atATime(1)), parser);
      assertThat(freshPods.living("team").pods()).containsOnlyKeys(new UUID(7, 1), new UUID(7, 2));
      assertThat(server.asked())
          .hasSize(2)
          .allSatisfy(asked -> assertThat(asked.uri()).contains("limit="));
      assertThat(server.asked().getLast().uri()).contains("continue=more");
      assertThat(freshPods.remembered()).as("namespaces come and go").isZero();
    }
    assertThat(inTime).isTrue();
  }
}
