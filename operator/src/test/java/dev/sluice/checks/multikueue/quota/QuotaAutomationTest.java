package dev.sluice.checks.multikueue.quota;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.WorkerQuotaState;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.queues.ExternalConditions;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuotaAutomationTest {

  private final ScriptedServer server = new ScriptedServer();
  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final List<String> again = new ArrayList<>();
  private boolean listed;

  private final QuotaAutomation automation =
      new QuotaAutomation(
          caches,
          new QuotaAutomation.Dependencies(
              _ -> Optional.of(Optional.empty()),
              () -> listed,
              (_, _) -> new WorkerQuotaState.Unknown(),
              (_, task) -> task.run()),
          new ApiClient(server.client(), ApiClient.Options.atATime(1)),
          JsonMappers.JSON,
          () -> true,
          new ExternalConditions("MultiKueueQuotaAutomated"),
          again::add);

  QuotaAutomationTest() throws IOException {}

  @AfterEach
  void close() {
    server.close();
  }

  /** A queue whose quota is automated would be told that nobody requests it. */
  @Test
  void nothingIsSaidOfConfigsThatAreNotListedYet() throws IOException {
    caches
        .clusterQueues()
        .put(
            "everywhere",
            new YAMLMapper()
                .readValue(
                    """
                    metadata: {name: everywhere}
                    spec: {admissionChecksStrategy: {admissionChecks: [{name: sites}]}}
                    """,
                    ClusterQueue.class));

    automation.leadershipStarted();
    assertThat(again).isEmpty();

    listed = true;
    automation.changed();
    assertThat(again).containsExactly("everywhere");
  }
}
