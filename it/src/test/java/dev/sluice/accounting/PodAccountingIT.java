package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.SilentNode;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a tenant does to run more than was admitted, with the rights of a tenant: those of the roles
 * edit and of users of queues, in one namespace. What runs is told by pods on nodes. Policies of
 * the API server refuse some of the steps; they don't hold this tenant, who may write the status of
 * Workloads, so that what is behind them is seen.
 */
@OperatorTest(
    configuration =
        """
        integrations: {frameworks: [batch/job, pod, jobset.x-k8s.io/jobset]}
        eviction: {podTimeout: 5s}
        """)
@Tag(BuildBreadth.NIGHTLY)
class PodAccountingIT {

  private static final String JOB = "batch/v1/Job";
  private static final String POD = "v1/Pod";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KubernetesClient tenant;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
    own.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-edits}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: tenant-resizes}
        rules:
        - {apiGroups: [""], resources: [pods/resize], verbs: [patch]}
        - {apiGroups: [kueue.x-k8s.io], resources: [workloads/status], verbs: [patch]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-resizes}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant-resizes}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-queues}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-batch-user-role}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        """);
    Config config =
        new ConfigBuilder(own.client().getConfiguration())
            .withImpersonateUsername(own.name("tenant"))
            .build();
    tenant = new KubernetesClientBuilder().withConfig(config).build();
    await("rights of the tenant")
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> tenant.pods().inNamespace(own.namespace()).list() != null);
  }

  @AfterEach
  void forget() {
    tenant.close();
  }

  private Resource<GenericKubernetesResource> ofTenant(String kind, String name) {
    int slash = kind.lastIndexOf('/');
    return tenant
        .genericKubernetesResources(kind.substring(0, slash), kind.substring(slash + 1))
        .inNamespace(cluster.namespace())
        .withName(name);
  }

  /** The tenant merges JSON, written with single quotes, into an object. */
  private void patch(String kind, String name, String json) {
    ofTenant(kind, name).patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** The same for a pod that may be gone by now. */
  private void patchIfThere(String pod, String json) {
    try {
      patch(POD, pod, json);
    } catch (KubernetesClientException gone) {
      assertThat(gone.getCode()).isEqualTo(404);
    }
  }

  private void submit(String name, int pods, String metadata, String spec) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}, %s}
        spec:
          parallelism: %d
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              %s
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, metadata, pods, spec));
  }

  /** Pods that are bound to a node, and have not ended; terminating ones included. */
  private List<JsonNode> bound() {
    return api.pods().stream()
        .filter(pod -> !pod.at("/spec/nodeName").asText().isEmpty())
        .filter(pod -> !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  private static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  private void awaitBound(int pods) {
    await(pods + " pods on nodes")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(bound()).hasSize(pods));
  }

  /** Awaits so many pods, bound or not. */
  private void awaitPods(int pods) {
    await(pods + " pods").atMost(LIMIT).untilAsserted(() -> assertThat(api.pods()).hasSize(pods));
  }

  private void awaitEvictedAsExceeding(String workload) {
    await("eviction of " + workload)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode found = api.get(QueuedJobs.WORKLOAD, workload);
              assertThat(found.at("/status/schedulingStats/evictions").toString())
                  .as(found::toPrettyString)
                  .contains("ExceedsAdmission");
            });
  }

  @Test
  void podsWhoseGatesTheTenantTakesOffAreNotLeftRunning() {
    api.givenQueues(2);
    submit("elastic", 2, "annotations: {kueue.x-k8s.io/elastic-job: 'true'}", "");
    awaitBound(2);
    String workload = api.workloadOf(JOB, "elastic");

    patch(JOB, "elastic", "{'spec': {'parallelism': 20}}");
    awaitPods(20);
    for (JsonNode pod : api.pods()) {
      patchIfThere(name(pod), "{'spec': {'schedulingGates': null}}");
    }

    awaitEvictedAsExceeding(workload);
    await("no more than the quota")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(bound().size()).isLessThanOrEqualTo(2));
  }

  @Test
  void aPodThatTheJobControllerIsMadeToLetGoCounts() {
    api.givenQueues(2);
    submit("letting-go", 1, "", "");
    awaitBound(1);
    String workload = api.workloadOf(JOB, "letting-go");

    patch(
        POD,
        name(bound().getFirst()),
        "{'metadata': {'labels': {'batch.kubernetes.io/controller-uid': 'x', 'controller-uid':"
            + " 'x'}}}");

    awaitEvictedAsExceeding(workload);
    await("the pod that was let go is gone")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(bound().size()).isLessThanOrEqualTo(1));
  }

  /** A program in a job makes another one in its name: it is charged to the first. */
  @Test
  void aJobBelowAJobHasNoWorkloadAndIsChargedToTheJobAbove() {
    api.givenQueues(9);
    submit("above", 1, "", "");
    awaitBound(1);
    String workload = api.workloadOf(JOB, "above");
    String uid = api.get(JOB, "above").at("/metadata/uid").asText();

    submit(
        "below",
        4,
        "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: above, uid: %s, controller: true}]"
            .formatted(uid),
        "");

    awaitEvictedAsExceeding(workload);
    await("the job below is suspended with the one above, and stays so")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(api.get(JOB, "below").at("/spec/suspend").asBoolean()).isTrue();
              assertThat(api.get(JOB, "above").at("/spec/suspend").asBoolean()).isFalse();
              assertThat(bound()).hasSize(1);
            });
    assertThat(api.workloads())
        .extracting(it -> it.at("/metadata/name").asText())
        .isEqualTo(List.of(workload));
  }

  @Test
  void podsThatAJobLeavesBehindAreStoppedAndKeepItsQuotaUntilThen() {
    api.givenQueues(2);
    submit("leaving", 2, "", "");
    awaitBound(2);
    List<String> leaving = bound().stream().map(PodAccountingIT::name).toList();

    ofTenant(JOB, "leaving").withPropagationPolicy(DeletionPropagation.ORPHAN).delete();
    api.awaitGone(JOB, "leaving");
    submit("next", 2, "", "");
    api.awaitCondition(QueuedJobs.WORKLOAD, api.workloadOf(JOB, "next"), "Admitted", "True");
    assertThat(bound()).extracting(PodAccountingIT::name).doesNotContainAnyElementsOf(leaving);
  }

  /** Its Workload is deleted without quota, as that of a job that is deleted. */
  @Test
  void aJobThatIsTakenOutOfItsQueueAndStartedRunsOn() {
    api.givenQueues(1);
    submit("first", 1, "", "");
    awaitBound(1);
    submit("taken-out", 2, "", "");
    String workload = api.workloadOf(JOB, "taken-out");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");

    patch(JOB, "taken-out", "{'metadata': {'labels': {'kueue.x-k8s.io/queue-name': null}}}");
    api.awaitGone(QueuedJobs.WORKLOAD, workload);
    patch(JOB, "taken-out", "{'spec': {'suspend': false}}");

    awaitBound(3);
    List<String> started = bound().stream().map(PodAccountingIT::name).toList();
    await("its pods to stay")
        .during(PodAccountant.UNADMITTED.multipliedBy(4))
        .atMost(LIMIT)
        .until(() -> bound().stream().map(PodAccountingIT::name).toList().equals(started));
  }

  private String onTheSilentNode() {
    return """
    terminationGracePeriodSeconds: 86400
          nodeSelector: {silent: "%1$s"}
          tolerations: [{key: silent, operator: Equal, value: "%1$s"}]\
    """
        .formatted(SilentNode.name(cluster));
  }

  @Test
  void quotaIsHeldUntilPodsWithALongGracePeriodAreGone() {
    api.givenQueues(2);
    try (SilentNode node = new SilentNode(cluster, "pool: spot")) {
      submit("slow", 2, "", onTheSilentNode());
      awaitBound(2);

      ofTenant(JOB, "slow").delete();
      await("pods terminate")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(bound())
                      .hasSize(2)
                      .allMatch(pod -> pod.at("/metadata").has("deletionTimestamp")));
      submit("next", 2, "", "");
      String next = api.workloadOf(JOB, "next");
      api.awaitCondition(QueuedJobs.WORKLOAD, next, "QuotaReserved", "False");
      api.awaitUsage("2");
      assertThat(bound()).hasSize(2);

      node.endPods();
      api.awaitCondition(QueuedJobs.WORKLOAD, next, "Admitted", "True");
    }
  }

  @Test
  void podsOfAnEvictedWorkloadMayNotTakeADayToEnd() {
    api.givenQueues(2);
    try (SilentNode node = new SilentNode(cluster, "pool: spot")) {
      assertThat(node).isNotNull();
      submit("stubborn", 2, "", onTheSilentNode());
      awaitBound(2);

      api.patch(
          QueuedJobs.WORKLOAD, api.workloadOf(JOB, "stubborn"), "{'spec': {'active': false}}");
      await("pods terminate soon")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(bound())
                      .hasSize(2)
                      .allMatch(
                          pod ->
                              pod.at("/metadata/deletionGracePeriodSeconds").asInt(86400) <= 30));
    }
  }

  /** The Job controller stops no pods of a Job that is being deleted, suspended or not. */
  @Test
  void aJobThatAFinalizerKeepsGivesItsQuotaBackWhenItIsEvicted() {
    api.givenQueues(2);
    submit("kept", 2, "finalizers: [example.com/mine]", "");
    awaitBound(2);
    String workload = api.workloadOf(JOB, "kept");

    ofTenant(JOB, "kept").withPropagationPolicy(DeletionPropagation.BACKGROUND).delete();
    submit("next", 2, "", "");
    String next = api.workloadOf(JOB, "next");
    api.awaitCondition(QueuedJobs.WORKLOAD, next, "QuotaReserved", "False");
    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");

    api.awaitCondition(QueuedJobs.WORKLOAD, next, "Admitted", "True");
    assertThat(api.get(JOB, "kept").at("/metadata").has("deletionTimestamp")).isTrue();
    patch(JOB, "kept", "{'metadata': {'finalizers': null}}");
  }

  /** Nobody could preempt a Workload that has ended. */
  @Test
  void podsThatAFinalizerKeepsWithoutANodeHoldNoQuota() {
    api.givenQueues(2);
    submit("nowhere", 2, "", "nodeSelector: {nowhere: 'true'}");
    awaitPods(2);
    List<String> pods = api.pods().stream().map(PodAccountingIT::name).toList();
    for (String pod : pods) {
      patch(POD, pod, "{'metadata': {'finalizers': ['example.com/mine']}}");
    }

    ofTenant(JOB, "nowhere").withPropagationPolicy(DeletionPropagation.BACKGROUND).delete();
    api.awaitGone(JOB, "nowhere");
    submit("next", 2, "", "");
    api.awaitCondition(QueuedJobs.WORKLOAD, api.workloadOf(JOB, "next"), "Admitted", "True");
    for (String pod : pods) {
      assertThat(api.find(POD, pod)).isPresent();
      patch(POD, pod, "{'metadata': {'finalizers': null}}");
    }
  }

  @Test
  void podsThatAreMadeInTheNameOfAnEvictedJobDoNotKeepItsQuotaForEver() {
    api.givenQueues(2);
    submit("evicted", 2, "", "");
    awaitBound(2);
    String uid = api.get(JOB, "evicted").at("/metadata/uid").asText();
    submit("next", 2, "", "");
    String next = api.workloadOf(JOB, "next");

    api.patch(QueuedJobs.WORKLOAD, api.workloadOf(JOB, "evicted"), "{'spec': {'active': false}}");
    AtomicInteger made = new AtomicInteger();
    makePodOf("evicted", uid, made.get());
    await("quota for the next")
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(3))
        .until(
            () -> {
              makePodOf("evicted", uid, made.incrementAndGet());
              return api.get(QueuedJobs.WORKLOAD, next).at("/status/admission").isObject();
            });
    assertThat(made.get()).as("they kept it for a while").isGreaterThan(10);
  }

  private void makePodOf(String job, String uid, int number) {
    makePodOf("batch/v1", "Job", job, uid, number);
  }

  private void makePodOf(String apiVersion, String kind, String job, String uid, int number) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: made-%d
          annotations: {sluice.dev/run-for: "60m"}
          ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]
        spec:
          nodeSelector: {pool: spot}
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(number, apiVersion, kind, job, uid));
  }

  @Test
  void podsBeyondTheAdmissionMayNotTakeADayToEnd() {
    api.givenQueues(2);
    try (SilentNode node = new SilentNode(cluster, "pool: spot")) {
      assertThat(node).isNotNull();
      submit("growing", 1, "", onTheSilentNode());
      awaitBound(1);

      patch(JOB, "growing", "{'spec': {'parallelism': 20}}");
      await("pods terminate soon")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(bound())
                      .hasSizeGreaterThan(1)
                      .allMatch(
                          pod ->
                              pod.at("/metadata/deletionGracePeriodSeconds").asInt(86400) <= 30));
    }
  }

  @Test
  void aPodIsNotResizedWhileItsOwnerReferenceIsOff() {
    api.givenQueues(2);
    submit("sized", 1, "", "");
    awaitBound(1);
    JsonNode pod = bound().getFirst();
    // What a kubelet that can resize pods reports; the API server asks for it.
    await("status of the container")
        .atMost(LIMIT)
        .until(() -> api.get(POD, name(pod)).at("/status/containerStatuses").size() == 1);
    JsonNode statuses = api.get(POD, name(pod)).at("/status/containerStatuses");
    ((ObjectNode) statuses.get(0)).putObject("resources").putObject("requests").put("cpu", "1");
    api.patchStatus(POD, name(pod), "{'status': {'containerStatuses': %s}}".formatted(statuses));

    patch(POD, name(pod), "{'metadata': {'ownerReferences': null}}");
    String resized =
        """
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "64"}}}]}}\
        """;
    assertThatThrownBy(
            () ->
                ofTenant(POD, name(pod))
                    .subresource("resize")
                    .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), resized))
        .hasMessageContaining("may not request more than it was admitted with");
  }

  @Test
  void aPodWhoseGateAndLabelTheTenantTakesOffIsStopped() {
    api.givenQueues(1);
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: sly
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {sluice.dev/run-for: "60m"}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "50"}}}]
        """);
    api.workloadOf("Pod", "sly");
    patch(
        POD,
        "sly",
        "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null}}, 'spec': {'schedulingGates':"
            + " null}}");
    api.awaitGone(POD, "sly");
  }

  @Test
  void aChildThatOutgrowsItsAncestorCounts() {
    String workload = SetOfOneJob.admitted(cluster, api);
    SetOfOneJob.makeChild(cluster, api, 1);
    awaitBound(1);

    api.patch(JOB, SetOfOneJob.CHILD, "{'spec': {'parallelism': 50}}");

    awaitEvictedAsExceeding(workload);
    await("no more than was admitted")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(bound().size()).isLessThanOrEqualTo(1));
  }

  /** Nobody makes the Workload that the JobSet names: nothing is ever charged for its pods. */
  @Test
  void podsBelowAQueuedJobThatNeverGetsAWorkloadAreStopped() {
    String uid = SetOfOneJob.waiting(cluster, api);
    submit("honest", 1, "", "");
    awaitBound(1);

    makePodOf(SetOfOneJob.API_VERSION, "JobSet", SetOfOneJob.SET, uid, 1);
    awaitBound(2);
    await("the pod of nobody's Workload is stopped")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(bound())
                    .singleElement()
                    .extracting(PodAccountingIT::name)
                    .asString()
                    .startsWith("honest"));
  }
}
