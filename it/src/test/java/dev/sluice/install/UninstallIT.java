package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.Main;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What {@code uninstall --definitions} does in a cluster whose operator was stopped before. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class UninstallIT {

  private static final int WORKLOADS = Integer.getInteger("sluice.uninstall.workloads", 400);
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String IN_USE = "kueue.x-k8s.io/resource-in-use";
  private static final String GUARD = "example.com/guard";
  private static final String WORKLOAD =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Workload
      metadata: {name: %s, namespace: %s, finalizers: [%s]}
      spec:
        queueName: main
        podSets:
        - name: main
          count: 1
          template:
            spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
      """;
  private static final String QUEUES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Topology
      metadata: {name: racks, finalizers: [kueue.x-k8s.io/resource-in-use]}
      spec: {levels: [{nodeLabel: example.com/rack}]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: spot, finalizers: [kueue.x-k8s.io/resource-in-use]}
      spec: {nodeLabels: {pool: spot}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: AdmissionCheck
      metadata: {name: check, finalizers: [kueue.x-k8s.io/resource-in-use]}
      spec: {controllerName: example.com/check}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Cohort
      metadata: {name: all, finalizers: [kueue.x-k8s.io/resource-in-use]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: pool, finalizers: [kueue.x-k8s.io/resource-in-use]}
      spec: {namespaceSelector: {}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: WorkloadPriorityClass
      metadata: {name: usual}
      value: 100
      """;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void define(TestCluster cluster) throws Exception {
    new ServerSideApply(cluster.client()).definitions();
  }

  @Test
  void nothingIsLeftThoughTheOperatorWasStoppedFirst(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();
    create(client, QUEUES);
    create(
        client,
        IntStream.range(0, WORKLOADS)
            .mapToObj(i -> WORKLOAD.formatted("job-" + i, cluster.namespace(), IN_USE))
            .collect(Collectors.joining("---\n")));
    storeInOlderVersion(cluster);
    client.resource(pod(cluster, "runs")).create();
    client.resource(client.resource(pod(cluster, "ends")).create()).withGracePeriod(0).delete();
    installWithoutOperator(client);
    lease(client, "killed", 1);

    int code = uninstall(cluster, "60");

    assertThat(code).as(() -> out + "\n" + err).isZero();
    assertThat(out.toString()).contains("uninstalled, with all definitions");
    assertThat(err.toString()).contains("killed has not given up its lease");
    new Removal(cluster).leftNothing();
    assertThat(client.pods().inNamespace(cluster.namespace()).list().getItems())
        .as("the pod that ran runs on, the deleted one is gone")
        .extracting(found -> found.getMetadata().getName())
        .containsExactly("runs");
    assertThat(uninstall(cluster, "60")).as("once more").isZero();
  }

  @Test
  void whatAnotherHoldsStaysAndIsNamed(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    String namespace = cluster.namespace();
    create(client, QUEUES);
    create(client, WORKLOAD.formatted("free", namespace, IN_USE));
    create(client, WORKLOAD.formatted("held", namespace, IN_USE + ", " + GUARD));

    int code = uninstall(cluster, "8");

    assertThat(code).as(() -> out + "\n" + err).isEqualTo(1);
    assertThat(out.toString().lines())
        .containsExactly(
            "stays  CustomResourceDefinition workloads.kueue.x-k8s.io: objects left: 1",
            "stays  Workload "
                + namespace
                + "/held: held by example.com/guard, a finalizer of another owner, who has to"
                + " remove it",
            "not everything is gone; when nothing holds it any more, start this again");
    assertThat(err.toString()).contains("; left: 1 workloads, 1 definitions");
    Resource<GenericKubernetesResource> held =
        client
            .genericKubernetesResources(AuditedKind.WORKLOAD.context())
            .inNamespace(namespace)
            .withName("held");
    assertThat(held.require().getFinalizers()).containsExactly(GUARD);

    held.patch(MERGE, "{\"metadata\": {\"finalizers\": null}}");
    assertThat(uninstall(cluster, "60")).as(() -> out + "\n" + err).isZero();
    new Removal(cluster).leftNothing();
  }

  @Test
  void whileAnOperatorRunsNothingIsRemoved(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();
    installWithoutOperator(client);
    Resource<?> lease = lease(client, "running", 60);
    try (ScheduledExecutorService renewal = Executors.newSingleThreadScheduledExecutor()) {
      var renewed =
          renewal.scheduleAtFixedRate(
              () ->
                  lease.patch(
                      MERGE,
                      "{\"spec\": {\"renewTime\": \"%s\"}}"
                          .formatted(Instant.now().truncatedTo(ChronoUnit.MICROS))),
              0,
              200,
              TimeUnit.MILLISECONDS);

      int code = uninstall(cluster, "60");

      renewed.cancel(false);
      assertThat(code).as(() -> out + "\n" + err).isEqualTo(1);
    }
    assertThat(err.toString())
        .contains("nothing was removed: an operator runs, running renews the lease");
    assertThat(client.apiextensions().v1().customResourceDefinitions().list().getItems())
        .hasSizeGreaterThanOrEqualTo(Installer.PLURALS.size())
        .noneMatch(CustomResourceDefinition::isMarkedForDeletion);

    lease.delete();
    assertThat(uninstall(cluster, "60")).as(() -> out + "\n" + err).isZero();
    new Removal(cluster).leftNothing();
  }

  @Test
  void whileAPodAnswersWebhooksNothingIsRemovedThoughNobodyHoldsALease(TestCluster cluster)
      throws Exception {
    KubernetesClient client = cluster.client();
    installWithoutOperator(client);
    EndpointSlice slice = endpointSlice(InstallManifests.WEBHOOK_SERVICE);
    client.resource(slice).create();

    assertThat(uninstall(cluster, "60")).as(() -> out + "\n" + err).isEqualTo(1);

    assertThat(err.toString())
        .contains(
            "nothing was removed: an operator runs, pod operator-1 is ready behind Service"
                + " kueue-system/kueue-webhook-service, which answers webhooks; stop it first");
    assertThat(client.apiextensions().v1().customResourceDefinitions().list().getItems())
        .hasSizeGreaterThanOrEqualTo(Installer.PLURALS.size())
        .noneMatch(CustomResourceDefinition::isMarkedForDeletion);

    client.resource(slice).delete();
    slice = endpointSlice("queueing-kueue-webhook-service");
    slice.getEndpoints().getFirst().getConditions().setReady(null);
    client.resource(slice).create();
    HasMetadata registration =
        cluster
            .applyText(
                """
                apiVersion: admissionregistration.k8s.io/v1
                kind: ValidatingWebhookConfiguration
                metadata: {name: queueing-kueue-validating-webhook-configuration}
                webhooks:
                - name: vworkload.kb.io
                  admissionReviewVersions: [v1]
                  sideEffects: None
                  failurePolicy: Ignore
                  clientConfig:
                    service: {namespace: kueue-system, name: queueing-kueue-webhook-service}
                  rules:
                  - apiGroups: [kueue.x-k8s.io]
                    apiVersions: [v1beta2]
                    operations: [CREATE]
                    resources: [workloads]
                """)
            .getFirst();

    assertThat(uninstall(cluster, "60")).as(() -> out + "\n" + err).isEqualTo(1);

    assertThat(err.toString())
        .contains("is ready behind Service kueue-system/queueing-kueue-webhook-service");
    assertThat(client.apiextensions().v1().customResourceDefinitions().list().getItems())
        .hasSizeGreaterThanOrEqualTo(Installer.PLURALS.size())
        .noneMatch(CustomResourceDefinition::isMarkedForDeletion);

    slice.getEndpoints().getFirst().getConditions().setReady(false);
    client.resource(slice).update();
    assertThat(uninstall(cluster, "60")).as(() -> out + "\n" + err).isZero();
    client.resource(registration).delete();
    new Removal(cluster).leftNothing();
  }

  private static EndpointSlice endpointSlice(String service) {
    return new EndpointSliceBuilder()
        .withNewMetadata()
        .withName("of-" + service)
        .withNamespace(InstallManifests.NAMESPACE)
        .addToLabels("kubernetes.io/service-name", service)
        .endMetadata()
        .withAddressType("IPv4")
        .addNewEndpoint()
        .withAddresses("10.1.2.3")
        .withNewConditions()
        .withReady(true)
        .endConditions()
        .withNewTargetRef()
        .withKind("Pod")
        .withName("operator-1")
        .endTargetRef()
        .endEndpoint()
        .build();
  }

  private int uninstall(TestCluster cluster, String timeout) {
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(
            "uninstall",
            "--kubeconfig",
            cluster.kubeconfig().toString(),
            "--definitions",
            "--timeout",
            timeout);
  }

  /** Makes objects that no test deletes: the command does. */
  private static void create(KubernetesClient client, String text) {
    await()
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () ->
                !client
                    .load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
                    .serverSideApply()
                    .isEmpty());
  }

  /** Roles, policies, and registrations that lead to a Service without pods. */
  private static void installWithoutOperator(KubernetesClient client) throws Exception {
    Reflectors reflectors =
        new Reflectors(client, InstantSource.system(), new Random(), new ReadErrorLog());
    try (ServedDefinitions definitions = new ServedDefinitions(reflectors)) {
      new Installer(
              client,
              ConfigurationLoader.load(
                  Optional.empty(), Optional.empty(), () -> InstallManifests.NAMESPACE),
              Optional.empty())
          .install(definitions);
    }
  }

  /** A lease that binds for so many seconds. */
  private static Resource<?> lease(KubernetesClient client, String holder, int seconds) {
    var lease =
        client.resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withName("c1f6bfd2.kueue.x-k8s.io")
                .withNamespace(InstallManifests.NAMESPACE)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(holder)
                .withLeaseDurationSeconds(seconds)
                .endSpec()
                .build());
    lease.create();
    return lease;
  }

  private static Pod pod(TestCluster cluster, String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(cluster.namespace())
        .addToLabels("kueue.x-k8s.io/managed", "true")
        .addToFinalizers("kueue.x-k8s.io/managed")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withImage("none")
        .endContainer()
        .endSpec()
        .build();
  }

  /** Makes a LocalQueue that the API server can't read: it is converted by an operator only. */
  private static void storeInOlderVersion(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    store(client, "v1beta1");
    await()
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () -> {
              client
                  .resource(
                      new GenericKubernetesResourceBuilder()
                          .withApiVersion("kueue.x-k8s.io/v1beta1")
                          .withKind("LocalQueue")
                          .withNewMetadata()
                          .withName("older")
                          .withNamespace(cluster.namespace())
                          .addToFinalizers(IN_USE)
                          .endMetadata()
                          .withAdditionalProperties(Map.of("spec", Map.of("clusterQueue", "pool")))
                          .build())
                  .create();
              return true;
            });
    store(client, "v1beta2");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () ->
                            client
                                .genericKubernetesResources(AuditedKind.LOCAL_QUEUE.context())
                                .inNamespace(cluster.namespace())
                                .list())
                    .isInstanceOf(KubernetesClientException.class)
                    .hasMessageContaining("conversion"));
  }

  private static void store(KubernetesClient client, String version) {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName("localqueues.kueue.x-k8s.io")
        .edit(
            definition -> {
              definition
                  .getSpec()
                  .getVersions()
                  .forEach(each -> each.setStorage(each.getName().equals(version)));
              return definition;
            });
  }
}
