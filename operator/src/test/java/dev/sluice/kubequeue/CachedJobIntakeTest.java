package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.QueueAssignment;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.ScriptedServer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs of namespace team that name quota a by a label; a LocalQueue is made for the first. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CachedJobIntakeTest {

  private static final JobRef JOB =
      new JobRef(JobKind.of("batch", "v1", "Job"), "team", "sample", "uid");

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final List<Runnable> later = new CopyOnWriteArrayList<>();
  private ScriptedServer server;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata:
          name: root-a
          annotations: {sluice.dev/source-kind: ElasticQuotaTree, sluice.dev/source-path: root/a}
        spec: {namespaceSelector: {}}
        """);
    put(caches.namespaces(), Namespace.class, "metadata: {name: team}");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws JsonProcessingException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  private CachedJobIntake intake(ApiClient client) {
    return new CachedJobIntake(
        QuotaTrees.settings(1, QuotaLabel.ANYWHERE), caches, client, later::add);
  }

  private static QueueAssignment asked(CachedJobIntake intake) {
    return intake.assign(
        JOB, Map.of("quota.scheduling.alibabacloud.com/name", "a"), Map.of(), List::of);
  }

  /** Nothing else would bring the job back to it. */
  @Test
  void aLocalQueueThatIsRefusedIsMadeLater() {
    server.then(403, "{\"message\": \"no\"}").then(500, "{}").then(201, "{}");
    CachedJobIntake intake = intake(new ApiClient(server.client(), ApiClient.Options.atATime(1)));
    QueueAssignment refused =
        new QueueAssignment.Pending("LocalQueue team/root-a can't be made: no");

    assertThat(asked(intake)).isEqualTo(new QueueAssignment.Pending(""));
    await().until(() -> later.size() == 1);
    assertThat(asked(intake)).isEqualTo(refused);
    assertThat(asked(intake)).isEqualTo(refused);
    assertThat(server.asked()).as("several jobs ask for it").hasSize(1);

    later.removeFirst().run();
    assertThat(asked(intake)).as("it is tried again").isEqualTo(refused);
    await().until(() -> later.size() == 1);
    assertThat(server.asked()).hasSize(2);
    assertThat(asked(intake)).as("nobody answered").isEqualTo(new QueueAssignment.Pending(""));
    later.removeFirst().run();
    asked(intake);
    await().until(() -> later.size() == 1);
    assertThat(server.asked()).hasSize(3);
  }

  /** The name of the LocalQueue that is made when a job asks for its quota. */
  private String made() throws IOException {
    server.then(201, "{}");
    ApiClient client = new ApiClient(server.client(), ApiClient.Options.atATime(1));
    var unused = asked(intake(client));
    await().until(() -> !server.asked().isEmpty());
    return new YAMLMapper()
        .readTree(server.asked().getLast().body())
        .path("metadata")
        .path("name")
        .asText();
  }

  @Test
  void theLocalQueueHasTheNameOfTheQueue() throws IOException {
    assertThat(made()).isEqualTo("root-a");
  }

  /** Without another name the job would wait for a queue that can't be made. */
  @Test
  void aNameThatOthersUseIsLeftToThem() throws IOException {
    put(
        caches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: root-a, namespace: team}, spec: {clusterQueue: other}}");
    assertThat(made()).matches("root-a-[0-9a-f]{5}");
  }

  private void localQueue(String name, String source) throws JsonProcessingException {
    put(
        caches.localQueues(),
        LocalQueue.class,
        """
        metadata:
          name: %1$s
          namespace: team
          annotations: {sluice.dev/source-kind: ResourceQuota, sluice.dev/source-path: team/%1$s%2$s}
        spec: {clusterQueue: %1$s}
        """
            .formatted(name, source));
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata:
          name: %1$s
          annotations: {sluice.dev/source-kind: ResourceQuota, sluice.dev/source-path: team/%1$s%2$s}
        spec: {namespaceSelector: {}}
        """
            .formatted(name, source));
  }

  private QueueAssignment assigned(String... pods) {
    ApiClient client = new ApiClient(server.client(), ApiClient.Options.atATime(1));
    return new CachedJobIntake(
            QuotaTrees.settings(1, QuotaLabel.LISTED), caches, client, later::add)
        .assign(
            JOB,
            Map.of(),
            Map.of(),
            () ->
                Arrays.stream(pods)
                    .map(pod -> (ObjectNode) QuotaTrees.yaml("{spec: " + pod + "}"))
                    .toList());
  }

  /** A quota for some of the pods has the jobs all of whose pods are among them. */
  @Test
  void scopesSayWhichQuotaOfTheNamespaceAJobHas() throws IOException {
    localQueue("whole", "");
    localQueue("ends", ", sluice.dev/source-scopes: Terminating");
    localQueue("high", ", sluice.dev/source-scopes: Terminating; PriorityClass In high");
    QueueAssignment whole = new QueueAssignment.ToLocalQueue("whole");
    QueueAssignment ends = new QueueAssignment.ToLocalQueue("ends");

    assertThat(assigned("{}")).isEqualTo(whole);
    assertThat(assigned("{activeDeadlineSeconds: 5}")).isEqualTo(ends);
    assertThat(assigned("{activeDeadlineSeconds: 5, priorityClassName: high}"))
        .isEqualTo(new QueueAssignment.ToLocalQueue("high"));
    assertThat(assigned("{activeDeadlineSeconds: 5}", "{}")).isEqualTo(whole);
    assertThat(assigned()).as("pods that are not known").isEqualTo(whole);
  }

  @Test
  void aJobThatNoScopeIncludesBelongsToNoQuota() throws IOException {
    localQueue("ends", ", sluice.dev/source-scopes: Terminating");
    assertThat(assigned("{activeDeadlineSeconds: 5}"))
        .isEqualTo(new QueueAssignment.ToLocalQueue("ends"));
    assertThat(assigned("{}")).isEqualTo(new QueueAssignment.Unassigned());
  }
}
