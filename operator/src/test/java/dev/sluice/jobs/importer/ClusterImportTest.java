package dev.sluice.jobs.importer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.importer.ImportQueues.ImportDecision;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of an object that changes while it is taken in. */
class ClusterImportTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String JOB = "/jobs/running";

  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();

  ClusterImportTest() throws IOException {}

  @AfterEach
  void close() {
    client.close();
    api.close();
  }

  private static ObjectNode job(int version, int parallelism, int active) throws IOException {
    return (ObjectNode)
        JSON.readTree(
            """
            {"apiVersion": "batch/v1", "kind": "Job",
             "metadata": {"name": "running", "namespace": "team", "uid": "u",
               "resourceVersion": "%d"},
             "spec": {"parallelism": %d}, "status": {"active": %d}}
            """
                .formatted(version, parallelism, active));
  }

  /** Takes the Job in as it was in version 1, while the API server has another one. */
  private List<String> takeIn(ObjectNode now) throws IOException {
    String version = now.at("/metadata/resourceVersion").asText();
    api.play(
        request ->
            request.path().endsWith(JOB) && request.method().equals("GET")
                ? new PlayedApi.Answer(200, now.toString())
                : request.path().endsWith(JOB) && !request.body().contains('"' + version + '"')
                    ? new PlayedApi.Answer(409, "{\"kind\": \"Status\", \"code\": 409}")
                    : new PlayedApi.Answer(200, "{}"));
    ObjectNode patch = JSON.createObjectNode();
    patch
        .putObject("metadata")
        .put("resourceVersion", "1")
        .putObject("labels")
        .put("kueue.x-k8s.io/queue-name", "main");
    JsonNode workload =
        JSON.readTree("{\"metadata\": {\"name\": \"job-running\", \"namespace\": \"team\"}}");
    return new ClusterImport(
            client,
            List.of("team"),
            new ImportRules(List.of()),
            new ClusterImport.Options(Map.of(), List.of(), 1),
            RequestLimiter.unlimited(),
            InstantSource.system())
        .carryOut(
            List.of(
                new ClusterImport.Item(
                    "Job team/running",
                    new BatchJob(),
                    job(1, 2, 1),
                    new ImportDecision.Take(
                        "pool", (ObjectNode) workload, JSON.createObjectNode(), patch, Map.of()))));
  }

  @Test
  void oneWhoseStatusHasChangedIsTakenInAllTheSame() throws IOException {
    assertThat(takeIn(job(2, 2, 2))).isEmpty();
    assertThat(api.asked("PATCH", JOB)).hasSize(2);
  }

  @Test
  void oneThatIsAnotherNowIsTold() throws IOException {
    assertThat(takeIn(job(2, 3, 2))).singleElement().asString().startsWith("Job team/running: ");
    assertThat(api.asked("PATCH", JOB)).hasSize(1);
  }
}
