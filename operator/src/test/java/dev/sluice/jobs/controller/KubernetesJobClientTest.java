package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.controller.JobClient.KubernetesJobClient;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Asked;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KubernetesJobClientTest {

  private static final JobRef UNIT =
      new JobRef(JobKind.of("scheduling.x-k8s.io", "v1alpha1", "QueueUnit"), "team", "u", "uid");
  private static final String PATH =
      "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/team/queueunits/u";

  private ScriptedServer server;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private ApiOutcome patchStatus() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("status").put("phase", "Dequeued");
    return new KubernetesJobClient(new ApiClient(server.client(), ApiClient.Options.atATime(1)))
        .patch(UNIT, 7, new JobPatch(true, body))
        .join();
  }

  /** The definition of an early Kube Queue has no status subresource. */
  @Test
  void theStatusOfAKindWithoutItsSubresourceIsWrittenWithTheObject() {
    server.then(404, "{}").then(200, "{}");

    assertThat(patchStatus()).isInstanceOf(ApiOutcome.Written.class);

    assertThat(server.asked()).extracting(Asked::uri).containsExactly(PATH + "/status", PATH);
    assertThat(server.asked())
        .extracting(Asked::body)
        .containsOnly(
            "{\"status\":{\"phase\":\"Dequeued\"},\"metadata\":{\"resourceVersion\":\"7\"}}");
  }

  @Test
  void aWriteToAnyVersionIsGuardedByTheUid() {
    server.then(200, "{}");
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("spec").put("suspend", true);
    new KubernetesJobClient(new ApiClient(server.client(), ApiClient.Options.atATime(1)))
        .patch(UNIT, JobClient.ANY_VERSION, new JobPatch(false, body))
        .join();
    assertThat(server.asked())
        .extracting(Asked::body)
        .containsExactly("{\"spec\":{\"suspend\":true},\"metadata\":{\"uid\":\"uid\"}}");
  }

  @Test
  void anObjectThatIsGoneStaysGone() {
    server.then(404, "{}").then(404, "{}");

    assertThat(patchStatus()).isInstanceOf(ApiOutcome.Gone.class);
  }
}
