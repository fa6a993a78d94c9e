package dev.sluice.visibility.explain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.visibility.explain.ExplainCommand.ClientApiReader;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Exit codes and one-line answers of the command, and what is said to who may not read all. */
@EnableKubernetesMockClient
class ExplainWorkloadCommandTest {

  private static final String API = "/apis/kueue.x-k8s.io/v1beta2/";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @ParameterizedTest
  @ValueSource(strings = {"workload", "workloads", "wl", "kwl", "kueueworkload", "kueueworkloads"})
  void aMissingKubeconfigIsNamed(String name) {
    StringWriter err = new StringWriter();

    assertThat(run(err, name, "x", "--kubeconfig", "/no/such")).isEqualTo(3);
    assertThat(err.toString()).isEqualToIgnoringNewLines("sluice: /no/such does not exist");
  }

  @Test
  void anApiServerThatIsNotThereIsSaidInOneLine(@TempDir Path directory) throws IOException {
    Path kubeconfig =
        Files.writeString(
            directory.resolve("kc"),
            """
            apiVersion: v1
            kind: Config
            clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
            users: [{name: u, user: {token: x}}]
            contexts: [{name: c, context: {cluster: a, user: u, namespace: team}}]
            current-context: c
            """);
    StringWriter err = new StringWriter();

    assertThat(run(err, "workload", "x", "--kubeconfig", kubeconfig.toString())).isEqualTo(3);
    assertThat(err.toString())
        .startsWith("sluice: the API server at ")
        .hasLineCount(1)
        .doesNotContain("Status(");
  }

  @Test
  void whoMayReadTheirNamespaceOnlyIsToldWhatCanBeSeen() {
    String mine =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
         "metadata": {"name": "mine", "namespace": "team", "uid": "a", "resourceVersion": "7",
                      "creationTimestamp": "2030-01-01T00:00:00Z"},
         "spec": {"queueName": "lq"}}
        """;
    serve("namespaces/team/workloads/mine", mine);
    serve(
        "namespaces/team/localqueues/lq",
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
         "metadata": {"name": "lq", "namespace": "team"}, "spec": {"clusterQueue": "cq"}}
        """);
    serve(
        "namespaces/team/workloads?limit=1000",
        "{\"kind\": \"WorkloadList\", \"metadata\": {\"resourceVersion\": \"9\"}, \"items\": ["
            + mine
            + "]}");
    for (String path : new String[] {"clusterqueues", "localqueues", "workloads?limit=1000"}) {
      server
          .expect()
          .get()
          .withPath(API + path)
          .andReturn(
              403, new StatusBuilder().withCode(403).withMessage("you may not list them").build())
          .always();
    }

    assertThat(
            new ClusterExplanation(
                    new ClientApiReader(client), () -> Instant.parse("2030-01-02T00:00:00Z"))
                .lines("team", "mine")
                .orElseThrow())
        .contains(
            "  why: it is next, and was not evaluated yet",
            "  position 1 of 1 in LocalQueue lq (1 is next), by priority and age",
            "  (ClusterQueue cq and who holds its quota can't be read: you may not list them)",
            "  (Workloads of other namespaces can't be read, positions count those of namespace"
                + " team: you may not list them)")
        .noneMatch(line -> line.contains("Status("));
  }

  @Test
  void theNewestWorkloadOfAJobIsExplained() {
    server
        .expect()
        .get()
        .withPath("/apis/batch/v1/namespaces/team/jobs/train")
        .andReturn(200, "{\"metadata\": {\"name\": \"train\", \"uid\": \"u-1\"}}")
        .always();
    serve(
        "namespaces/team/workloads?labelSelector=kueue.x-k8s.io%2Fjob-uid%3Du-1",
        """
        {"items": [
          {"metadata": {"name": "old", "creationTimestamp": "2030-01-01T00:00:00Z"}},
          {"metadata": {"name": "new", "creationTimestamp": "2030-01-02T00:00:00Z"}},
          {"metadata": {"name": "older", "creationTimestamp": "2029-01-02T00:00:00Z"}}]}
        """);
    QueueObjectReader reader = new QueueObjectReader(new ClientApiReader(client));

    assertThat(reader.workloadOfJob("team", "train")).contains("new");
    assertThat(reader.workloadOfJob("team", "none")).isEmpty();
  }

  private void serve(String path, String json) {
    server.expect().get().withPath(API + path).andReturn(200, json).always();
  }

  private static int run(StringWriter err, String... args) {
    return new CommandLine(new ExplainCommand()).setErr(new PrintWriter(err, true)).execute(args);
  }
}
