package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.ClusterSelector;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.Planned;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A Workload that was offered to worker a, in a process that was just started. */
class PlacementPlannerTest implements RemoteConnections.Listener, ClusterSelector {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private final PlayedApi manager = new PlayedApi();
  private final KubernetesClient client = manager.client();
  private final WorkloadStateReader workloadStateReader =
      new WorkloadStateReader(
          new RemoteConnections(
              new ConnectionContext(
                  (workerCredentials, objects) -> {
                    throw new IOException("nobody is connected");
                  },
                  Runnable::run,
                  (delay, task) -> {},
                  () -> NOW,
                  WriteGate.open()),
              this),
          new RemoteClient(client, WriteGate.open(), RequestLimiter.unlimited(), reason -> {}),
          workload -> Set.of(),
          new LocalClusters(InformerCaches.empty(BuiltInCheckControllers.all())));
  private final PlacementPlanner placementPlanner =
      new PlacementPlanner(
          new WorkloadPlacement(new Dispatcher.AllAtOnce(), Duration.ofMinutes(15)),
          workloadStateReader);

  /** What is known of the configs. */
  private Optional<List<String>> listed = Optional.empty();

  PlacementPlannerTest() throws IOException {}

  @Override
  public Optional<List<String>> of(String check) {
    return Optional.of(listed.orElse(List.of()));
  }

  @Override
  public boolean listed() {
    return listed.isPresent();
  }

  @Override
  public Map<String, String> labels(String cluster) {
    return Map.of();
  }

  @Override
  public void stateChanged(String cluster) {}

  @Override
  public void workloadChanged(
      String cluster, Key key, @Nullable JsonNode before, @Nullable JsonNode after) {}

  @AfterEach
  void close() {
    client.close();
    manager.close();
  }

  private Planned planned(ManagerState managerState, boolean admitted) throws IOException {
    RemoteWorkloadContext context =
        new RemoteWorkloadContext(
            MultiKueueKinds.beside(List.of(), List.of(), true),
            new Key("physics", "w"),
            Optional.of(
                new WorkloadParser()
                    .parse(
                        "{\"metadata\": {\"name\": \"w\", \"namespace\": \"physics\", \"uid\": \"u\"}}"
                            .getBytes(StandardCharsets.UTF_8))),
            Optional.of("check"),
            Map.of(),
            NOW,
            new ReconcileState());
    Copy copy =
        new Copy(
            Optional.empty(),
            Optional.empty(),
            Optional.of(NOW).filter(any -> admitted),
            Difference.NONE,
            "waits for quota");
    return placementPlanner.of(
        context,
        managerState,
        workloadStateReader.candidates(context, this),
        Map.of("a", new WorkerState(true, Optional.empty(), Optional.of(copy))));
  }

  private static ManagerState state(Check check, Optional<String> cluster) {
    return new ManagerState(
        false,
        true,
        false,
        check,
        true,
        new ManagerState.Sendable.Yes(),
        cluster,
        cluster.isPresent() ? List.of() : List.of("a"),
        Optional.empty());
  }

  @Test
  void whatWaitsKeepsItsPlaceUntilItIsKnownWhichWorkersAreConfigured() throws IOException {
    ManagerState waiting = state(Check.PENDING, Optional.empty());
    Planned early = planned(waiting, false);
    assertThat(early.placementPlan().placementActions()).isEmpty();
    assertThat(early.answers()).isEmpty();

    listed = Optional.of(List.of("a"));
    assertThat(planned(waiting, false).placementPlan().placementActions()).isEmpty();
    assertThat(planned(waiting, false).answers()).isEqualTo("a: waits for quota");

    listed = Optional.of(List.of());
    assertThat(planned(waiting, false).placementPlan().placementActions())
        .containsExactly(
            new PlacementAction.Nominate(List.of()), new PlacementAction.Withdraw("a"));
    assertThat(planned(waiting, false).answers()).isEqualTo("No worker cluster is configured");
  }

  @Test
  void whatRunsIsFollowedBeforeThat() throws IOException {
    assertThat(
            planned(state(Check.READY, Optional.of("a")), true).placementPlan().placementActions())
        .containsExactly(new PlacementAction.Run("a"));
  }
}
