package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.MultiKueueClusterStatus;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.MultiKueueConfig.MultiKueueConfigSpec;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.multikueue.MultiKueueClusterReconciler.ClusterConditions;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import java.net.URI;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the conditions of clusters and checks say. */
class ConditionsTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final WorkerAccess USABLE =
      new WorkerAccess.Usable(
          new WorkerCredentials(
              new WorkerEndpoint(URI.create("https://worker"), Optional.empty()),
              Optional.empty(),
              Optional.empty(),
              Optional.empty()));

  private final Map<String, MultiKueueConfig> configs = new HashMap<>();
  private final Map<String, MultiKueueCluster> clusters = new HashMap<>();

  private static Optional<ActiveCondition> ofLink(ConnectionState state) {
    return ClusterConditions.of(USABLE, Optional.of(state));
  }

  @Test
  void aConnectedClusterIsActive() {
    assertThat(ofLink(new ConnectionState.Connected(NOW)))
        .contains(new ActiveCondition(true, "Active", "Connected"));
  }

  @Test
  void aFailingOneSaysHowOftenItWasTriedAndWhenNext() {
    assertThat(
            ofLink(
                new ConnectionState.Failing(
                    3, NOW.plusMillis(20_400), "connection refused", Optional.of(NOW))))
        .contains(
            new ActiveCondition(
                false,
                "ClientConnectionFailed",
                "connection refused; failed attempts: 3, next attempt at 2026-03-01T12:00:20Z"));
  }

  @Test
  void whatStandsIsLeftWhileNothingIsKnown() {
    assertThat(ofLink(new ConnectionState.Connecting(Optional.empty()))).isEmpty();
    assertThat(ClusterConditions.of(new WorkerAccess.Unknown(), Optional.empty())).isEmpty();
    assertThat(ClusterConditions.of(USABLE, Optional.empty())).isEmpty();
  }

  @Test
  void refusedAccessSaysWhy() {
    assertThat(
            ClusterConditions.of(
                new WorkerAccess.Refused(ClusterReason.INSECURE_KUBE_CONFIG, "no"),
                Optional.of(new ConnectionState.Denied(Optional.of(NOW)))))
        .contains(new ActiveCondition(false, "InsecureKubeConfig", "no"));
    assertThat(ofLink(new ConnectionState.Unbuildable("bad key", Optional.of(NOW))))
        .contains(new ActiveCondition(false, "BadRestConfig", "no client can be made: bad key"));
  }

  private ActiveCondition check(@Nullable AdmissionCheckParametersReference parameters) {
    return new MultiKueueCheckConditions(
            name -> Optional.ofNullable(configs.get(name)),
            name -> Optional.ofNullable(clusters.get(name)))
        .of(new AdmissionCheckSpec("kueue.x-k8s.io/multikueue", parameters));
  }

  private ActiveCondition checkOfConfig(String... names) {
    MultiKueueConfig config = new MultiKueueConfig();
    config.setSpec(new MultiKueueConfigSpec(List.of(names), null));
    configs.put("c", config);
    return check(new AdmissionCheckParametersReference("c", "kueue.x-k8s.io", "MultiKueueConfig"));
  }

  private void cluster(String name, boolean active) {
    MultiKueueCluster cluster = new MultiKueueCluster();
    cluster.setStatus(
        new MultiKueueClusterStatus(new ActiveCondition(active, "X", "").in(List.of(), 1, NOW)));
    clusters.put(name, cluster);
  }

  @Test
  void aCheckWithoutGoodParametersIsBad() {
    assertThat(check(null))
        .isEqualTo(
            new ActiveCondition(
                false,
                "BadConfig",
                "spec.parameters: is missing; allowed: a MultiKueueConfig of kueue.x-k8s.io"));
    assertThat(check(new AdmissionCheckParametersReference("c", "example.com", "Thing")))
        .isEqualTo(
            new ActiveCondition(
                false,
                "BadConfig",
                "spec.parameters: \"Thing.example.com\" is not understood; allowed: a"
                    + " MultiKueueConfig of kueue.x-k8s.io"));
    assertThat(
            check(
                new AdmissionCheckParametersReference(
                    "none", "kueue.x-k8s.io", "MultiKueueConfig")))
        .isEqualTo(
            new ActiveCondition(
                false,
                "BadConfig",
                "spec.parameters.name: MultiKueueConfig \"none\" does not exist"));
  }

  @Test
  void aCheckFollowsItsClusters() {
    cluster("a", true);
    cluster("b", true);
    cluster("down", false);
    clusters.put("new", new MultiKueueCluster());

    assertThat(checkOfConfig("a", "b"))
        .isEqualTo(new ActiveCondition(true, "Active", "All clusters are active"));
    assertThat(checkOfConfig("a", "down", "none", "new"))
        .isEqualTo(
            new ActiveCondition(
                true,
                "SomeActiveClusters",
                "Missing clusters: [none], Inactive clusters: [down, new]"));
    assertThat(checkOfConfig("down"))
        .isEqualTo(new ActiveCondition(false, "NoUsableClusters", "Inactive clusters: [down]"));
    assertThat(checkOfConfig("none"))
        .isEqualTo(new ActiveCondition(false, "NoUsableClusters", "Missing clusters: [none]"));
  }
}
