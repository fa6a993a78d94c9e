package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.LogLines;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The story of a quota tree: from the tree alone come the queues that jobs use. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("scenario")
class ElasticQuotaTreeIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String TREE = "scheduling.sigs.k8s.io/v1beta1/ElasticQuotaTree";
  private static final String QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue";
  private static final String COHORT = "kueue.x-k8s.io/v1beta2/Cohort";
  private static final String SHOWN = "scheduling.x-k8s.io/v1alpha1/Queue";
  private static final String LOCAL = "kueue.x-k8s.io/v1beta2/LocalQueue";

  @SuppressWarnings("NullAway.Init") // made before all tests
  private LocalOperator operator;

  @SuppressWarnings("NullAway.Init")
  private KubernetesClient client;

  @SuppressWarnings("NullAway.Init")
  private Path kubeconfig;

  @BeforeAll
  void startOperator(TestCluster given) {
    client = given.client();
    kubeconfig = given.kubeconfig();
    given.createNodes(NodeGroup.plentiful("kube-queue", 1));
    start("kube-queue");
  }

  private void start(String namespace) {
    client
        .resource("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}".formatted(namespace))
        .createOr(NonDeletingOperation::update);
    operator =
        LocalOperator.start(
            "operator-of-the-quota-tree",
            kubeconfig,
            "kubeQueue: {enabled: true, oversellRate: 1, namespace: %s}".formatted(namespace));
  }

  @AfterAll
  void stopOperator() {
    operator.close();
  }

  /** The scenario's tree and jobs, unchanged, at an over-sell rate of 1. */
  @Test
  @Order(1)
  void oneJobRunsAndTheOtherFollows() {
    client.load(stream("01-tree.yaml")).create();
    awaitPresent(LOCAL, "default", "root-child-1");
    awaitPresent(SHOWN, "kube-queue", "root-child-1");

    JsonNode queue = get(QUEUE, "", "root-child-1");
    assertThat(queue.at("/spec/cohortName").asText()).isEqualTo("root");
    assertThat(resource(queue, "cpu"))
        .isEqualTo(Map.of("name", "cpu", "nominalQuota", "0", "borrowingLimit", "1"));
    assertThat(resource(get(COHORT, "", "root"), "memory"))
        .isEqualTo(Map.of("name", "memory", "nominalQuota", "1Gi"));
    assertThat(queue.at("/metadata/annotations").toString())
        .contains("\"sluice.dev/source-kind\":\"ElasticQuotaTree\"")
        .contains("\"sluice.dev/source-path\":\"root/child-1\"");

    Job first = submit();
    awaitSuspended(first, false);
    Job second = submit();
    await("the second waits")
        .atMost(LIMIT)
        .until(
            () ->
                workloadOf(second)
                    .map(each -> each.toString().contains("0 available of 1"))
                    .orElse(false));
    assertThat(find(first).getSpec().getSuspend()).isFalse();
    assertThat(find(second).getSpec().getSuspend()).isTrue();
    aQueueShowsTheQuotaAndSteers(second);
    theTreeShowsWhatIsUsed();

    succeed(first);
    awaitSuspended(second, false);
    succeed(second);
    queuesMoveToTheNamespaceThatIsConfigured();
  }

  private void queuesMoveToTheNamespaceThatIsConfigured() {
    JsonNode before = get(SHOWN, "kube-queue", "root-child-1");
    operator.close();
    start("queues");
    awaitPresent(SHOWN, "queues", "root-child-1");
    awaitAbsent(SHOWN, "kube-queue", "root-child-1");
    awaitAbsent(SHOWN, "kube-queue", "root-self");
    JsonNode moved = get(SHOWN, "queues", "root-child-1");
    assertThat(moved.get("spec")).isEqualTo(before.get("spec"));
    assertThat(moved.at("/metadata/annotations/koord-queue~1wait-for-pods-running").asText())
        .isEqualTo("true");
    assertThat(get(QUEUE, "", "root-child-1").at("/spec/queueingStrategy").asText())
        .isEqualTo("StrictFIFO");
  }

  /** A check whose controller says that it is there, and never answers. */
  private void givenCheck() {
    client
        .resource(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: AdmissionCheck
            metadata: {name: paid}
            spec: {controllerName: example.com/till}
            """)
        .create();
    at("kueue.x-k8s.io/v1beta2/AdmissionCheck", "", "paid")
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":"
                + "\"Open\",\"message\":\"\",\"lastTransitionTime\":\"2026-03-01T10:00:00Z\"}]}}");
  }

  /** The second job waits. */
  private void aQueueShowsTheQuotaAndSteers(Job second) {
    JsonNode shown = get(SHOWN, "kube-queue", "root-child-1");
    assertThat(shown.at("/metadata/labels/sluice.dev~1mirror").asText()).isEqualTo("true");
    assertThat(shown.at("/metadata/annotations/kube-queue~1quota-fullname").asText())
        .isEqualTo("root/child-1");
    assertThat(shown.at("/spec")).isEqualTo(QuotaTrees.yaml("{queuePolicy: Round}"));
    await("the queue lists what waits")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(get(SHOWN, "kube-queue", "root-child-1").at("/status/queueItemDetails"))
                    .isEqualTo(
                        QuotaTrees.yaml(
                            "active: [{name: %s, namespace: default, priority: 0, position: 1}]"
                                .formatted(second.getMetadata().getName()))));

    givenCheck();
    String checks = "[{name: paid, labelSelector: {matchLabels: {tier: gold}}}]";
    at(SHOWN, "kube-queue", "root-child-1")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"queuePolicy\":\"Block\",\"priority\":7,\"admissionChecks\":"
                + QuotaTrees.yaml(checks)
                + "},\"metadata\":{\"annotations\":{"
                + "\"koord-queue/wait-for-pods-running\":\"true\","
                + "\"sluice.dev/source-name\":\"other\"}}}");
    await("the queue is served as its Queue says")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode queue = get(QUEUE, "", "root-child-1");
              assertThat(queue.at("/spec/queueingStrategy").asText()).isEqualTo("StrictFIFO");
              assertThat(queue.at("/metadata/annotations/sluice.dev~1queue-priority").asText())
                  .isEqualTo("7");
              assertThat(queue.at("/metadata/annotations/sluice.dev~1block-until-ready").asText())
                  .isEqualTo("true");
              assertThat(queue.at("/spec/admissionChecksStrategy/admissionChecks"))
                  .isEqualTo(QuotaTrees.yaml("[{name: paid}]"));
              JsonNode again = get(SHOWN, "kube-queue", "root-child-1");
              assertThat(again.at("/metadata/annotations/sluice.dev~1source-name").asText())
                  .isEqualTo("elasticquotatree");
              assertThat(again.at("/spec"))
                  .isEqualTo(
                      QuotaTrees.yaml(
                          "{queuePolicy: Block, priority: 7, admissionChecks: %s}"
                              .formatted(checks)));
            });
  }

  /** What another program writes there is left to it. */
  private void theTreeShowsWhatIsUsed() {
    String used = "/status/root/used/cpu";
    await("the tree shows what is used")
        .atMost(LIMIT)
        .until(() -> get(TREE, "kube-system", "elasticquotatree").at(used).asText().equals("1"));
    assertThat(get(TREE, "kube-system", "elasticquotatree").at("/status/root/children/0/used/cpu"))
        .isEqualTo(QuotaTrees.yaml("'1'"));
    try (LogLines log = new LogLines()) {
      at(TREE, "kube-system", "elasticquotatree")
          .subresource("status")
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"status\":{\"root\":{\"used\":{\"cpu\":\"7\"}}}}");
      await("the status is left to others")
          .atMost(LIMIT)
          .until(() -> log.text().contains("elasticquotatree status=left"));
    }
    assertThat(get(TREE, "kube-system", "elasticquotatree").at(used).asText()).isEqualTo("7");
  }

  /** A change of hand is undone; a bad tree changes nothing; what is removed goes when it may. */
  @Test
  @Order(2)
  void theTreeIsFollowedWhateverHappens() {
    String path = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota";
    patch(
        QUEUE,
        "root-child-1",
        "[{\"op\":\"replace\",\"path\":\"%s\",\"value\":\"7\"}]".formatted(path));
    await("the quota is mended")
        .atMost(LIMIT)
        .until(() -> get(QUEUE, "", "root-child-1").at(path).asText().equals("0"));

    replaceTree("[{name: child-1, min: {cpu: 2}, max: {cpu: 1}, namespaces: [default]}]");
    await("people are told")
        .atMost(LIMIT)
        .until(
            () ->
                client.v1().events().inNamespace("kube-system").list().getItems().stream()
                    .anyMatch(
                        each ->
                            "InvalidQuota".equals(each.getReason())
                                && each.getMessage()
                                    .endsWith("root/child-1: min 2 of cpu is more than max 1")));
    assertThat(get(QUEUE, "", "root-child-1").at("/spec/stopPolicy").asText()).isEqualTo("None");

    replaceTree("[{name: child-1, max: {cpu: 1}, namespaces: [default]}]");
    Job running = submit();
    awaitSuspended(running, false);
    client
        .resource(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: root-child-2}
            spec: {}
            """)
        .create();
    replaceTree("[{name: child-2, max: {cpu: 1}, namespaces: [default]}]");
    await("the removed queue is held")
        .atMost(LIMIT)
        .until(() -> get(QUEUE, "", "root-child-1").at("/spec/stopPolicy").asText().equals("Hold"));
    await("the new queue has another name than the one that is taken")
        .atMost(LIMIT)
        .until(
            () ->
                client.v1().events().inNamespace("kube-system").list().getItems().stream()
                    .anyMatch(each -> "NameTaken".equals(each.getReason())));
    assertThat(get(QUEUE, "", "root-child-2").at("/metadata/annotations").toString())
        .doesNotContain("sluice.dev/source-kind");
    assertThat(find(running).getSpec().getSuspend()).isFalse();
    succeed(running);
    awaitAbsent(QUEUE, "", "root-child-1");
    awaitAbsent(LOCAL, "default", "root-child-1");
    awaitAbsent(SHOWN, "queues", "root-child-1");

    at(TREE, "kube-system", "elasticquotatree").delete();
    awaitAbsent(COHORT, "", "root");
    awaitAbsent("kueue.x-k8s.io/v1beta2/ResourceFlavor", "", "kube-queue");
    assertThat(at(QUEUE, "", "root-child-2").get()).isNotNull();
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
                .list()
                .getItems())
        .hasSize(1);
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "LocalQueue")
                .inAnyNamespace()
                .list()
                .getItems())
        .isEmpty();
  }

  /** A ResourceQuota that can't be used counts as it was. */
  @Test
  @Order(3)
  void aFaultyResourceQuotaChangesNothing() {
    client
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: v1
                kind: Namespace
                metadata: {name: tenant}
                ---
                apiVersion: scheduling.x-k8s.io/v1alpha1
                kind: Queue
                metadata: {name: tenant, namespace: tenant}
                spec: {queuePolicy: Block}
                ---
                apiVersion: v1
                kind: ResourceQuota
                metadata: {name: all, namespace: tenant}
                spec: {hard: {cpu: 4}}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .create();
    awaitPresent(LOCAL, "tenant", "tenant-all");
    assertThat(get(QUEUE, "", "tenant-all").at("/spec/queueingStrategy").asText())
        .isEqualTo("StrictFIFO");

    client
        .resourceQuotas()
        .inNamespace("tenant")
        .withName("all")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"hard\":{\"cpu\":\"5\",\"kube-queue/max-jobs\":\"0\"}}}");
    await("people are told")
        .atMost(LIMIT)
        .until(
            () ->
                client.v1().events().inNamespace("tenant").list().getItems().stream()
                    .anyMatch(
                        each ->
                            "InvalidQuota".equals(each.getReason())
                                && "ResourceQuota".equals(each.getInvolvedObject().getKind())));
    JsonNode queue = get(QUEUE, "", "tenant-all");
    assertThat(queue.at("/spec/stopPolicy").asText()).isEqualTo("None");
    assertThat(resource(queue, "cpu")).containsEntry("nominalQuota", "4");
  }

  /** No Queue, no queue name: an annotation of the quotas is enough. */
  @Test
  @Order(4)
  void resourceQuotasAreQueuesWhereTheirAnnotationSaysSo() {
    client
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: v1
                kind: Namespace
                metadata: {name: plain}
                ---
                apiVersion: v1
                kind: ResourceQuota
                metadata: {name: all, namespace: plain, annotations: {sluice.dev/queue: "true"}}
                spec: {hard: {requests.cpu: 3}}
                ---
                apiVersion: v1
                kind: ResourceQuota
                metadata: {name: ends, namespace: plain, annotations: {sluice.dev/queue: "true"}}
                spec: {hard: {requests.cpu: 1}, scopes: [Terminating]}
                ---
                apiVersion: v1
                kind: ResourceQuota
                metadata: {name: counts, namespace: plain}
                spec: {hard: {count/jobs.batch: 50}}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .create();
    awaitPresent(LOCAL, "plain", "plain-ends");
    awaitPresent(LOCAL, "plain", "plain-all-self");
    assertThat(get(QUEUE, "", "plain-ends").at("/spec/cohortName").asText()).isEqualTo("plain-all");

    String deadline = "activeDeadlineSeconds: 36000";
    Job ends = submitPlain(deadline);
    awaitSuspended(ends, false);
    Job endsToo = submitPlain(deadline);
    Job one = submitPlain("priorityClassName: ''");
    Job two = submitPlain("priorityClassName: ''");
    awaitSuspended(one, false);
    awaitSuspended(two, false);
    Job three = submitPlain("priorityClassName: ''");
    await("others wait, by the quota for some pods and by that of all")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(queueOf(endsToo)).isEqualTo("plain-ends");
              assertThat(queueOf(three)).isEqualTo("plain-all-self");
              assertThat(workloads("plain").toString()).contains("0 available of 1");
            });
    assertThat(queueOf(ends)).isEqualTo("plain-ends");
    assertThat(queueOf(one)).isEqualTo("plain-all-self");
    assertThat(find(endsToo).getSpec().getSuspend()).isTrue();
    assertThat(find(three).getSpec().getSuspend()).isTrue();
    assertThat(at(QUEUE, "", "plain-counts").get()).isNull();
  }

  private Job submitPlain(String podSpec) {
    return client
        .batch()
        .v1()
        .jobs()
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: batch/v1
                kind: Job
                metadata: {generateName: job-, namespace: plain}
                spec:
                  suspend: true
                  template:
                    metadata: {annotations: {sluice.dev/run-for: 1h}}
                    spec:
                      %s
                      restartPolicy: Never
                      containers:
                      - {name: c, image: none, resources: {requests: {cpu: 1}}}
                """
                    .formatted(podSpec)
                    .getBytes(StandardCharsets.UTF_8)))
        .create();
  }

  private String queueOf(Job job) {
    return Objects.requireNonNullElse(
        find(job).getMetadata().getLabels().get("kueue.x-k8s.io/queue-name"), "");
  }

  private JsonNode workloads(String namespace) {
    return JsonMappers.JSON.valueToTree(
        client
            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
            .inNamespace(namespace)
            .list()
            .getItems());
  }

  private void patch(String kind, String name, String patch) {
    at(kind, "", name).patch(PatchContext.of(PatchType.JSON), patch);
  }

  private void replaceTree(String children) {
    at(TREE, "kube-system", "elasticquotatree")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"root\":{\"children\":%s}}}".formatted(QuotaTrees.yaml(children)));
  }

  private void awaitAbsent(String kind, String namespace, String name) {
    await(kind + " " + name + " is gone")
        .atMost(LIMIT)
        .until(() -> at(kind, namespace, name).get() == null);
  }

  private Job submit() {
    return client.batch().v1().jobs().load(stream("02-job.yaml")).create();
  }

  private Job find(Job job) {
    return Objects.requireNonNull(client.resource(job).get());
  }

  private void awaitSuspended(Job job, boolean suspended) {
    await(job.getMetadata().getName() + " suspended=" + suspended)
        .atMost(LIMIT)
        .until(() -> find(job).getSpec().getSuspend() == suspended);
  }

  /** The job's pod ends now. */
  private void succeed(Job job) {
    var pods =
        client.pods().inNamespace("default").withLabel("job-name", job.getMetadata().getName());
    await("a pod runs")
        .atMost(LIMIT)
        .until(
            () ->
                pods.list().getItems().stream()
                    .anyMatch(pod -> "Running".equals(pod.getStatus().getPhase())));
    var pod = pods.list().getItems().getFirst();
    client
        .resource(pod)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"sluice.dev/run-for\":\"100ms\"}}}");
    await(job.getMetadata().getName() + " is complete")
        .atMost(LIMIT)
        .until(() -> Objects.equals(find(job).getStatus().getSucceeded(), 1));
  }

  private Optional<JsonNode> workloadOf(Job job) {
    return client
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace("default")
        .list()
        .getItems()
        .stream()
        .filter(
            each ->
                each.getMetadata()
                    .getOwnerReferences()
                    .getFirst()
                    .getUid()
                    .equals(job.getMetadata().getUid()))
        .findFirst()
        .map(JsonMappers.JSON::<JsonNode>valueToTree);
  }

  private static Map<String, Object> resource(JsonNode object, String name) {
    for (JsonNode each : object.at("/spec/resourceGroups/0/flavors/0/resources")) {
      if (each.path("name").asText().equals(name)) {
        return JsonMappers.JSON.convertValue(each, new TypeReference<>() {});
      }
    }
    return Map.of();
  }

  private Resource<GenericKubernetesResource> at(String kind, String namespace, String name) {
    int slash = kind.lastIndexOf('/');
    var all =
        client.genericKubernetesResources(kind.substring(0, slash), kind.substring(slash + 1));
    return namespace.isEmpty() ? all.withName(name) : all.inNamespace(namespace).withName(name);
  }

  private JsonNode get(String kind, String namespace, String name) {
    return JsonMappers.JSON.valueToTree(Objects.requireNonNull(at(kind, namespace, name).get()));
  }

  private void awaitPresent(String kind, String namespace, String name) {
    await(kind + " " + name).atMost(LIMIT).until(() -> at(kind, namespace, name).get() != null);
  }

  private static InputStream stream(String file) {
    return Objects.requireNonNull(
        ElasticQuotaTreeIT.class.getResourceAsStream("/scenarios/elastic-quota-tree/" + file));
  }
}
