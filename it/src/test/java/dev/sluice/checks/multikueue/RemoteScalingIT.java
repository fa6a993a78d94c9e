package dev.sluice.checks.multikueue;

import static dev.sluice.testing.ManagerAndWorkers.ONSITE;
import static dev.sluice.testing.ManagerAndWorkers.REMOTE;
import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayJob;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedRayCluster;
import dev.sluice.lab.player.PlayedRayJob;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ray clusters that scale themselves in a worker, and a manager that follows. The test plays Ray's
 * autoscaler: it writes the replicas of the RayCluster in the worker.
 */
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag(BuildBreadth.NIGHTLY)
class RemoteScalingIT {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RAY = "ray.io/v1";
  private static final String SIZES =
      "/metadata/annotations/kueue.x-k8s.io~1raycluster-podset-replica-sizes";
  private static final String FRAMEWORKS =
      "integrations: {frameworks: [batch/job, ray.io/raycluster, ray.io/rayjob]}\n";
  private static final String TEMPLATE =
      """
      {spec: {terminationGracePeriodSeconds: 1,
       containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}\
      """
          .replace("\n", "");
  private static final String SPEC =
      """
      {enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 500m}}},
       headGroupSpec: {template: %1$s},
       workerGroupSpecs: [{groupName: workers, replicas: 2, minReplicas: 0, maxReplicas: 5,
        template: %1$s}]}
      """
          .formatted(TEMPLATE)
          .replace("\n", " ");

  @SuppressWarnings("NullAway.Init") // made before all tests
  private ManagerAndWorkers running;

  private final List<KindPlayer> players = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeAll
  void start() {
    running =
        ManagerAndWorkers.start(
            new ManagerAndWorkers.Options(
                FRAMEWORKS
                    + "featureGates: {MultiKueueRayInTreeAutoscaling: true}\n"
                    + "multiKueue: {workerLostTimeout: 60s, gcInterval: 2s}\n",
                FRAMEWORKS,
                true));
    for (KubernetesClient client :
        List.of(running.manager(), running.worker(ONSITE), running.worker(REMOTE))) {
      PlayedDefinitions.install(client, RayCluster.KIND);
      PlayedDefinitions.install(client, RayJob.KIND);
    }
    for (String worker : ManagerAndWorkers.WORKERS) {
      players.add(new KindPlayer(running.worker(worker), new PlayedRayCluster()));
      players.add(new KindPlayer(running.worker(worker), new PlayedRayJob()));
    }
  }

  @AfterAll
  void stop() {
    players.forEach(KindPlayer::close);
    running.close();
  }

  @BeforeEach
  void setUp() {
    clusters = running.share().setUp();
  }

  @AfterEach
  void cleanUp() {
    clusters.close();
  }

  private Resource<GenericKubernetesResource> object(
      KubernetesClient client, String version, String kind, String name) {
    return client
        .genericKubernetesResources(version, kind)
        .inNamespace(clusters.namespace())
        .withName(name);
  }

  private JsonNode get(KubernetesClient client, String kind, String name) {
    return JSON.valueToTree(object(client, RAY, kind, name).require());
  }

  private List<JsonNode> all(KubernetesClient client, String version, String kind) {
    return client
        .genericKubernetesResources(version, kind)
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .map(object -> JSON.<JsonNode>valueToTree(object))
        .toList();
  }

  private static String condition(JsonNode workload, String type, String field) {
    return workload
        .at("/status/conditions")
        .valueStream()
        .filter(condition -> condition.path("type").asText().equals(type))
        .map(condition -> condition.path(field).asText())
        .findFirst()
        .orElse("");
  }

  private List<JsonNode> slices(KubernetesClient client) {
    return all(client, "kueue.x-k8s.io/v1beta2", "Workload").stream()
        .filter(slice -> !condition(slice, "Finished", "status").equals("True"))
        .toList();
  }

  /** The numbers of workers of the slices that have not ended. */
  private List<Integer> sizes(KubernetesClient client) {
    return slices(client).stream()
        .map(slice -> slice.at("/spec/podSets/1/count").asInt())
        .sorted()
        .toList();
  }

  private List<JsonNode> pods(KubernetesClient client) {
    return all(client, "v1", "Pod").stream()
        .filter(pod -> !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  private static boolean isGated(JsonNode pod) {
    return !pod.at("/spec/schedulingGates").isEmpty();
  }

  private String usage() {
    JsonNode queue =
        JSON.valueToTree(
            clusters
                .manager()
                .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
                .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
                .require());
    return queue.at("/status/flavorsUsage/0/resources/0/total").asText();
  }

  private void setQuota(int cpu) {
    Resource<GenericKubernetesResource> queue =
        clusters
            .manager()
            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
            .withName(clusters.name(MultiCluster.CLUSTER_QUEUE));
    JsonNode groups = JSON.<JsonNode>valueToTree(queue.require()).at("/spec/resourceGroups");
    ArrayNode changed = groups.deepCopy();
    ((ObjectNode) changed.at("/0/flavors/0/resources/0"))
        .put("nominalQuota", Integer.toString(cpu));
    queue.patch(MERGE, "{\"spec\":{\"resourceGroups\":" + changed + "}}");
  }

  private void hold(String worker, boolean held) {
    clusters
        .worker(worker)
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(MERGE, "{\"spec\":{\"stopPolicy\":\"" + (held ? "Hold" : "None") + "\"}}");
  }

  /** A job of this kind with two workers and a head; returns the name of its RayCluster. */
  private String submit(String kind) {
    boolean isCluster = kind.equals("RayCluster");
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: ray.io/v1
        kind: %s
        metadata:
          name: ray
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec: %s
        """
            .formatted(
                kind,
                isCluster
                    ? SPEC
                    : "{shutdownAfterJobFinishes: true, submissionMode: HTTPMode, rayClusterSpec: "
                        + SPEC
                        + "}"));
    return isCluster ? "ray" : "ray-cluster";
  }

  /** Ray's autoscaler writes the replicas. */
  private void scale(String worker, String rayCluster, int replicas) {
    Resource<GenericKubernetesResource> there =
        object(clusters.worker(worker), RAY, "RayCluster", rayCluster);
    ArrayNode groups =
        JSON.<JsonNode>valueToTree(there.require()).at("/spec/workerGroupSpecs").deepCopy();
    ((ObjectNode) groups.get(0)).put("replicas", replicas);
    there.patch(MERGE, "{\"spec\":{\"workerGroupSpecs\":" + groups + "}}");
  }

  private void awaitPods(String worker, int runs, int gated) {
    eventually(
        () -> {
          List<JsonNode> pods = pods(clusters.worker(worker));
          assertThat(pods)
              .filteredOn(pod -> pod.at("/status/phase").asText().equals("Running"))
              .hasSize(runs);
          assertThat(pods).filteredOn(RemoteScalingIT::isGated).hasSize(gated);
          assertThat(pods).hasSize(runs + gated);
        });
  }

  private void awaitSize(String worker, int workers, String cpu) {
    awaitPods(worker, 1 + workers, 0);
    eventually(
        () -> {
          assertThat(sizes(clusters.worker(worker))).containsExactly(workers);
          assertThat(sizes(clusters.manager())).containsExactly(workers);
          assertThat(usage()).isEqualTo(cpu);
        });
  }

  /** What runs in workers, compared again and again with what the manager counts. */
  private final class Compared implements AutoCloseable {
    private final Queue<String> excesses = new ConcurrentLinkedQueue<>();
    private volatile boolean goesOn = true;
    private final Thread thread = Thread.ofVirtual().start(this::compare);
    private volatile int times;

    private int counted() {
      return slices(clusters.manager()).stream()
          .filter(slice -> condition(slice, "QuotaReserved", "status").equals("True"))
          .mapToInt(
              slice ->
                  slice
                      .at("/spec/podSets")
                      .valueStream()
                      .mapToInt(it -> it.at("/count").asInt())
                      .sum())
          .max()
          .orElse(0);
    }

    private void compare() {
      while (goesOn) {
        int before = counted();
        long runs =
            ManagerAndWorkers.WORKERS.stream()
                .flatMap(worker -> pods(clusters.worker(worker)).stream())
                .filter(pod -> !isGated(pod))
                .count();
        int counted = Math.max(before, counted());
        if (runs > counted) {
          excesses.add(runs + " pods run, " + counted + " are counted");
        }
        times++;
      }
    }

    @Override
    public void close() throws InterruptedException {
      goesOn = false;
      thread.join();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"RayCluster", "RayJob"})
  void theManagerFollowsWhatRayWantsInTheWorkerAsFarAsItHasQuota(String kind) throws Exception {
    setQuota(6);
    hold(ONSITE, true);
    try (Compared compared = new Compared()) {
      String rayCluster = submit(kind);
      awaitSize(REMOTE, 2, "3500m");
      String uid = get(clusters.worker(REMOTE), kind, "ray").at("/metadata/uid").asText();

      scale(REMOTE, rayCluster, 4);
      awaitSize(REMOTE, 4, "5500m");
      JsonNode here = get(clusters.manager(), kind, "ray");
      assertThat(here.at(SIZES).asText()).isEqualTo("[{\"name\":\"workers\",\"count\":4}]");
      assertThat(here.findValuesAsText("replicas")).as("nobody writes the spec").contains("2");
      assertThat(
              get(clusters.worker(REMOTE), "RayCluster", rayCluster)
                  .at("/spec/workerGroupSpecs/0/replicas")
                  .asInt())
          .isEqualTo(4);

      // the manager's quota has no room, and says so; Ray's wish beyond the bound is not followed
      scale(REMOTE, rayCluster, 9);
      eventually(() -> assertThat(sizes(clusters.manager())).containsExactly(4, 5));
      awaitPods(REMOTE, 5, 1);
      eventually(
          () ->
              assertThat(slices(clusters.manager()))
                  .filteredOn(slice -> condition(slice, "QuotaReserved", "status").equals("False"))
                  .singleElement()
                  .satisfies(
                      slice ->
                          assertThat(condition(slice, "QuotaReserved", "message"))
                              .contains("cpu: 1 requested, 0.5 available of 6")));
      assertNobodyElseWritesTheSize(kind);
      running.restartManager(() -> {});
      setQuota(7);
      awaitSize(REMOTE, 5, "6500m");

      // fewer and more while no manager looks
      running.restartManager(
          () -> {
            scale(REMOTE, rayCluster, 1);
            eventually(() -> assertThat(sizes(clusters.worker(REMOTE))).containsExactly(1));
            scale(REMOTE, rayCluster, 3);
            awaitPods(REMOTE, 2, 2);
          });
      awaitSize(REMOTE, 3, "4500m");
      scale(REMOTE, rayCluster, 1);
      awaitSize(REMOTE, 1, "2500m");
      assertThat(get(clusters.worker(REMOTE), kind, "ray").at("/metadata/uid").asText())
          .as("never stopped")
          .isEqualTo(uid);

      // stopped, it has the size of its spec again
      String slice = slices(clusters.manager()).getFirst().at("/metadata/name").asText();
      activate(slice, false);
      eventually(
          () -> {
            assertThat(pods(clusters.worker(REMOTE))).isEmpty();
            assertThat(usage()).isEqualTo("0");
            assertThat(get(clusters.manager(), kind, "ray").at(SIZES).isMissingNode()).isTrue();
          });
      activate(slice, true);
      awaitSize(REMOTE, 2, "3500m");

      assertThat(compared.times).isGreaterThan(10);
      assertThat(compared.excesses).isEmpty();
    }

    // the quota of a job that is deleted is given back at once, whatever its kind
    object(clusters.manager(), RAY, kind, "ray").delete();
    eventually(
        () -> {
          assertThat(slices(clusters.manager())).isEmpty();
          assertThat(slices(clusters.worker(REMOTE))).isEmpty();
          assertThat(pods(clusters.worker(REMOTE))).isEmpty();
        });
  }

  /** A user with all rights is refused; the operator of the test has the rights of another one. */
  private void assertNobodyElseWritesTheSize(String kind) {
    Config config = new ConfigBuilder(clusters.manager().getConfiguration()).build();
    config.setImpersonateUsername("somebody");
    config.setImpersonateGroups("system:masters");
    try (KubernetesClient somebody = new KubernetesClientBuilder().withConfig(config).build()) {
      assertThatThrownBy(
              () ->
                  object(somebody, RAY, kind, "ray")
                      .patch(
                          MERGE,
                          "{\"metadata\":{\"annotations\":{"
                              + "\"kueue.x-k8s.io/raycluster-podset-replica-sizes\":\"[]\"}}}"))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("is written by the operator alone");
    }
  }

  private void activate(String slice, boolean active) {
    object(clusters.manager(), "kueue.x-k8s.io/v1beta2", "Workload", slice)
        .patch(MERGE, "{\"spec\":{\"active\":" + active + "}}");
  }

  @Test
  void aClusterOfALostWorkerRunsElsewhereInTheSizeOfItsSpec() {
    hold(REMOTE, true);
    submit("RayCluster");
    awaitSize(ONSITE, 2, "3500m");
    // more than the worker has: the slice waits there while the worker is lost
    scale(ONSITE, "ray", 3);
    eventually(() -> assertThat(sizes(clusters.worker(ONSITE))).containsExactly(2, 3));
    awaitPods(ONSITE, 3, 1);

    running.cutOff(ONSITE);
    hold(REMOTE, false);
    awaitSize(REMOTE, 2, "3500m");
    running.reconnect(ONSITE);
    eventually(
        () -> {
          assertThat(slices(clusters.worker(ONSITE))).isEmpty();
          assertThat(pods(clusters.worker(ONSITE))).isEmpty();
        });
    scale(REMOTE, "ray", 4);
    awaitSize(REMOTE, 4, "5500m");
  }
}
