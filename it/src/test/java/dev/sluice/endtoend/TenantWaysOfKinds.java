package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** The {@linkplain TenantWays ways} by kinds of jobs that aren't Kubernetes' own. */
final class TenantWaysOfKinds {

  /** The step at which a Workflow waits for quota. */
  private static final String HOLD = "[{name: hold, template: kube-queue-suspend}]";

  private TenantWaysOfKinds() {}

  private static String rayCluster(String workers) {
    return "{headGroupSpec: {template: %1$s}, workerGroupSpecs: [{groupName: w, %2$s, template: %1$s}]}"
        .formatted(TenantWays.TEMPLATE, workers);
  }

  static void growRayWorkers(Tenant tenant) {
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
    String cluster = Tenant.name(tenant.all("ray.io/v1/RayCluster").getFirst());
    JsonNode spec = tenant.find("ray.io/v1/RayCluster", cluster).orElseThrow().path("spec");
    tenant.patch(
        "ray.io/v1/RayCluster",
        cluster,
        """
        {'spec': {'workerGroupSpecs': [{'groupName': 'w', 'replicas': 50, 'minReplicas': 50,
          'maxReplicas': 50, 'template': %s}]}}
        """
            .formatted(spec.at("/workerGroupSpecs/0/template")));
  }

  static void raiseMinReplicas(Tenant tenant) {
    tenant.create(
        """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: ray, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: %s
        """
            .formatted(rayCluster("replicas: 1, minReplicas: 50, maxReplicas: 100")));
    TenantWays.awaitHeld(tenant, 1);
  }

  static void writeTypesOtherwise(Tenant tenant) {
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
            .formatted(TenantWays.TEMPLATE));
    tenant.create(
        """
        apiVersion: kubeflow.org/v1
        kind: TFJob
        metadata: {name: flow, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          tfReplicaSpecs:
            Worker: {replicas: 1, restartPolicy: Never, template: %1$s}
            ps: {replicas: 50, restartPolicy: Never, template: %1$s}
        """
            .formatted(TenantWays.TEMPLATE));
    tenant.create(TenantWays.job("beside", 1, ""));
    tenant.awaitRunning(1);
  }

  private static String spark(String name, String executor, String properties) {
    return """
    apiVersion: sparkoperator.k8s.io/v1beta2
    kind: SparkApplication
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
    spec:
      type: Scala
      sparkVersion: "4.0.0"
      image: none
      driver: {cores: 1, memory: 512m, annotations: {sluice.dev/run-for: 60m}}
      executor: {%s, annotations: {sluice.dev/run-for: 60m}}
      sparkConf: {%s}
    """
        .formatted(name, executor, properties);
  }

  static void configureSpark(Tenant tenant) {
    tenant.create(spark("count", "memory: 512m", "spark.executor.instances: '50'"));
    tenant.create(spark("memory", "instances: 1", "spark.executor.memory: 64g"));
    tenant.create(
        spark("driver", "instances: 1", "spark.driver.cores: '64'").replace("cores: 1, ", ""));
    TenantWays.awaitHeld(tenant, 3);
  }

  static void makeExecutor(Tenant tenant) {
    tenant.create(spark("app", "instances: 1, memory: 512m", ""));
    tenant.awaitRunning(2);
    String owner =
        "  ownerReferences: [{apiVersion: v1, kind: Pod, name: app-driver, uid: %s, controller: true}]\nspec:"
            .formatted(
                tenant
                    .find(TenantWays.POD, "app-driver")
                    .orElseThrow()
                    .at("/metadata/uid")
                    .asText());
    for (int i = 0; i < 5; i++) {
      String labels =
          ", spark-role: executor, spark-app-selector: spark-1, sparkoperator.k8s.io/app-name: app";
      tenant.create(TenantWays.pod("alone-" + i, labels, ""));
      tenant.create(TenantWays.pod("below-" + i, labels, "").replace("spec:", owner));
    }
  }

  private static String workflow(String name, String fields, String... steps) {
    return """
    apiVersion: argoproj.io/v1alpha1
    kind: Workflow
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
    spec:
      entrypoint: main
      %s
      templates:
      - name: main
        steps: [%s]
      - {name: kube-queue-suspend, suspend: {}}
      - name: work
        metadata: {annotations: {sluice.dev/run-for: 5s}}
        container: {image: none, resources: {requests: {cpu: "1"}}}
      - name: much
        metadata: {annotations: {sluice.dev/run-for: 60m}}
        container: {image: none, resources: {requests: {cpu: "64"}}}
    """
        .formatted(name, fields, String.join(", ", steps));
  }

  private static String step(String name) {
    return "[{name: %s, template: work}]".formatted(name);
  }

  /** Each requests more than one CPU at some time, by a field that isn't a container of a step. */
  static void hideInWorkflows(Tenant tenant) {
    String much = "{name: %s, image: none, resources: {requests: {cpu: '64'}}}";
    String patch =
        "'{\"containers\": [{\"name\": \"main\", \"%s\": {\"requests\": {\"cpu\": \"64\"}}}]}'";
    List<String> fields =
        List.of(
            "podSpecPatch: " + patch.formatted("\\u0072esources"),
            "podSpecPatch: '{{workflow.parameters.patch}}'\n  arguments: {parameters: [{name: patch, value: %s}]}"
                .formatted(patch.formatted("resources")),
            "templateDefaults: {podSpecPatch: %s}".formatted(patch.formatted("resources")),
            "templateDefaults: {sidecars: [%s]}".formatted(much.formatted("side")),
            "templateDefaults: {initContainers: [%s]}".formatted(much.formatted("first")),
            "templateDefaults: {daemon: true}",
            "onExit: much");
    for (int i = 0; i < fields.size(); i++) {
      tenant.create(workflow("flow-" + i, fields.get(i), HOLD, step("a"), step("b"), step("c")));
    }
    TenantWays.awaitHeld(tenant, fields.size());
  }

  static void changeWorkflow(Tenant tenant) {
    tenant.create(workflow("flow", "", HOLD, step("a"), step("b")));
    tenant.awaitRunning(1);
    tenant.merge(
        "argoproj.io/v1alpha1/Workflow",
        "flow",
        workflow("flow", "", HOLD, step("a"), step("b").replace("work", "much")));
    await()
        .atMost(TenantWays.LIMIT)
        .until(
            () ->
                tenant.pods().stream()
                    .noneMatch(
                        pod ->
                            Tenant.name(pod).equals("flow-a")
                                && pod.at("/status/phase").asText().equals("Running")));
  }

  static void saveInWorkflow(Tenant tenant) {
    tenant.create(
        workflow("flow", "", HOLD, step("a").replace("work", "much"))
            .replace("labels:", "annotations: {kube-queue/min-resources: 'cpu: 1'}, labels:"));
    await()
        .atMost(TenantWays.LIMIT)
        .until(() -> tenant.all(TenantWays.WORKLOAD).toString().contains("\"Admitted\""));
  }

  /** The kind has no status subresource: who may edit it says that it has ended. */
  static void endWorkflow(Tenant tenant) {
    saveInWorkflow(tenant);
    tenant.patch("argoproj.io/v1alpha1/Workflow", "flow", "{'status': {'phase': 'Succeeded'}}");
  }

  /** Components whose pods are more than their pod sets say. */
  static void misdeclareComponents(Tenant tenant) {
    String replicaSet =
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: set, labels: {app: a}}, spec:"
            + " {replicas: 50,"
            + " selector: {matchLabels: {app: a}}, template: %s}}"
                .formatted(
                    TenantWays.TEMPLATE
                        .replace("metadata: {", "metadata: {labels: {app: a}, ")
                        .replace("Never", "Always"));
    String job =
        "{apiVersion: batch/v1, kind: Job, metadata: {name: many}, spec: {parallelism: 50,"
            + " completions: 50,"
            + " template: %s}}".formatted(TenantWays.TEMPLATE);
    List<String> components =
        List.of(
            "template: " + replicaSet,
            "podSets: [{replicas: 1, path: template.spec.template}]\n    template: " + replicaSet,
            "podSets: [{replicas: 1, path: template.spec.template}]\n    template: " + job,
            "podSets: [{replicas: 50, path: template.metadata.nowhere}]\n    template: " + job);
    for (int i = 0; i < components.size(); i++) {
      assertThat(
              tenant.create(
                  """
                  apiVersion: workload.codeflare.dev/v1beta2
                  kind: AppWrapper
                  metadata: {name: wrapper-%d, labels: {kueue.x-k8s.io/queue-name: lq}}
                  spec:
                    components:
                    - %s
                  """
                      .formatted(i, components.get(i))))
          .contains("spec.components[0].podSets");
    }
  }
}
