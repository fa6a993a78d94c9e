package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What stays, where only the namespace and the definition of Workloads are left. */
class DefinitionRemovalTest {

  private static final PlayedApi.Answer NONE = new PlayedApi.Answer(404, "{}");
  private static final String DEFINITION =
      """
      {"metadata": {"name": "workloads.kueue.x-k8s.io", "uid": "u", %s},
       "spec": {"names": {"kind": "Workload"}, "versions": [{"name": "v1beta2", "storage": true}]},
       "status": {"storedVersions": ["v1beta2"]}}
      """;
  private static final String DELETED = "\"deletionTimestamp\": \"2026-01-01T00:00:00Z\"";
  private static final String WORKLOADS =
      """
      {"items": [{"metadata": {"namespace": "n", "name": "a", "uid": "u",
                               "finalizers": ["kueue.x-k8s.io/resource-in-use"]}}]}
      """;

  private PlayedApi api;
  private KubernetesClient client;

  @BeforeEach
  void play() throws IOException {
    api = new PlayedApi();
    client = api.client();
  }

  @AfterEach
  void close() {
    client.close();
    api.close();
  }

  private List<String> remains() throws InterruptedException {
    return new DefinitionRemoval(client, "kueue-system", Duration.ofMillis(1), line -> {}).run();
  }

  @Test
  void objectsOfADefinitionThatMayNotBeDeletedAreLeftAlone() throws InterruptedException {
    api.play(
        request -> {
          if (request.method().equals("DELETE")) {
            return new PlayedApi.Answer(403, "{\"message\": \"may not\"}");
          }
          if (request.path().endsWith("/workloads.kueue.x-k8s.io")) {
            return new PlayedApi.Answer(200, DEFINITION.formatted("\"finalizers\": []"));
          }
          return request.path().endsWith("/workloads")
              ? new PlayedApi.Answer(200, WORKLOADS)
              : NONE;
        });

    assertThat(remains())
        .containsExactly("CustomResourceDefinition workloads.kueue.x-k8s.io: may not");
    assertThat(api.asked("PATCH", "/a")).isEmpty();
  }

  @Test
  void aDefinitionHeldByAnotherAndTheNamespaceAreNamedWithTheirReasons()
      throws InterruptedException {
    api.play(
        request -> {
          if (request.path().endsWith("/workloads.kueue.x-k8s.io")) {
            return new PlayedApi.Answer(
                200, DEFINITION.formatted(DELETED + ", \"finalizers\": [\"example.com/x\"]"));
          }
          return request.path().endsWith("/namespaces/kueue-system")
              ? new PlayedApi.Answer(
                  200,
                  """
                  {"metadata": {%s}, "status": {"conditions": [
                    {"type": "NamespaceContentRemaining", "status": "True", "message": "a pod"},
                    {"type": "NamespaceDeletionContentFailure", "status": "False"}]}}
                  """
                      .formatted(DELETED))
              : NONE;
        });

    assertThat(remains())
        .containsExactly(
            "CustomResourceDefinition workloads.kueue.x-k8s.io: held by example.com/x, a finalizer"
                + " of another owner, who has to remove it",
            "Namespace kueue-system: a pod");
  }
}
