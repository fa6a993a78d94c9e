package dev.sluice.endtoend;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What a tenant does to run more than the two CPUs of the queue {@code lq}, one way each
 * (docs/security.md#cluster-users-in-a-namespace). Each begins with a job that is admitted, where
 * there has to be one, so that a step that does nothing fails. Answers don't matter: whether a step
 * was refused, or what it led to was stopped, is the operator's choice.
 */
final class TenantSteps {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String JOB = "batch/v1/Job";
  private static final String POD = "v1/Pod";

  private static final String TEMPLATE =
      """
      {metadata: {annotations: {sluice.dev/run-for: 60m}}, spec: {restartPolicy: Never,
       terminationGracePeriodSeconds: 1,
       containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]}}\
      """
          .replace("\n", "");

  private TenantSteps() {}

  /** The steps by name. */
  static Map<String, Consumer<Tenant>> all() {
    Map<String, Consumer<Tenant>> steps = new LinkedHashMap<>();
    steps.put("elastic-gates", TenantSteps::takeGatesOff);
    steps.put("elastic-labels", TenantSteps::relabelElastic);
    steps.put("resize-grandchild", TenantSteps::resizeBelowJobSet);
    steps.put("resize-group-name", TenantSteps::resizeWithGroupName);
    steps.put("resize-no-owner", TenantSteps::resizeWithoutOwner);
    steps.put("child-job", TenantSteps::growChildJob);
    steps.put("ray-workers", TenantSteps::growRayWorkers);
    steps.put("ray-min-replicas", TenantSteps::raiseMinReplicas);
    steps.put("replica-types", TenantSteps::writeTypesOtherwise);
    steps.put("executor", TenantSteps::makeExecutor);
    steps.put("managed-label", TenantSteps::takeManagedOff);
    steps.put("suspending-parent", TenantSteps::makeUpParents);
    steps.put("parallelism", TenantSteps::growJob);
    steps.put("orphans", TenantSteps::orphanPods);
    steps.put("let-go", TenantSteps::letPodsGo);
    steps.put("amounts", TenantSteps::writeAmountsOtherwise);
    return steps;
  }

  /** A Job that runs until somebody stops it. */
  private static String job(String name, int pods, String annotations) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {%s}}
    spec: {parallelism: %d, completions: 1000, template: %s}
    """
        .formatted(name, annotations, pods, TEMPLATE);
  }

  private static String pod(String name, String labels, String annotations) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq%s}
      annotations: {sluice.dev/run-for: 60m%s}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, labels, annotations);
  }

  private static String jobSet() {
    return """
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: lq}}
    spec:
      replicatedJobs:
      - name: main
        template: {spec: {parallelism: 1, completions: 1000, template: %s}}
    """
        .formatted(TEMPLATE);
  }

  private static void takeGatesOff(Tenant tenant) {
    tenant.create(job("elastic", 2, "kueue.x-k8s.io/elastic-job: 'true'"));
    tenant.awaitRunning(2);
    tenant.patch(JOB, "elastic", "{'spec': {'parallelism': 20}}");
    await().atMost(LIMIT).until(() -> tenant.pods().size() >= 20);
    for (JsonNode pod : tenant.pods()) {
      tenant.patch(POD, Tenant.name(pod), "{'spec': {'schedulingGates': null}}");
    }
  }

  private static void relabelElastic(Tenant tenant) {
    tenant.create(job("elastic", 2, "kueue.x-k8s.io/elastic-job: 'true'"));
    for (JsonNode pod : tenant.awaitRunning(2)) {
      for (String label :
          List.of(
              "kueue.x-k8s.io/podset",
              "batch.kubernetes.io/job-name",
              "batch.kubernetes.io/controller-uid")) {
        tenant.patch(
            POD, Tenant.name(pod), "{'metadata': {'labels': {'%s': 'other'}}}".formatted(label));
      }
    }
  }

  private static JsonNode resizable(Tenant tenant) {
    JsonNode pod = tenant.awaitRunning(1).getFirst();
    tenant.reportResources(pod);
    return pod;
  }

  private static void resizeBelowJobSet(Tenant tenant) {
    tenant.create(jobSet());
    tenant.resize(resizable(tenant), 64);
  }

  private static void resizeWithGroupName(Tenant tenant) {
    tenant.create(pod("small", "", ""));
    JsonNode small = resizable(tenant);
    tenant.create(
        pod(
                "large",
                ", kueue.x-k8s.io/pod-group-name: large",
                ", kueue.x-k8s.io/pod-group-total-count: '1'")
            .replace("cpu: \"1\"", "cpu: \"8\""));
    await()
        .atMost(LIMIT)
        .until(() -> tenant.find("kueue.x-k8s.io/v1beta2/Workload", "large").isPresent());
    tenant.patch(
        POD,
        "small",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/pod-group-name': 'large'},"
            + " 'labels': {'kueue.x-k8s.io/pod-group-name': 'large'}}}");
    tenant.patch(
        POD, "small", "{'metadata': {'annotations': {'kueue.x-k8s.io/pod-group-name': 'large'}}}");
    tenant.resize(small, 8);
  }

  private static void resizeWithoutOwner(Tenant tenant) {
    tenant.create(job("sized", 1, ""));
    JsonNode pod = resizable(tenant);
    tenant.patch(POD, Tenant.name(pod), "{'metadata': {'ownerReferences': null}}");
    tenant.resize(pod, 64);
  }

  private static void growChildJob(Tenant tenant) {
    tenant.create(jobSet());
    tenant.awaitRunning(1);
    tenant.patch(JOB, "set-main-0", "{'metadata': {'ownerReferences': null}}");
    tenant.patch(JOB, "set-main-0", "{'spec': {'parallelism': 50}}");
  }

  private static String rayCluster(String workers) {
    return "{headGroupSpec: {template: %1$s}, workerGroupSpecs: [{groupName: w, %2$s, template: %1$s}]}"
        .formatted(TEMPLATE, workers);
  }

  private static void growRayWorkers(Tenant tenant) {
    tenant.create(
        """
        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: ray, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          entrypoint: none
          submissionMode: HTTPMode
          shutdownAfterJobFinishes: true
          rayClusterSpec: %s
        """
            .formatted(rayCluster("replicas: 1, minReplicas: 1, maxReplicas: 50")));
    tenant.awaitRunning(2);
    String grown =
        "[{'groupName': 'w', 'replicas': 50, 'minReplicas': 50, 'maxReplicas': 50, 'template': %s}]";
    String cluster = Tenant.name(tenant.all("ray.io/v1/RayCluster").getFirst());
    JsonNode spec = tenant.find("ray.io/v1/RayCluster", cluster).orElseThrow().path("spec");
    tenant.patch(
        "ray.io/v1/RayCluster",
        cluster,
        "{'spec': {'workerGroupSpecs': %s}}"
            .formatted(grown.formatted(spec.at("/workerGroupSpecs/0/template"))));
  }

  private static void raiseMinReplicas(Tenant tenant) {
    tenant.create(
        """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: ray, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: %s
        """
            .formatted(rayCluster("replicas: 1, minReplicas: 50, maxReplicas: 100")));
    // The queue holds it; a pod of it would run within seconds otherwise.
    await().atMost(LIMIT).until(() -> !tenant.all("kueue.x-k8s.io/v1beta2/Workload").isEmpty());
  }

  private static void writeTypesOtherwise(Tenant tenant) {
    tenant.create(
        """
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: torch, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          pytorchReplicaSpecs:
            Master: {replicas: 1, restartPolicy: Never, template: %1$s}
            worker: {replicas: 50, restartPolicy: Never, template: %1$s}
        """
            .formatted(TEMPLATE));
    tenant.create(job("beside", 1, ""));
    tenant.awaitRunning(1);
  }

  private static void makeExecutor(Tenant tenant) {
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
    for (int i = 0; i < 5; i++) {
      tenant.create(
          pod(
              "exec-" + i,
              ", spark-role: executor, spark-app-selector: spark-1,"
                  + " sparkoperator.k8s.io/app-name: app",
              ""));
    }
  }

  private static void takeManagedOff(Tenant tenant) {
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
    tenant.create(pod("sly", "", ""));
    tenant.patch(
        POD,
        "sly",
        "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null, 'kueue.x-k8s.io/queue-name':"
            + " null}}, 'spec': {'schedulingGates': null}}");
    tenant.patch(POD, "sly", "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null}}}");
    tenant.patch(POD, "sly", "{'spec': {'schedulingGates': null}}");
  }

  private static void makeUpParents(Tenant tenant) {
    tenant.create(job("beside", 1, ""));
    tenant.awaitRunning(1);
    for (int i = 0; i < 7; i++) {
      tenant.create(
          pod(
              "member-" + i,
              ", kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/pod-group-name: one",
              ", kueue.x-k8s.io/pod-group-total-count: '1',"
                  + " kueue.x-k8s.io/pod-suspending-parent: statefulset"));
      for (String parent : List.of("job", "statefulset", "made-up")) {
        tenant.create(
            pod(
                "alone-" + parent + "-" + i,
                ", kueue.x-k8s.io/managed: 'true'",
                ", kueue.x-k8s.io/pod-suspending-parent: " + parent));
      }
    }
    tenant.awaitRunning(2);
  }

  private static void growJob(Tenant tenant) {
    tenant.create(job("growing", 1, ""));
    tenant.awaitRunning(1);
    tenant.patch(JOB, "growing", "{'spec': {'parallelism': 50}}");
  }

  private static void orphanPods(Tenant tenant) {
    for (int i = 0; i < 3; i++) {
      tenant.create(job("left-" + i, 2, ""));
    }
    tenant.awaitRunning(2);
    for (int i = 0; i < 3; i++) {
      tenant.delete(JOB, "left-" + i, DeletionPropagation.ORPHAN, 0);
    }
    tenant.create(job("next", 2, ""));
  }

  private static void letPodsGo(Tenant tenant) {
    tenant.create(job("letting-go", 2, ""));
    for (JsonNode pod : tenant.awaitRunning(2)) {
      tenant.patch(
          POD,
          Tenant.name(pod),
          "{'metadata': {'labels': {'batch.kubernetes.io/controller-uid': 'x',"
              + " 'controller-uid': 'x'}}}");
    }
  }

  private static void writeAmountsOtherwise(Tenant tenant) {
    tenant.create(
        """
        apiVersion: v1
        kind: LimitRange
        metadata: {name: small}
        spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}
        """);
    tenant.create(job("limits", 3, "").replace("requests:", "limits:"));
    tenant.create(
        job("whole", 1, "")
            .replace("terminationGrace", "resources: {requests: {cpu: 100m}}, terminationGrace"));
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
  }
}
