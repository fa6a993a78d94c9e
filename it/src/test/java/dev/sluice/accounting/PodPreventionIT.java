package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What runs while pods are compared before they exist. Judged by each write to each pod: those that
 * may run and aren't being deleted are never more than was admitted.
 */
@OperatorTest(
    configuration =
        """
        podAccounting: Prevent
        integrations: {frameworks: [batch/job, pod, jobset.x-k8s.io/jobset, statefulset]}
        """)
class PodPreventionIT {

  private static final String JOB = "batch/v1/Job";
  private static final String POD = "v1/Pod";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @SuppressWarnings("NullAway.Init") // made before each test
  private WatchRecorder recorder;

  private final Map<String, Boolean> running = new ConcurrentHashMap<>();
  private final AtomicInteger most = new AtomicInteger();

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
    recorder =
        new WatchRecorder(
                own.client(), InstantSource.system(), this::judge, Set.of(AuditedKind.POD))
            .start();
  }

  @AfterEach
  void close() {
    recorder.close();
  }

  /** Called with each write to each pod, one after the other. */
  private void judge(ObjectChange change) {
    JsonNode pod = change.object();
    if (!pod.at("/metadata/namespace").asText().equals(cluster.namespace())) {
      return;
    }
    boolean runs =
        !change.deleted()
            && pod.at("/spec/schedulingGates").isEmpty()
            && !pod.at("/metadata").has("deletionTimestamp")
            && !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText());
    String uid = pod.at("/metadata/uid").asText();
    if (runs) {
      running.put(uid, true);
    } else {
      running.remove(uid);
    }
    most.accumulateAndGet(running.size(), Math::max);
  }

  private void assertNeverMoreThan(int pods) {
    assertThat(recorder.catchUp(LIMIT)).isTrue();
    assertThat(recorder.gap()).isEmpty();
    assertThat(most).hasValueLessThanOrEqualTo(pods).hasPositiveValue();
  }

  private void submit(String name, int pods, int completions, String annotations) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: %d
          completions: %d
          backoffLimit: 100
          template:
            metadata: {annotations: {%s}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, pods, completions, annotations));
  }

  private void awaitRunning(int pods) {
    await(pods + " pods")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(api.pods())
                    .filteredOn(pod -> !pod.at("/spec/nodeName").asText().isEmpty())
                    .hasSize(pods));
  }

  private void awaitRefusal(String job) {
    await("a pod of " + job + " is refused")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .v1()
                            .events()
                            .inNamespace(cluster.namespace())
                            .withField("involvedObject.name", job)
                            .list()
                            .getItems())
                    .anySatisfy(
                        event -> assertThat(event.getMessage()).contains("was admitted with")));
  }

  private boolean isEvictedAsExceeding(String workload) {
    return api.get(QueuedJobs.WORKLOAD, workload)
        .at("/status/schedulingStats/evictions")
        .toString()
        .contains("ExceedsAdmission");
  }

  @Test
  void aJobThatIsMadeLargerNeverRunsMore() {
    api.givenQueues(2);
    submit("growing", 1, 500, "sluice.dev/run-for: '60m'");
    awaitRunning(1);

    api.patch(JOB, "growing", "{'spec': {'parallelism': 200}}");

    api.awaitCondition(JOB, "growing", "Suspended", "True");
    assertNeverMoreThan(1);
  }

  @Test
  void aChildThatOutgrowsItsAncestorGetsNoPods() {
    String workload = SetOfOneJob.admitted(cluster, api);
    SetOfOneJob.makeChild(cluster, api, 50);

    awaitRunning(1);
    awaitRefusal(SetOfOneJob.CHILD);
    assertNeverMoreThan(1);
    assertThat(isEvictedAsExceeding(workload)).isFalse();
  }

  @Test
  void honestJobsReplaceTheirPods() {
    api.givenQueues(4);
    submit("replacing", 3, 9, "sluice.dev/run-for: '300ms'");
    submit("retrying", 1, 1, "sluice.dev/run-for: '60m'");
    String retrying = api.workloadOf(JOB, "retrying");
    api.awaitCondition(QueuedJobs.WORKLOAD, retrying, "Admitted", "True");
    await("a pod to fail")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(api.pods()).anyMatch(pod -> isRunning(pod, "retrying")));
    String failing =
        api.pods().stream()
            .filter(pod -> isRunning(pod, "retrying"))
            .map(pod -> pod.at("/metadata/name").asText())
            .findFirst()
            .orElseThrow();
    api.patchStatus(POD, failing, "{'status': {'phase': 'Failed'}}");
    await("its replacement")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(api.pods())
                    .anyMatch(
                        pod ->
                            isRunning(pod, "retrying")
                                && !pod.at("/metadata/name").asText().equals(failing)));

    api.awaitCondition(JOB, "replacing", "Complete", "True");
    assertNeverMoreThan(4);
    assertThat(isEvictedAsExceeding(retrying)).isFalse();
    api.endPodsUntilFinished(retrying);
  }

  private static boolean isRunning(JsonNode pod, String job) {
    return pod.at("/metadata/ownerReferences/0/name").asText().equals(job)
        && pod.at("/status/phase").asText().equals("Running");
  }

  @Test
  void gatesThatAreTakenOffLetNoPodRun() {
    api.givenQueues(2);
    submit("elastic", 2, 100, "sluice.dev/run-for: '60m'");
    awaitRunning(2);
    String owner = api.get(JOB, "elastic").at("/metadata/uid").asText();
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: sly
          ownerReferences:
          - {apiVersion: batch/v1, kind: Job, name: elastic, uid: %s, controller: true}
        spec:
          schedulingGates: [{name: example.com/mine}]
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(owner));

    assertThatThrownBy(() -> api.patch(POD, "sly", "{'spec': {'schedulingGates': null}}"))
        .hasMessageContaining("spec.schedulingGates")
        .hasMessageContaining("was admitted with");
    assertNeverMoreThan(2);
  }

  @Test
  void rolloutWithoutQuotaLetsNoPodRun() {
    api.givenQueues(2);
    cluster.applyText(
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: web, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          replicas: 3
          serviceName: web
          podManagementPolicy: Parallel
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              terminationGracePeriodSeconds: 1
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    awaitVersion("", 3);
    await("the first revision is noted")
        .atMost(LIMIT)
        .until(
            () ->
                !api.get("apps/v1/StatefulSet", "web")
                    .at("/status/currentRevision")
                    .asText()
                    .isEmpty());

    api.patch(
        "apps/v1/StatefulSet",
        "web",
        "{'spec':{'template':{'metadata':{'annotations':{'version':'2'}}}}}");

    awaitVersion("2", 1);
    assertThat(recorder.catchUp(LIMIT)).isTrue();
    assertThat(most).hasValue(0);
    api.setQuota(3);
    awaitVersion("2", 3);
    awaitRunning(3);
    assertNeverMoreThan(3);
  }

  private void awaitVersion(String version, int pods) {
    await("pods of version " + version)
        .atMost(LIMIT)
        .until(
            () ->
                api.pods().stream()
                        .filter(
                            pod ->
                                pod.at("/metadata/annotations/version").asText("").equals(version))
                        .count()
                    == pods);
  }
}
