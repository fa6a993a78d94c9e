package dev.sluice.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A kind that nobody here knows is queued, from the moment that a JobKind declares it. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
class DeclaredKindsIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  @Test
  void aDeclaredKindIsQueued(TestCluster cluster) {
    define(cluster);
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess operator =
        OperatorProcess.start(
                "declared",
                cluster.kubeconfig(),
                settings,
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      // Until then the API server may ask the operator of another test.
      await("the webhooks").atMost(LIMIT).untilAsserted(() -> refuses(cluster));
      createQueue(cluster);
      submit(cluster, "before", 1);
      assertThat(flow(cluster, "before").at("/spec/suspend").asBoolean(false)).isFalse();

      declare(cluster);
      await("the kind")
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                JsonNode active = jobKind(cluster).at("/status/conditions/0");
                assertThat(active.path("reason").asText()).isEqualTo("Active");
                assertThat(active.path("status").asText()).isEqualTo("True");
              });
      await("the webhooks").atMost(LIMIT).ignoreExceptions().until(() -> triedIsSuspended(cluster));
      assertThat(operator.isAlive()).isTrue();
      await("quota for the one that was there before")
          .atMost(LIMIT)
          .until(
              () ->
                  condition(workload(cluster, "before"), "Admitted")
                      .path("status")
                      .asText()
                      .equals("True"));
      delete(cluster, "before");

      assertThatThrownBy(() -> submit(cluster, "uncounted", -1))
          .hasMessageContaining("spec.workers[0].replicas")
          .hasMessageContaining("must be a whole number of at least 0");
      jobsAreQueuedStoppedAndFinished(cluster);
      anElasticJobGrowsWhileItRuns(cluster);
      delete(cluster, "growing");
      podsGoWhereTheirIndexSays(cluster);

      cluster
          .client()
          .genericKubernetesResources("sluice.dev/v1alpha1", "JobKind")
          .withName(definition(cluster))
          .delete();
      await("the kind to be left alone")
          .atMost(LIMIT)
          .ignoreExceptions()
          .until(() -> !triedIsSuspended(cluster));
      assertThat(operator.stop()).isTrue();
    }
  }

  /** The example of the page is compiled as it stands there, and knows a kind of this group. */
  @Test
  void aKindOfAJarIsQueued(TestCluster cluster, @TempDir Path directory) throws IOException {
    define(cluster);
    Path kinds = jar(cluster, directory);
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess operator =
        OperatorProcess.start(
                "provided",
                cluster.kubeconfig(),
                settings,
                Path.of("target", "operators"),
                List.of("--job-kinds", kinds.toString()))
            .awaitReady()) {
      await("the webhooks").atMost(LIMIT).ignoreExceptions().until(() -> triedIsSuspended(cluster));
      createQueue(cluster);
      jobsAreQueuedStoppedAndFinished(cluster);

      declare(cluster);
      await("a declaration of the same kind to be refused")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(jobKind(cluster).at("/status/conditions/0/message").asText())
                      .contains("jobs of this kind")
                      .contains("are queued without it"));
      assertThat(operator.stop()).isTrue();
    }
  }

  /** Of three CPUs a driver takes one, and each of two learners another one. */
  private static void jobsAreQueuedStoppedAndFinished(TestCluster cluster) {
    submit(cluster, "first", 2);
    awaitStarted(cluster, "first", true);
    JsonNode workload = workload(cluster, "first");
    assertThat(workload.at("/spec/podSets")).hasSize(2);
    assertThat(workload.at("/spec/podSets/1/name").asText()).isEqualTo("learner");
    assertThat(workload.at("/spec/podSets/1/count").asInt()).isEqualTo(2);
    assertThat(
            flow(cluster, "first").at("/spec/workers/0/template/spec/nodeSelector/pool").asText())
        .isEqualTo("gold");

    submit(cluster, "second", 2);
    await("the second's Workload")
        .atMost(LIMIT)
        .until(() -> workload(cluster, "second").at("/status/conditions/0").isObject());
    assertThat(flow(cluster, "second").at("/spec/suspend").asBoolean()).isTrue();

    status(cluster, "first", "{\"status\": {\"active\": 3}}");
    deactivate(cluster, "first");
    awaitStarted(cluster, "first", false);
    await("its template as it was")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(flow(cluster, "first").at("/spec/workers/0/template/spec/nodeSelector"))
                    .isEmpty());
    // Its pods run still, so that its quota isn't free.
    assertThat(flow(cluster, "second").at("/spec/suspend").asBoolean()).isTrue();
    status(cluster, "first", "{\"status\": {\"active\": 0}}");
    awaitStarted(cluster, "second", true);

    status(
        cluster,
        "second",
        "{'status': {'conditions': [{'type': 'Complete', 'status': 'True', 'message': 'all done'}]}}");
    await("the end")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode finished = condition(workload(cluster, "second"), "Finished");
              assertThat(finished.path("reason").asText()).isEqualTo("Succeeded");
              assertThat(finished.path("message").asText()).isEqualTo("all done");
            });
  }

  /** A directory with a jar of the page's class. */
  private static Path jar(TestCluster cluster, Path directory) throws IOException {
    String page = Files.readString(Path.of("docs", "kinds-in-java.md"));
    int begin = page.indexOf("```java\n") + "```java\n".length();
    String source = page.substring(begin, page.indexOf("```", begin));
    assertThat(source).contains("(\"example.org\"");
    Path file = directory.resolve("FlowKind.java");
    Files.writeString(file, source.replace("(\"example.org\"", "(\"" + group(cluster) + "\""));
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                said,
                said,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                directory.toString(),
                file.toString());
    assertThat(code).as(said.toString(UTF_8)).isZero();
    Path kinds = Files.createDirectory(directory.resolve("kinds"));
    try (JarOutputStream jar =
        new JarOutputStream(Files.newOutputStream(kinds.resolve("flows.jar")))) {
      jar.putNextEntry(new JarEntry("META-INF/services/dev.sluice.jobs.kind.JobIntegration"));
      jar.write("org.example.flows.FlowKind\n".getBytes(UTF_8));
      jar.putNextEntry(new JarEntry("org/example/flows/FlowKind.class"));
      Files.copy(directory.resolve("org/example/flows/FlowKind.class"), jar);
    }
    return kinds;
  }

  /** Of three CPUs the driver takes one, and each learner another one. */
  private static void anElasticJobGrowsWhileItRuns(TestCluster cluster) {
    cluster.applyText(
        manifest(cluster, "growing", 1)
            .replace(
                "  labels:", "  annotations: {kueue.x-k8s.io/elastic-job: \"true\"}\n  labels:"));
    awaitStarted(cluster, "growing", true);
    assertThat(
            flow(cluster, "growing")
                .at("/spec/driver/template/spec/schedulingGates")
                .isMissingNode())
        .isTrue();
    status(cluster, "growing", "{'status': {'active': 2}}");
    learner(cluster, 0);
    awaitGate(cluster, 0);

    resize(cluster, 2);
    learner(cluster, 1);
    awaitGate(cluster, 1);

    resize(cluster, 3);
    learner(cluster, 2);
    await("the slice that has no quota")
        .atMost(LIMIT)
        .until(
            () ->
                workloads(cluster, "growing")
                    .anyMatch(
                        each ->
                            condition(each, "QuotaReserved").path("status").asText().equals("False")
                                && each.at("/spec/podSets/1/count").asInt() == 3));
    assertThat(gates(cluster, 2)).isEqualTo(1);
    assertThat(flow(cluster, "growing").at("/spec/suspend").asBoolean()).isFalse();
  }

  /** The label that the kind names tells the rank of a pod, whatever its name and its age are. */
  private static void podsGoWhereTheirIndexSays(TestCluster cluster) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("shelf"), 2)
            .withCapacity("cpu", "2")
            .withLabel("example.org/shelf", cluster.name("shelf")));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: "shelves-${suffix}"}
        spec: {levels: [{nodeLabel: example.org/shelf}, {nodeLabel: kubernetes.io/hostname}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "shelved-${suffix}"}
        spec:
          nodeLabels: {example.org/shelf: "shelf-${suffix}"}
          topologyName: "shelves-${suffix}"
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "ranked-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "shelved-${suffix}", resources: [{name: cpu, nominalQuota: 4}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: ranked}
        spec: {clusterQueue: "ranked-${suffix}"}
        """);
    cluster.applyText(
        manifest(cluster, "ranked", 3)
            .replace("queue-name: flows", "queue-name: ranked")
            .replace(
                "replicas: 3\n    template:",
                "replicas: 3\n    template:\n      metadata:\n        annotations:"
                    + " {kueue.x-k8s.io/podset-required-topology: example.org/shelf}"));
    awaitStarted(cluster, "ranked", true);
    List<String> places = places(cluster, "ranked");
    assertThat(places).hasSize(3);
    assertThat(Set.copyOf(places)).as("one has room for the driver, too").hasSize(2);

    for (int index = 2; index >= 0; index--) {
      pod(cluster, "ranked", "ranked-" + (9 - index), index);
    }
    for (int index = 0; index < 3; index++) {
      String name = "ranked-" + (9 - index);
      String place = places.get(index);
      await("the place of index " + index)
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .pods()
                              .inNamespace(cluster.namespace())
                              .withName(name)
                              .require()
                              .getSpec()
                              .getNodeSelector())
                      .containsEntry("kubernetes.io/hostname", place));
    }
    delete(cluster, "ranked");
  }

  /** The node of each learner, by its rank: as many in each domain as were assigned to it. */
  private static List<String> places(TestCluster cluster, String flow) {
    List<String> places = new ArrayList<>();
    JsonNode older =
        JSON.valueToTree(
            cluster
                .client()
                .genericKubernetesResources("kueue.x-k8s.io/v1beta1", "Workload")
                .inNamespace(cluster.namespace())
                .withName(workload(cluster, flow).at("/metadata/name").asText())
                .require());
    for (JsonNode domain :
        older.at("/status/admission/podSetAssignments/1/topologyAssignment/domains")) {
      JsonNode values = domain.path("values");
      for (int i = 0; i < domain.path("count").asInt(); i++) {
        places.add(values.get(values.size() - 1).asText());
      }
    }
    return places;
  }

  /** What the kind's own controller would do: a pod of the template, with the name of its job. */
  private static void learner(TestCluster cluster, int index) {
    pod(cluster, "growing", "learner-" + index, index);
  }

  private static void pod(TestCluster cluster, String flow, String name, int index) {
    JsonNode template = flow(cluster, flow).at("/spec/workers/0/template");
    ObjectNode pod = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Pod");
    pod.set("spec", template.path("spec").deepCopy());
    ObjectNode metadata = template.path("metadata").deepCopy();
    pod.set("metadata", metadata);
    metadata.put("name", name).put("namespace", cluster.namespace());
    ObjectNode labels = metadata.withObjectProperty("labels");
    labels.put("example.org/flow-name", flow).put("example.org/replica-index", "" + index);
    cluster.applyText(pod.toString());
  }

  private static int gates(TestCluster cluster, int learner) {
    return cluster
        .client()
        .pods()
        .inNamespace(cluster.namespace())
        .withName("learner-" + learner)
        .get()
        .getSpec()
        .getSchedulingGates()
        .size();
  }

  private static void awaitGate(TestCluster cluster, int learner) {
    await("the gate of learner " + learner).atMost(LIMIT).until(() -> gates(cluster, learner) == 0);
  }

  private static void resize(TestCluster cluster, int learners) {
    ObjectNode whole = (ObjectNode) flow(cluster, "growing");
    ((ObjectNode) whole.at("/spec/workers/0")).put("replicas", learners);
    ObjectNode patch = JSON.createObjectNode();
    patch.putObject("spec").set("workers", whole.at("/spec/workers"));
    cluster
        .client()
        .genericKubernetesResources(group(cluster) + "/v1", "Flow")
        .inNamespace(cluster.namespace())
        .withName("growing")
        .patch(MERGE, patch.toString());
  }

  private static String definition(TestCluster cluster) {
    return "flows." + cluster.name("declared") + ".example.org";
  }

  private static String group(TestCluster cluster) {
    return cluster.name("declared") + ".example.org";
  }

  private static void define(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: %s}
        spec:
          group: %s
          scope: Namespaced
          names: {kind: Flow, plural: flows, singular: flow, listKind: FlowList}
          versions:
          - name: v1
            served: true
            storage: true
            subresources: {status: {}}
            schema:
              openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """
            .formatted(definition(cluster), group(cluster)));
  }

  private static void declare(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: JobKind
        metadata: {name: %s}
        spec:
          version: v1
          kind: Flow
          podLabel: example.org/flow-name
          podSets:
          - {name: driver, template: .spec.driver.template}
          - {forEach: .spec.workers, nameField: .role, template: .template, count: .replicas,
             indexLabel: example.org/replica-index}
          status:
            running: [{field: .status.active}]
            succeeded: [{condition: Complete}]
            failed: [{condition: Failed}]
        """
            .formatted(definition(cluster)));
  }

  /** What is wrong is told with field and value, by the schema or by the webhook. */
  private static void refuses(TestCluster cluster) {
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: JobKind
                    metadata: {name: flows.example.org}
                    spec:
                      version: v1
                      kind: Flow
                      podSets: [{name: main, template: "spec.template"}]
                      status: {running: [{field: .a}], succeeded: [{field: .b}], failed: [{field: .c}]}
                    """))
        .hasMessageContaining("spec.podSets[0].template")
        .hasMessageContaining("spec.template")
        .hasMessageContaining("must be a dot and the name of a field");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: JobKind
                    metadata: {name: flows.example.org}
                    spec:
                      version: v1
                      kind: Flow
                      podSets: [{name: main, forEach: .spec.all, template: .template}]
                      status: {running: [{field: .a}], succeeded: [{field: .b}], failed: [{field: .c}]}
                    """))
        .hasMessageContaining("either name or forEach");
  }

  private static void createQueue(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "gold-${suffix}"}
        spec: {nodeLabels: {pool: gold}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "flows-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "gold-${suffix}", resources: [{name: cpu, nominalQuota: 3}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: flows}
        spec: {clusterQueue: "flows-${suffix}"}
        """);
  }

  private static String manifest(TestCluster cluster, String name, int learners) {
    return """
        apiVersion: %s/v1
        kind: Flow
        metadata:
          name: %s
          namespace: %s
          labels: {kueue.x-k8s.io/queue-name: flows}
        spec:
          driver:
            template:
              spec: {containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]}
          workers:
          - role: learner
            replicas: %d
            template:
              spec: {containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]}
        """
        .formatted(group(cluster), name, cluster.namespace(), learners);
  }

  private static void submit(TestCluster cluster, String name, int learners) {
    cluster.applyText(manifest(cluster, name, learners));
  }

  /** The API server asks the webhooks as for a real creation, and creates nothing. */
  private static boolean triedIsSuspended(TestCluster cluster) {
    GenericKubernetesResource tried =
        cluster
            .client()
            .resource(
                cluster
                    .client()
                    .getKubernetesSerialization()
                    .unmarshal(manifest(cluster, "tried", 1), GenericKubernetesResource.class))
            .dryRun()
            .create();
    return JSON.<JsonNode>valueToTree(tried).at("/spec/suspend").asBoolean(false);
  }

  private static JsonNode flow(TestCluster cluster, String name) {
    return JSON.valueToTree(
        cluster
            .client()
            .genericKubernetesResources(group(cluster) + "/v1", "Flow")
            .inNamespace(cluster.namespace())
            .withName(name)
            .get());
  }

  private static void delete(TestCluster cluster, String name) {
    cluster
        .client()
        .genericKubernetesResources(group(cluster) + "/v1", "Flow")
        .inNamespace(cluster.namespace())
        .withName(name)
        .delete();
  }

  private static JsonNode jobKind(TestCluster cluster) {
    return JSON.valueToTree(
        cluster
            .client()
            .genericKubernetesResources("sluice.dev/v1alpha1", "JobKind")
            .withName(definition(cluster))
            .get());
  }

  private static JsonNode workload(TestCluster cluster, String flow) {
    return workloads(cluster, flow).findFirst().orElseGet(JSON::createObjectNode);
  }

  private static Stream<JsonNode> workloads(TestCluster cluster, String flow) {
    return cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .<JsonNode>map(each -> JSON.valueToTree(each))
        .filter(each -> each.at("/metadata/ownerReferences/0/name").asText().equals(flow));
  }

  private static JsonNode condition(JsonNode workload, String type) {
    for (JsonNode each : workload.at("/status/conditions")) {
      if (each.path("type").asText().equals(type)) {
        return each;
      }
    }
    return JSON.createObjectNode();
  }

  private static void awaitStarted(TestCluster cluster, String name, boolean started) {
    await(name + " to be " + (started ? "started" : "stopped"))
        .atMost(LIMIT)
        .until(() -> flow(cluster, name).at("/spec/suspend").asBoolean(false) != started);
  }

  /** What the kind's own controller would write. */
  private static void status(TestCluster cluster, String name, String yaml) {
    var flow =
        cluster
            .client()
            .genericKubernetesResources(group(cluster) + "/v1", "Flow")
            .inNamespace(cluster.namespace())
            .withName(name);
    flow.subresource("status").patch(MERGE, yaml.replace("'", "\""));
  }

  private static void deactivate(TestCluster cluster, String name) {
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .withName(workload(cluster, name).at("/metadata/name").asText())
        .patch(MERGE, "{\"spec\": {\"active\": false}}");
  }
}
