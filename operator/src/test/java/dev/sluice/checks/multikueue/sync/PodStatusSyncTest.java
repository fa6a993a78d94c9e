package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectedWorker;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is written to the manager's pods about those in a worker. */
class PodStatusSyncTest {

  private static final String WORKER = "remote";
  private static final String RUNNING = pod("Running", 5);
  private static final String SUCCEEDED = pod("Succeeded", 6);

  private final ScriptedServer manager = new ScriptedServer();
  private final ScriptedServer worker = new ScriptedServer();
  private final PodStatusSync sync =
      new PodStatusSync(
          new RemoteClient(
              manager.client(), WriteGate.open(), RequestLimiter.unlimited(), reason -> {}),
          new RemoteClients(
              any -> Optional.of(new ConnectedWorker(worker.client(), reason -> {})),
              WriteGate.open(),
              RequestLimiter.unlimited()),
          new PodStatusSync.Pods(new NoGroups(), new StaleCache()));

  PodStatusSyncTest() throws IOException {}

  @AfterEach
  void stop() {
    manager.close();
    worker.close();
  }

  private static String pod(String phase, int version) {
    return "{'metadata': {'name': 'p', 'namespace': 'physics', 'uid': 'u', 'resourceVersion': '%d'}, 'status': {'phase': '%s'}}"
        .formatted(version, phase)
        .replace('\'', '"');
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) new ObjectMapper().readTree(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The pod is alone. */
  private static final class NoGroups implements LocalPods {
    @Override
    public List<LocalPod> group(String namespace, String group) {
      return List.of();
    }

    @Override
    public void observe(BiConsumer<String, String> observer) {
      throw new AssertionError("nobody observes");
    }
  }

  /** The last that was heard of the worker's pod is that it runs. */
  private static final class StaleCache implements PodStatusSync.RemotePods {
    @Override
    public Set<String> clusters() {
      return Set.of(WORKER);
    }

    @Override
    public List<ObjectNode> of(String cluster, Key workload) {
      return List.of(json(RUNNING));
    }
  }

  private void sync(PodStatusSync.Course course) throws IOException {
    MultiKueueKinds kinds = MultiKueueKinds.beside(List.of(), List.of(), true);
    RemoteWorkloadContext group =
        new RemoteWorkloadContext(
            kinds,
            new Key("physics", "w"),
            Optional.of(
                new WorkloadParser()
                    .parse(
                        "{\"metadata\": {\"name\": \"w\", \"namespace\": \"physics\"}}"
                            .getBytes(StandardCharsets.UTF_8))),
            Optional.of("check"),
            Map.of(),
            Instant.parse("2026-03-01T12:00:00Z"),
            new ReconcileState());
    sync.sync(
        group,
        new RemoteWorkloadContext.Owner(MultiKueueKind.of(new SinglePod()).orElseThrow(), "p"),
        WORKER,
        course);
  }

  @Test
  void theEndOfAPodIsCopiedThoughTheEndOfItsWorkloadWasHeardOfFirst() throws Exception {
    worker.then(200, SUCCEEDED);
    manager.then(200, RUNNING).then(200, "{}");

    sync(PodStatusSync.Course.ENDING);

    assertThat(manager.asked()).hasSize(2);
    assertThat(manager.asked().getLast().uri()).contains("/namespaces/physics/pods/p/status");
    assertThat(manager.asked().getLast().body()).contains("\"phase\":\"Succeeded\"");
  }

  @Test
  void whileAPodRunsItsWorkerIsNotAsked() throws Exception {
    manager.then(200, RUNNING).then(200, "{}");

    sync(PodStatusSync.Course.RUNNING);

    assertThat(worker.asked()).isEmpty();
    assertThat(manager.asked()).hasSize(2);
  }
}
