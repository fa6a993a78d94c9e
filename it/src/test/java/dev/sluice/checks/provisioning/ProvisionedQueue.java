package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.awaitility.core.ThrowingRunnable;

/**
 * A queue with a provisioning check in a test's namespace, and the autoscaler behind it: the test
 * says how requests are answered.
 */
public final class ProvisionedQueue {

  /** The kind of requests. */
  public static final String REQUEST = "autoscaling.x-k8s.io/v1/ProvisioningRequest";

  static final String CHECK = "kueue.x-k8s.io/v1beta2/AdmissionCheck";
  static final String JOB = "batch/v1/Job";
  private static final String DEFINITION = "provisioningrequests.yaml";
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final TestCluster cluster;
  private final QueuedJobs jobs;

  /** In the namespace of a test. */
  public ProvisionedQueue(TestCluster cluster) {
    this.cluster = cluster;
    this.jobs = new QueuedJobs(cluster);
  }

  QueuedJobs jobs() {
    return jobs;
  }

  /** Has the API server serve ProvisioningRequests from now on. */
  public static void install(KubernetesClient client) {
    try (InputStream in = ProvisionedQueue.class.getResourceAsStream(DEFINITION)) {
      client.load(in).items().forEach(it -> client.resource(it).serverSideApply());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void uninstall(KubernetesClient client) {
    try (InputStream in = ProvisionedQueue.class.getResourceAsStream(DEFINITION)) {
      client.load(in).items().forEach(it -> client.resource(it).delete());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Applies a configuration with these further fields of its spec, and a check that names it. */
  ProvisionedQueue withCheck(String fields) {
    withConfig(fields);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "nodes-${suffix}"}
        spec:
          controllerName: kueue.x-k8s.io/provisioning-request
          parameters:
            {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: "nodes-${suffix}"}
        """);
    return this;
  }

  /** Applies the configuration with these further fields of its spec. */
  void withConfig(String fields) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ProvisioningRequestConfig
        metadata: {name: "nodes-${suffix}"}
        spec:
          provisioningClassName: check-capacity.autoscaling.x-k8s.io
        """
            + fields.indent(2));
  }

  /** Applies the flavor and the queues; the ClusterQueue requires the check. */
  ProvisionedQueue withQueues() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "grown-${suffix}"}
        spec:
          nodeLabels: {pool: "grown-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          admissionChecksStrategy: {admissionChecks: [{name: "nodes-${suffix}"}]}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "grown-${suffix}"
              resources: [{name: cpu, nominalQuota: "10"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    return this;
  }

  /** Has the ClusterQueue require another check, too, whose states the test writes. */
  void withCheckOfTheTest() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "other-${suffix}"}
        spec: {controllerName: test}
        """);
    cluster
        .client()
        .genericKubernetesResources(CHECK.substring(0, CHECK.lastIndexOf('/')), "AdmissionCheck")
        .withName(cluster.name("other"))
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Test",
              "message": "", "lastTransitionTime": "2026-03-01T10:00:00Z"}]}}
            """);
    patchQueue(
        "{'admissionChecksStrategy': {'admissionChecks': [{'name': '%s'}, {'name': '%s'}]}}"
            .formatted(cluster.name("nodes"), cluster.name("other")));
  }

  /** The test's check of a Workload is Ready. */
  void answerCheckOfTheTest(String workload) {
    JsonNode checks = jobs.get(QueuedJobs.WORKLOAD, workload).at("/status/admissionChecks");
    ((ObjectNode) checks.get(1)).put("state", "Ready");
    jobs.patchStatus(
        QueuedJobs.WORKLOAD, workload, "{'status': {'admissionChecks': %s}}".formatted(checks));
  }

  /** Replaces the flavor of the ClusterQueue by one without labels of nodes. */
  void withOtherFlavor() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "steady-${suffix}"}
        """);
    patchQueue(
        "{'resourceGroups': [{'coveredResources': ['cpu'], 'flavors': [{'name': '%s',"
                .formatted(cluster.name("steady"))
            + " 'resources': [{'name': 'cpu', 'nominalQuota': '10'}]}]}]}");
  }

  /** Sets the stop policy of the ClusterQueue. */
  void stop(String policy) {
    patchQueue("{'stopPolicy': '%s'}".formatted(policy));
  }

  private void patchQueue(String spec) {
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(cluster.name("cq"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": %s}".formatted(spec.replace('\'', '"')));
  }

  /** Submits a Job of two pods, and returns the name of its Workload. */
  String submit(String job, String annotations) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {%s}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, annotations));
    return jobs.workloadOf(JOB, job);
  }

  /** The name of the request of an attempt. */
  String request(String workload, int attempt) {
    return workload + "-" + cluster.name("nodes") + "-" + attempt;
  }

  /** Awaits the request of an attempt, and returns it. */
  JsonNode awaitRequest(String workload, int attempt) {
    String name = request(workload, attempt);
    return await("request " + name)
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> jobs.find(REQUEST, name), Optional::isPresent)
        .orElseThrow();
  }

  /** The autoscaler sets a condition of a request, and nothing else. */
  void answer(String request, String condition, String message) {
    answer(request, condition, message, "{}");
  }

  /** The same with details of the class, written with single quotes. */
  void answer(String request, String condition, String message, String details) {
    jobs.patchStatus(
        REQUEST,
        request,
        ("{'status': {'conditions': [{'type': '%s', 'status': 'True', 'reason': 'Played',"
                + " 'message': '%s', 'lastTransitionTime': '2026-03-01T10:00:00Z'}],"
                + " 'provisioningClassDetails': %s}}")
            .formatted(condition, message, details));
  }

  /** The state of the check of a Workload. */
  JsonNode check(String workload) {
    return jobs.get(QueuedJobs.WORKLOAD, workload).at("/status/admissionChecks/0");
  }

  /** Awaits a state of the check, with a message that contains this text. */
  void awaitCheck(String workload, String state, String message) {
    eventually(
        () -> {
          JsonNode check = check(workload);
          assertThat(check.path("state").asText()).as(check.toString()).isEqualTo(state);
          assertThat(check.path("message").asText()).contains(message);
        });
  }

  /** Awaits status, reason and a part of the message of the condition Active of the check. */
  void awaitActive(String status, String reason, String message) {
    eventually(
        () -> {
          JsonNode active =
              tree(cluster
                      .client()
                      .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "AdmissionCheck")
                      .withName(cluster.name("nodes"))
                      .get())
                  .at("/status/conditions/0");
          assertThat(active.path("status").asText() + " " + active.path("reason").asText())
              .isEqualTo(status + " " + reason);
          assertThat(active.path("message").asText()).contains(message);
        });
  }

  private JsonNode tree(GenericKubernetesResource object) {
    return cluster.client().getKubernetesSerialization().convertValue(object, JsonNode.class);
  }

  /** The reasons of all events about an object. */
  List<String> events(String name) {
    return cluster.events().stream()
        .filter(event -> name.equals(event.getRegarding().getName()))
        .map(Event::getReason)
        .toList();
  }

  /** Awaits that assertions hold. */
  static void eventually(ThrowingRunnable assertions) {
    await()
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class) // not there yet
        .untilAsserted(assertions);
  }
}
