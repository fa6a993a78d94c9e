package dev.sluice.kube.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Each of many Jobs that are parked is told of. How many: {@code -Dsluice.parked=3000}; the log
 * says how late the events were, with the precision of a second that the API server keeps.
 */
@ControlPlaneTest(exclusive = true, controllers = false)
@Tag(BuildBreadth.NIGHTLY)
class EventsOfManyJobsIT {

  private static final Logger LOG = LoggerFactory.getLogger(EventsOfManyJobsIT.class);
  private static final int JOBS = Integer.getInteger("sluice.parked", 60);
  private static final int AT_A_TIME = 8;
  private static final Duration LIMIT = Duration.ofMinutes(20);

  private static final String JOB =
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: parked-%d, labels: {kueue.x-k8s.io/queue-name: parked}}
      spec:
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: 1}}}]
      """;

  private static void create(TestCluster cluster) throws InterruptedException {
    try (ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME)) {
      for (int i = 0; i < JOBS; i++) {
        Job job = Serialization.unmarshal(JOB.formatted(i), Job.class);
        threads.execute(
            () -> cluster.client().resource(job).inNamespace(cluster.namespace()).create());
      }
    }
  }

  private static List<Event> events(TestCluster cluster, String kind, String type) {
    return cluster
        .client()
        .events()
        .v1()
        .events()
        .inNamespace(cluster.namespace())
        .withField("type", type)
        .list()
        .getItems()
        .stream()
        .filter(event -> event.getRegarding().getKind().equals(kind))
        .toList();
  }

  private static long about(List<Event> events) {
    return events.stream().map(event -> event.getRegarding().getName()).distinct().count();
  }

  /** Seconds between what an event tells and its being stored. */
  private static long late(Event event) {
    return Duration.between(
            Instant.parse(event.getEventTime().getTime()),
            Instant.parse(event.getMetadata().getCreationTimestamp()))
        .toSeconds();
  }

  @Test
  void eachParkedJobIsToldOfAndNoEventIsDropped(TestCluster cluster) throws Exception {
    OperatorSettings settings = OperatorSettings.onFreePorts(new Random());
    try (LocalOperator operator =
        LocalOperator.start("operator-of-events", cluster.kubeconfig(), settings)) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: %1$s}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: %1$s}
          spec:
            namespaceSelector: {}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: %1$s, resources: [{name: cpu, nominalQuota: 0}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: parked, namespace: %2$s}
          spec: {clusterQueue: %1$s}
          """
              .formatted(cluster.name("parked"), cluster.namespace()));
      Instant begin = Instant.now();
      create(cluster);
      Instant created = Instant.now();
      await()
          .atMost(LIMIT)
          .pollInterval(Duration.ofSeconds(2))
          .untilAsserted(
              () -> {
                assertThat(about(events(cluster, "Workload", "Warning"))).isEqualTo(JOBS);
                assertThat(about(events(cluster, "Job", "Normal"))).isEqualTo(JOBS);
              });

      List<Event> waiting = events(cluster, "Workload", "Warning");
      LOG.info(
          "parked={} created={}s told={}s latestWarning={}s latestRoutine={}s",
          JOBS,
          Duration.between(begin, created).toSeconds(),
          Duration.between(begin, Instant.now()).toSeconds(),
          waiting.stream().mapToLong(EventsOfManyJobsIT::late).max().orElseThrow(),
          events(cluster, "Job", "Normal").stream()
              .mapToLong(EventsOfManyJobsIT::late)
              .max()
              .orElseThrow());
      MetricsEndpoint metrics =
          new MetricsEndpoint(cluster.client(), operator.settings().metricsPort());
      assertThat(metrics.get(metrics.token()).body())
          .contains("sluice_events_total{")
          .doesNotContainPattern(
              "sluice_events_total\\{[^}]*result=\"(dropped|failed)\"[^}]*} [1-9]");
    }
  }
}
