package dev.sluice.jobs.kinds.ray;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds.PlayedRayService;
import dev.sluice.lab.player.PlayedRayCluster;
import dev.sluice.lab.player.PlayedRayJob;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The kinds of Ray in a queue of a real control plane; their own controllers are played. */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [batch/job, ray.io/raycluster, ray.io/rayjob,"
            + " ray.io/rayservice]}")
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class RayKindsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String JOB = "ray.io/v1/RayJob";
  private static final String SERVICE = "ray.io/v1/RayService";
  private static final String CLUSTER = "ray.io/v1/RayCluster";
  private static final String SCALES =
      "enableInTreeAutoscaling: true,"
          + " autoscalerOptions: {resources: {requests: {cpu: 500m}}},";
  private static final String REPLICAS = "/spec/workerGroupSpecs/0/replicas";
  private static final String HEAD = "/headGroupSpec/template";
  private static final String WORKERS = "/workerGroupSpecs/0/template";
  private static final String TEMPLATE =
      """
      {metadata: {labels: {app: a}}, spec: {nodeSelector: {kubernetes.io/os: linux},
       containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}\
      """
          .replace("\n", "");

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KindPlayer clusters;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KindPlayer jobs;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KindPlayer services;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(own.client(), RayCluster.KIND);
    PlayedDefinitions.install(own.client(), RayJob.KIND);
    PlayedDefinitions.install(own.client(), RayService.KIND);
    services = new KindPlayer(own.client(), new PlayedRayService());
    clusters = new KindPlayer(own.client(), new PlayedRayCluster());
    jobs = new KindPlayer(own.client(), new PlayedRayJob());
  }

  @AfterEach
  void stop() {
    jobs.close();
    services.close();
    clusters.close();
  }

  private static String clusterSpec(String more) {
    return "{headGroupSpec: {template: %1$s},%2$s workerGroupSpecs: [{groupName: workers, replicas: 2, template: %1$s}]}"
        .formatted(TEMPLATE, more);
  }

  private void submitJob(String name, String annotations, String more) {
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          shutdownAfterJobFinishes: true
          rayClusterSpec: %s
          submitterPodTemplate:
            metadata: {annotations: {%s}}
            spec:
              restartPolicy: Never
              containers: [{name: s, image: none, resources: {requests: {cpu: "1"}}}]
        %s
        """
            .formatted(name, clusterSpec(""), annotations, more));
  }

  private void submitCluster(String name, String more) {
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: %s
        """
            .formatted(name, clusterSpec(more)));
  }

  @Test
  void aRayJobFromItsCreationToItsEndWithOneWorkload() {
    api.givenQueues(3);
    submitJob("ray", "sluice.dev/run-for: 60m", "");
    String workload = api.workloadOf(JOB, "ray");
    JsonNode created = api.get(JOB, "ray");
    assertThat(created.at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets"))
        .extracting(it -> it.path("name").asText() + "=" + it.path("count").asInt())
        .containsExactly("head=1", "workers=2", "submitter=1");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.pods()).isEmpty();

    api.setQuota(4);
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    JsonNode started = api.get(JOB, "ray").path("spec");
    JsonNode child = api.get(CLUSTER, "ray-cluster");
    for (JsonNode spec : new JsonNode[] {started.path("rayClusterSpec"), child.path("spec")}) {
      assertThat(spec.at(HEAD + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
      assertThat(spec.at(WORKERS + "/spec/tolerations/0/key").asText()).isEqualTo("spot");
      assertThat(spec.at(WORKERS + "/metadata/labels/kueue.x-k8s.io~1podset").asText())
          .isEqualTo("workers");
    }
    assertThat(started.at("/submitterPodTemplate/spec/nodeSelector/pool").asText())
        .isEqualTo("spot");
    assertThat(child.at("/metadata/labels/kueue.x-k8s.io~1queue-name").asText()).isEqualTo("lq");
    assertThat(child.at("/spec/suspend").asBoolean()).as("the cluster is the RayJob's").isFalse();
    assertThat(api.workloads()).hasSize(1);

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.get(JOB, "ray").at("/spec")).isEqualTo(created.at("/spec"));
    api.awaitGone(CLUSTER, "ray-cluster");

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
    api.endPodsUntilFinished(workload);
    assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
        .isEqualTo("Job finished successfully.");
    api.awaitGone(CLUSTER, "ray-cluster");
    api.awaitUsage("0");
    assertThat(api.workloads()).hasSize(1);
  }

  /** Whoever the policy of the API server doesn't hold: the pods are counted. */
  @Test
  void workersOfTheClusterOfARayJobBeyondItsAdmissionEvictIt() {
    api.givenQueues(4);
    submitJob("ray", "sluice.dev/run-for: 60m", "");
    String workload = api.workloadOf(JOB, "ray");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");

    api.replace(CLUSTER, "ray-cluster", REPLICAS, "50");

    await("eviction of " + workload)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        api.get(QueuedJobs.WORKLOAD, workload)
                            .at("/status/schedulingStats/evictions")
                            .findValuesAsText("underlyingCause"))
                    .contains("ExceedsAdmission"));
    await("the RayJob runs with a cluster of its own size")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(api.get(JOB, "ray").at("/spec/suspend").asBoolean()).isFalse();
              assertThat(api.get(CLUSTER, "ray-cluster").at(REPLICAS).asInt()).isEqualTo(2);
              assertThat(api.pods()).hasSize(4);
            });
    api.awaitUsage("4");
  }

  @Test
  void aRayJobThatIsNotValidIsOnHoldAndOneThatFailsIsFinished() {
    api.givenQueues(4);
    submitJob("bad", "sluice.dev/run-for: 1s, sluice.dev/exit-code: \"1\"", "  backoffLimit: -1");
    String workload = api.workloadOf(JOB, "bad");
    await("hold")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(api.message(QueuedJobs.WORKLOAD, workload, "QuotaReserved"))
                  .isEqualTo("The RayJob is not valid: backoffLimit must not be negative");
              assertThat(api.get(JOB, "bad").at("/spec/suspend").asBoolean()).isTrue();
            });
    api.awaitUsage("0");

    api.patch(JOB, "bad", "{'spec': {'backoffLimit': 0}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Finished", "True");
    assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
        .isEqualTo("Job entrypoint command failed with exit code 1");
    api.awaitUsage("0");
  }

  @Test
  void aRayJobInTheClusterOfSomebodyElseIsLeftAlone() {
    api.givenQueues(4);
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: guest, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: {clusterSelector: {ray.io/cluster: other}}
        """);
    submitCluster("after", "");
    api.awaitCondition(QueuedJobs.WORKLOAD, api.workloadOf(CLUSTER, "after"), "PodsReady", "True");

    assertThat(api.get(JOB, "guest").at("/spec").has("suspend")).isFalse();
    assertThat(api.workloads()).hasSize(1);
  }

  @Test
  void aRayClusterIsStartedAndStoppedAndNeverFinishes() {
    api.givenQueues(2);
    assertThatThrownBy(() -> submitCluster("scaling", "enableInTreeAutoscaling: true,"))
        .hasMessageContaining("spec.enableInTreeAutoscaling: Invalid value: true: ");
    submitCluster("ray", "");
    String workload = api.workloadOf(CLUSTER, "ray");
    JsonNode created = api.get(CLUSTER, "ray");
    assertThat(created.at("/spec/suspend").asBoolean()).isTrue();
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");

    api.setQuota(3);
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    JsonNode started = api.get(CLUSTER, "ray").path("spec");
    assertThat(started.at(HEAD + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(started.at(WORKERS + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(api.pods())
        .hasSize(3)
        .allSatisfy(pod -> assertThat(pod.at("/spec/nodeSelector/pool").asText()).isNotEmpty());

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.get(CLUSTER, "ray").at("/spec")).isEqualTo(created.at("/spec"));
    assertThat(api.pods()).isEmpty();

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    api.delete(CLUSTER, "ray");
    api.awaitGone(QueuedJobs.WORKLOAD, workload);
    api.awaitUsage("0");
  }

  /** Awaits so many pods of a cluster that run, and so many that a gate holds back. */
  private void awaitPods(int running, int gated) {
    await(running + " running pods, " + gated + " gated")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              List<JsonNode> pods =
                  api.pods().stream()
                      .filter(pod -> pod.at("/metadata/labels").has("ray.io/cluster"))
                      .filter(pod -> !pod.path("metadata").has("deletionTimestamp"))
                      .toList();
              assertThat(pods)
                  .filteredOn(pod -> !pod.at("/spec/schedulingGates").isEmpty())
                  .hasSize(gated);
              assertThat(pods)
                  .filteredOn(pod -> pod.at("/status/phase").asText().equals("Running"))
                  .hasSize(running);
            });
  }

  private void scale(String name, int workers) {
    api.replace(CLUSTER, name, REPLICAS, Integer.toString(workers));
  }

  private List<JsonNode> unfinished() {
    return api.workloads().stream()
        .filter(
            it ->
                it.at("/status/conditions").findValuesAsText("type").stream()
                    .noneMatch("Finished"::equals))
        .toList();
  }

  @Test
  void anElasticRayClusterGetsQuotaForWhatItHasMore() {
    api.givenQueues(4);
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata:
          name: grows
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec: %s
        """
            .formatted(clusterSpec("enableInTreeAutoscaling: false,")));
    String first = api.workloadOf(CLUSTER, "grows");
    awaitPods(3, 0);
    api.awaitUsage("3");

    scale("grows", 4);
    awaitPods(3, 2);
    api.awaitUsage("3");
    assertThat(unfinished()).hasSize(2);
    api.setQuota(5);
    awaitPods(5, 0);
    api.awaitUsage("5");
    api.awaitCondition(QueuedJobs.WORKLOAD, first, "Finished", "True");
    assertThat(api.message(QueuedJobs.WORKLOAD, first, "Finished")).contains("took its place");
    assertThat(api.get(CLUSTER, "grows").at("/spec/suspend").asBoolean()).isFalse();

    scale("grows", 1);
    awaitPods(2, 0);
    api.awaitUsage("2");
    JsonNode slice = unfinished().getFirst();
    assertThat(slice.at("/spec/podSets/1/count").asInt()).isEqualTo(1);
    String last = slice.at("/metadata/name").asText();
    api.patch(QueuedJobs.WORKLOAD, last, "{'spec': {'active': false}}");
    api.awaitUsage("0");
    assertThat(api.get(CLUSTER, "grows").at("/spec/suspend").asBoolean()).isTrue();
    api.patch(QueuedJobs.WORKLOAD, last, "{'spec': {'active': true}}");
    awaitPods(2, 0);
    assertThat(unfinished()).hasSize(1);

    api.delete(CLUSTER, "grows");
    api.awaitUsage("0");
    await("no Workload is left").atMost(LIMIT).until(() -> api.workloads().isEmpty());
  }

  /** What scales the RayCluster is played by the test: it writes the replicas. */
  @Test
  void anElasticRayJobFollowsTheSizeThatItsClusterGivesItself() {
    api.givenQueues(6);
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayJob
        metadata:
          name: ray
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          shutdownAfterJobFinishes: true
          rayClusterSpec: %s
          submitterPodTemplate:
            metadata: {annotations: {sluice.dev/run-for: 30m}}
            spec:
              restartPolicy: Never
              containers: [{name: s, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(clusterSpec(SCALES)));
    String first = api.workloadOf(JOB, "ray");
    awaitPods(3, 0);
    api.awaitUsage("4500m");
    await("the pod that submits").atMost(LIMIT).until(() -> api.pods().size() == 4);

    scale("ray-cluster", 3);
    awaitPods(4, 0);
    api.awaitUsage("5500m");
    api.awaitCondition(QueuedJobs.WORKLOAD, first, "Finished", "True");
    assertThat(
            api.get(JOB, "ray").at("/metadata/annotations/kueue.x-k8s.io~1raycluster-generation"))
        .hasToString("\"2\"");
    assertThat(sizes("ray")).isEqualTo("[{\"name\":\"workers\",\"count\":3}]");
    scale("ray-cluster", 5);
    awaitPods(4, 2);

    scale("ray-cluster", 1);
    awaitPods(2, 0);
    api.awaitUsage("3500m");
    assertThat(unfinished()).hasSize(1);
    assertThat(api.get(JOB, "ray").at("/spec/suspend").asBoolean()).isFalse();
    api.delete(JOB, "ray");
    api.awaitUsage("0");
  }

  private String sizes(String job) {
    return api.get(JOB, job)
        .at("/metadata/annotations/kueue.x-k8s.io~1raycluster-podset-replica-sizes")
        .asText();
  }

  @Test
  void aRayServiceIsStartedAndStoppedWithOneWorkload() {
    api.givenQueues(2);
    cluster.applyText(
        """
        apiVersion: ray.io/v1
        kind: RayService
        metadata: {name: ray, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: {serveConfigV2: "a: b", upgradeStrategy: {type: None}, rayClusterConfig: %s}
        """
            .formatted(clusterSpec("")));
    String workload = api.workloadOf(SERVICE, "ray");
    JsonNode created = api.get(SERVICE, "ray");
    assertThat(created.at("/spec/rayClusterConfig/suspend").asBoolean()).isTrue();
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");

    api.setQuota(3);
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    JsonNode started = api.get(SERVICE, "ray").at("/spec/rayClusterConfig");
    assertThat(started.at(HEAD + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(started.at(WORKERS + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(api.get(CLUSTER, "ray-cluster").at("/spec/suspend").asBoolean()).isFalse();
    assertThat(api.workloads()).hasSize(1);

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.get(SERVICE, "ray").at("/spec")).isEqualTo(created.at("/spec"));
    api.awaitGone(CLUSTER, "ray-cluster");

    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    api.delete(SERVICE, "ray");
    api.awaitGone(QueuedJobs.WORKLOAD, workload);
    api.awaitUsage("0");
  }
}
