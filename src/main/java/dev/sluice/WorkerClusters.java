package dev.sluice;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.Keys;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.link.Around;
import dev.sluice.checks.multikueue.link.WorkerClients;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.RecordedNotices;
import dev.sluice.observe.EventRecorder;
import dev.sluice.observe.MetricsScrape;
import dev.sluice.observe.MultiKueueMetrics;
import dev.sluice.observe.ReplicaRole;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/** What concerns worker clusters, put together where the gate {@code MultiKueue} is on. */
final class WorkerClusters implements AutoCloseable {

  private static final int WRITES_AT_A_TIME = 4;

  private final Optional<MultiKueueControllers> controllers;

  /** Nothing is started; {@code operator} gets the reconcilers. */
  WorkerClusters(
      Configuration configuration,
      KubernetesClient client,
      Leadership leadership,
      EventRecorder events,
      ExecutorService background,
      Around.Delays delays,
      InstantSource clock,
      Operator operator) {
    if (!configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE)) {
      controllers = Optional.empty();
      return;
    }
    boolean confined =
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION);
    String selector = Keys.MULTIKUEUE_ORIGIN + "=" + configuration.multiKueue().origin();
    ObjectMapper mapper = new ObjectMapper();
    MultiKueueControllers made =
        new MultiKueueControllers(
            new MultiKueueControllers.Parts(
                client,
                configuration.namespace(),
                new KubeconfigFiles(KubeconfigFiles.ROOT, confined),
                confined,
                leadership,
                new MergePatches(client, mapper, leadership, WRITES_AT_A_TIME),
                mapper,
                new RecordedNotices(events),
                new Around(new WorkerClients(selector, clock), background, delays, clock)));
    made.register(operator);
    controllers = Optional.of(made);
  }

  /** Measures the connections. */
  void measure(MetricsScrape metrics, Supplier<ReplicaRole> role) {
    controllers.ifPresent(
        it -> new MultiKueueMetrics(metrics.registry(), role, it.links()::connected));
  }

  void start() {
    controllers.ifPresent(MultiKueueControllers::start);
  }

  void leadershipStarted() {
    controllers.ifPresent(MultiKueueControllers::leadershipStarted);
  }

  @Override
  public void close() {
    controllers.ifPresent(MultiKueueControllers::close);
  }
}
