package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedRayCluster;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elastic Jobs and RayClusters, of which there are as many, are scaled at random while operators
 * are killed, and the whole history proves that never more pods were open than quota was held, and
 * in the end never fewer than asked for (docs/elastic-jobs.md). {@code -Dsluice.scalings=N} says
 * how often; profile nightly scales 20 of them 200 times.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@Tag(BuildBreadth.NIGHTLY)
class ElasticScalingIT {

  private static final Logger LOG = LoggerFactory.getLogger(ElasticScalingIT.class);
  private static final String JOB = "batch/v1/Job";
  private static final String RAY = "ray.io/v1/RayCluster";
  private static final int SCALINGS = 10;
  private static final int SCALINGS_PER_JOB = 10;
  private static final int SCALINGS_PER_ROUND = 10;
  private static final int LARGEST = 6;
  private static final int ROOM_PER_JOB = 3;
  private static final int ROUNDS_PER_KILL = 3;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final Map<String, Integer> asked = new TreeMap<>();

  @Test
  void podsFollowTheQuotaThatIsGranted(
      ControlPlane controlPlane, TestCluster cluster, @TempDir Path directory) {
    int scalings = Integer.getInteger("sluice.scalings", SCALINGS);
    int jobs = Math.max(2, scalings / SCALINGS_PER_JOB);
    long seed = Long.getLong("sluice.seed", 20_26);
    LOG.info("scalings={} jobs={} seed={}", scalings, jobs, seed);
    Random random = new Random(seed);
    QueuedJobs api = new QueuedJobs(cluster);
    PlayedDefinitions.install(cluster.client(), RayCluster.KIND);
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .with("integrations: {frameworks: [batch/job, ray.io/raycluster]}");
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedRayCluster());
        Restarts operators = new Restarts(cluster.kubeconfig(), settings, directory)) {
      operators.awaitLeading(LIMIT);
      cluster.applyText(queue(jobs * ROOM_PER_JOB));
      for (int job = 0; job < jobs; job++) {
        submit(cluster, name(job), 1 + random.nextInt(LARGEST));
      }
      int rounds = scalings / SCALINGS_PER_ROUND;
      for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < SCALINGS_PER_ROUND; i++) {
          scale(api, name(random.nextInt(jobs)), 1 + random.nextInt(LARGEST));
          if (i == SCALINGS_PER_ROUND / 2 && round % ROUNDS_PER_KILL == 1) {
            operators.kill();
          }
        }
        if (asked.values().stream().mapToInt(Integer::intValue).sum() <= jobs * ROOM_PER_JOB) {
          awaitAllAsked(api);
        }
      }
      asked.keySet().forEach(job -> scale(api, job, ROOM_PER_JOB));
      awaitAllAsked(api);
      await("one slice of each Job is left")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(unfinished(api)).hasSize(jobs));
    }

    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs())
        .hasSize(jobs)
        .allSatisfy(
            job -> {
              assertThat(job.starts()).isEqualTo(1);
              assertThat(job.evictions()).isZero();
            });
    assertThat(report.peaks().values())
        .singleElement()
        .satisfies(
            peak -> assertThat(peak).isEqualByComparingTo(String.valueOf(jobs * ROOM_PER_JOB)));
  }

  private static List<JsonNode> unfinished(QueuedJobs api) {
    return api.workloads().stream()
        .filter(
            workload ->
                workload.at("/status/conditions").findValuesAsText("type").stream()
                    .noneMatch("Finished"::equals))
        .toList();
  }

  /** Every Job has as many open pods as it asked for, and no others. */
  private void awaitAllAsked(QueuedJobs api) {
    await("all pods that were asked for")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              Map<String, Integer> open = new TreeMap<>();
              for (JsonNode pod : api.pods()) {
                if (pod.at("/spec/schedulingGates").isEmpty()
                    && !pod.path("metadata").has("deletionTimestamp")) {
                  open.merge(pod.at("/metadata/ownerReferences/0/name").asText(), 1, Integer::sum);
                }
              }
              assertThat(open).isEqualTo(asked);
            });
  }

  private void scale(QueuedJobs api, String job, int pods) {
    asked.put(job, pods);
    // without an operator there are no webhooks, and the API server refuses the write
    await("the size of " + job)
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () -> {
              if (isRay(job)) {
                api.replace(RAY, job, "/spec/workerGroupSpecs/0/replicas", "" + (pods - 1));
              } else {
                api.patch(JOB, job, "{'spec': {'parallelism': %d}}".formatted(pods));
              }
              return true;
            });
  }

  private static String name(int job) {
    return (job % 2 == 0 ? "elastic-" : "ray-") + job;
  }

  private static boolean isRay(String job) {
    return job.startsWith("ray-");
  }

  private void submit(TestCluster cluster, String name, int pods) {
    asked.put(name, pods);
    if (isRay(name)) {
      submitRay(cluster, name, pods - 1);
    } else {
      submitJob(cluster, name, pods);
    }
  }

  private static void submitRay(TestCluster cluster, String name, int workers) {
    String template =
        "{spec: {containers: [{name: c, image: none, resources: {requests: {cpu: \"1\"}}}]}}";
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata:
          name: %1$s
          labels: {kueue.x-k8s.io/queue-name: main}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          headGroupSpec: {template: %3$s}
          workerGroupSpecs: [{groupName: workers, replicas: %2$d, template: %3$s}]
        """
            .formatted(name, workers, template));
  }

  private static void submitJob(TestCluster cluster, String name, int pods) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: main}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: %d
          completions: 1000
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, pods));
  }

  private static String queue(int cpus) {
    return """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "pool-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main}
        spec: {clusterQueue: "pool-${suffix}"}
        """
        .formatted(cpus);
  }
}
