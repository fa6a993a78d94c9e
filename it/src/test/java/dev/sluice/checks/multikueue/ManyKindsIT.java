package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.AnyFields.define;
import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jobs of other kinds than batch/v1 in a manager and two workers, one of which serves only some of
 * them. The test plays the controllers of these kinds: it makes their Workloads, and writes their
 * statuses.
 */
@MultiClusterTest
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class ManyKindsIT {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final ObjectMapper mapper = new ObjectMapper();

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  private KubernetesClient manager() {
    return clusters.manager();
  }

  private KubernetesClient onsite() {
    return clusters.worker("onsite");
  }

  /** A job, and the Workload that its integration would make of it. */
  private Workload submit(String apiVersion, String kind, String name, String spec) {
    clusters.apply(
        manager(),
        """
        apiVersion: %s
        kind: %s
        metadata:
          name: %s
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis, team: a}
          annotations: {note: kept}
        spec: %s
        """
            .formatted(apiVersion, kind, name, spec));
    String uid = object(manager(), apiVersion, kind, name).getMetadata().getUid();
    clusters.apply(
        manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata:
          name: %3$s
          namespace: ${namespace}
          finalizers: [kueue.x-k8s.io/resource-in-use]
          labels: {kueue.x-k8s.io/job-uid: "%4$s"}
          ownerReferences:
          - {apiVersion: %1$s, kind: %2$s, name: %3$s, uid: %4$s, controller: true}
        spec:
          queueName: analysis
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """
            .formatted(apiVersion, kind, name, uid));
    return workload(manager(), name);
  }

  private Workload workload(KubernetesClient client, String name) {
    return client
        .resources(Workload.class)
        .inNamespace(clusters.namespace())
        .withName(name)
        .require();
  }

  private GenericKubernetesResource object(
      KubernetesClient client, String apiVersion, String kind, String name) {
    return Objects.requireNonNull(find(client, apiVersion, kind, name), name);
  }

  private @Nullable GenericKubernetesResource find(
      KubernetesClient client, String apiVersion, String kind, String name) {
    return client
        .genericKubernetesResources(apiVersion, kind)
        .inNamespace(clusters.namespace())
        .withName(name)
        .get();
  }

  private JsonNode json(GenericKubernetesResource object) {
    return mapper.valueToTree(object);
  }

  private void awaitRunningIn(String worker, String apiVersion, String kind, String name) {
    eventually(
        () -> {
          assertThat(workload(manager(), name).getStatus()).isNotNull();
          assertThat(workload(manager(), name).getStatus().clusterName()).isEqualTo(worker);
          assertThat(find(clusters.worker(worker), apiVersion, kind, name)).isNotNull();
        });
  }

  private void status(
      KubernetesClient client, String apiVersion, String kind, String name, String status) {
    client
        .resource(object(client, apiVersion, kind, name))
        .subresource("status")
        .patch(MERGE, "{\"status\":" + status + "}");
  }

  private void awaitStatus(String apiVersion, String kind, String name, String status) {
    eventually(
        () ->
            assertThat(json(object(manager(), apiVersion, kind, name)).path("status"))
                .isEqualTo(mapper.readTree(status)));
  }

  private void awaitNothingLeft(String worker, String apiVersion, String kind, String name) {
    eventually(
        () -> {
          KubernetesClient client = clusters.worker(worker);
          assertThat(find(client, apiVersion, kind, name)).isNull();
          assertThat(
                  client
                      .resources(Workload.class)
                      .inNamespace(clusters.namespace())
                      .withName(name)
                      .get())
              .isNull();
        });
  }

  /** What a kind's controller in the worker does with the Workload that its job names. */
  private void adopt(KubernetesClient client, String apiVersion, String kind, String name) {
    String uid = object(client, apiVersion, kind, name).getMetadata().getUid();
    client
        .resource(workload(client, name))
        .patch(
            MERGE,
            """
            {"metadata": {"ownerReferences": [{"apiVersion": "%s", "kind": "%s", "name": "%s",
              "uid": "%s", "controller": true}]}}
            """
                .formatted(apiVersion, kind, name, uid));
  }

  private void finish(KubernetesClient client, String name) {
    JsonNode status = mapper.valueToTree(workload(client, name).getStatus());
    ArrayNode conditions = (ArrayNode) status.path("conditions").deepCopy();
    conditions
        .addObject()
        .put("type", "Finished")
        .put("status", "True")
        .put("reason", "Succeeded")
        .put("message", "all is done")
        .put("lastTransitionTime", "2026-03-01T12:00:00Z");
    client
        .resource(workload(client, name))
        .subresource("status")
        .patch(MERGE, "{\"status\":{\"conditions\":" + conditions + "}}");
  }

  /** A kind, how a job of it says that it is sent, and the field that suspends it. */
  private static Arguments row(
      String group, String version, String kind, String spec, String suspend) {
    return Arguments.of(group, version, kind, spec, suspend);
  }

  static List<Arguments> rows() {
    String managed = "managedBy: kueue.x-k8s.io/multikueue";
    String policy = "{runPolicy: {" + managed + "}}";
    Arguments jobSet =
        row("jobset.x-k8s.io", "v1alpha2", "JobSet", "{" + managed + "}", "/spec/suspend");
    Arguments rayService =
        row(
            "ray.io",
            "v1",
            "RayService",
            "{upgradeStrategy: {type: None}, rayClusterConfig: {"
                + managed
                + "}, serveConfigV2: old}",
            "/spec/rayClusterConfig/suspend");
    Arguments flow = row("example.org", "v1", "Flow", "{" + managed + "}", "");
    return List.of(
        jobSet,
        row("kubeflow.org", "v1", "PyTorchJob", policy, "/spec/runPolicy/suspend"),
        row("kubeflow.org", "v2beta1", "MPIJob", policy, "/spec/runPolicy/suspend"),
        row(
            "trainer.kubeflow.org",
            "v1alpha1",
            "TrainJob",
            "{" + managed + ", runtimePatches: [{manager: kueue.x-k8s.io/manager}]}",
            "/spec/suspend"),
        row("ray.io", "v1", "RayJob", "{" + managed + "}", "/spec/suspend"),
        rayService,
        row(
            "workload.codeflare.dev",
            "v1beta2",
            "AppWrapper",
            "{" + managed + "}",
            "/spec/suspend"),
        flow);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void aJobRunsInTheWorkerThatServesItsKindAndItsStatusIsSeenHere(
      String group, String version, String kind, String spec, String suspend) throws Exception {
    String apiVersion = group + "/" + version;
    String name = kind.toLowerCase(Locale.ROOT);
    define(manager(), group, version, kind);
    define(onsite(), group, version, kind);

    submit(apiVersion, kind, name, spec);
    awaitRunningIn("onsite", apiVersion, kind, name);

    JsonNode there = json(object(onsite(), apiVersion, kind, name));
    JsonNode metadata = there.path("metadata");
    assertThat(metadata.path("labels").path("kueue.x-k8s.io/multikueue-origin").asText())
        .isEqualTo("multikueue");
    assertThat(metadata.path("labels").path("team").asText()).isEqualTo("a");
    assertThat(metadata.path("annotations").path("kueue.x-k8s.io/prebuilt-workload-name").asText())
        .isEqualTo(name);
    assertThat(metadata.path("annotations").path("note").asText()).isEqualTo("kept");
    assertThat(there.path("spec").toString()).doesNotContain("kueue.x-k8s.io/m");
    assertThat(there.at(suspend.isEmpty() ? "/spec/suspend" : suspend).asBoolean())
        .isEqualTo(!suspend.isEmpty());
    adopt(onsite(), apiVersion, kind, name);

    // its status is copied, and goes on being copied
    status(onsite(), apiVersion, kind, name, "{\"a\":{\"ready\":1},\"b\":\"x\"}");
    awaitStatus(apiVersion, kind, name, "{\"a\":{\"ready\":1},\"b\":\"x\"}");
    status(onsite(), apiVersion, kind, name, "{\"a\":{\"ready\":2},\"b\":null}");
    awaitStatus(apiVersion, kind, name, "{\"a\":{\"ready\":2}}");

    // it ends there
    status(onsite(), apiVersion, kind, name, "{\"a\":{\"ready\":0}}");
    finish(onsite(), name);
    eventually(
        () ->
            assertThat(workload(manager(), name).getStatus().conditions())
                .anySatisfy(
                    condition -> {
                      assertThat(condition.getType()).isEqualTo("Finished");
                      assertThat(condition.getStatus()).isEqualTo("True");
                      assertThat(condition.getReason()).isEqualTo("Succeeded");
                      assertThat(condition.getMessage()).isEqualTo("all is done");
                    }));
    awaitStatus(apiVersion, kind, name, "{\"a\":{\"ready\":0}}");
    awaitNothingLeft("onsite", apiVersion, kind, name);
    assertThat(find(manager(), apiVersion, kind, name)).isNotNull();
  }

  @Test
  void aJobThatIsDeletedHereIsDeletedThere() {
    define(manager(), "kubeflow.org", "v1", "TFJob");
    define(onsite(), "kubeflow.org", "v1", "TFJob");
    submit(
        "kubeflow.org/v1", "TFJob", "brief", "{runPolicy: {managedBy: kueue.x-k8s.io/multikueue}}");
    awaitRunningIn("onsite", "kubeflow.org/v1", "TFJob", "brief");
    adopt(onsite(), "kubeflow.org/v1", "TFJob", "brief");

    manager().resource(object(manager(), "kubeflow.org/v1", "TFJob", "brief")).delete();
    manager().resource(workload(manager(), "brief")).delete();

    awaitNothingLeft("onsite", "kubeflow.org/v1", "TFJob", "brief");
  }

  @Test
  void aWorkerThatComesToServeAKindGetsItsJobs() {
    define(manager(), "kubeflow.org", "v1", "JAXJob");
    String spec = "{runPolicy: {managedBy: kueue.x-k8s.io/multikueue}}";
    submit("kubeflow.org/v1", "JAXJob", "early", spec);

    // nobody serves it: nobody gets it, and people are told
    eventually(
        () ->
            assertThat(
                    mapper
                        .<JsonNode>valueToTree(workload(manager(), "early").getStatus())
                        .at("/admissionChecks/0/message")
                        .asText())
                .isEqualTo(
                    "No worker cluster is allowed; onsite: does not serve JAXJob of"
                        + " kubeflow.org/v1; remote: does not serve JAXJob of kubeflow.org/v1"));

    define(clusters.worker("remote"), "kubeflow.org", "v1", "JAXJob");
    awaitRunningIn("remote", "kubeflow.org/v1", "JAXJob", "early");
  }

  @Test
  void aJobThatIsNotMarkedIsRejected() {
    define(manager(), "kubeflow.org", "v1", "XGBoostJob");
    define(onsite(), "kubeflow.org", "v1", "XGBoostJob");
    submit(
        "kubeflow.org/v1",
        "XGBoostJob",
        "unmarked",
        "{runPolicy: {managedBy: kubeflow.org/training-operator}}");

    eventually(
        () ->
            assertThat(
                    manager()
                        .events()
                        .v1()
                        .events()
                        .inNamespace(clusters.namespace())
                        .list()
                        .getItems())
                .anySatisfy(
                    event -> {
                      assertThat(event.getRegarding().getName()).isEqualTo("unmarked");
                      assertThat(event.getNote())
                          .contains(
                              "spec.runPolicy.managedBy is \"kubeflow.org/training-operator\"");
                    }));
  }

  @Test
  void whatARayServiceServesFollowsTheManagers() throws Exception {
    define(manager(), "ray.io", "v1", "RayService");
    define(onsite(), "ray.io", "v1", "RayService");
    submit(
        "ray.io/v1",
        "RayService",
        "serving",
        "{upgradeStrategy: {type: None}, rayClusterConfig: {managedBy: kueue.x-k8s.io/multikueue},"
            + " serveConfigV2: old}");
    awaitRunningIn("onsite", "ray.io/v1", "RayService", "serving");

    manager()
        .resource(object(manager(), "ray.io/v1", "RayService", "serving"))
        .patch(MERGE, "{\"spec\":{\"serveConfigV2\":\"new\"}}");
    status(onsite(), "ray.io/v1", "RayService", "serving", "{\"serviceStatus\":\"Running\"}");

    eventually(
        () ->
            assertThat(
                    json(object(onsite(), "ray.io/v1", "RayService", "serving"))
                        .at("/spec/serveConfigV2")
                        .asText())
                .isEqualTo("new"));
    awaitStatus("ray.io/v1", "RayService", "serving", "{\"serviceStatus\":\"Running\"}");
  }
}
