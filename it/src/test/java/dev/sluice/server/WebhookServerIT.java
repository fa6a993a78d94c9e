package dev.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.server.certificates.InternalCertificates;
import dev.sluice.server.certificates.KubernetesCaBundleInjector;
import dev.sluice.server.certificates.KubernetesSecretAccess;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.TlsSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import dev.sluice.webhooks.review.WebhookRouter;
import dev.sluice.webhooks.rules.WebhookSettings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A real API server asks the webhooks, over TLS, with the registrations that are shipped. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WebhookServerIT {

  private static final String SYSTEM = "kueue-system";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final ReloadableKeyManager keys = new ReloadableKeyManager();
  private Optional<HttpService> server = Optional.empty();

  private HttpService start(int port) throws Exception {
    Set<FeatureGate> gates =
        Set.of(
            FeatureGate.TOPOLOGY_AWARE_SCHEDULING,
            FeatureGate.WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE);
    WebhookSettings settings =
        new WebhookSettings(false, labels -> true, Set.of("batch/job"), gates, gates);
    WebhookRouter router = new WebhookRouter(Webhooks.functions(settings, new EmptyCluster() {}));
    return HttpService.tls(
        new BindAddress("127.0.0.1", port),
        keys.context(),
        TlsSettings.STRICT,
        new WebhookEndpoint(router, new ConversionWebhook(new HubConverter())),
        Duration.ofSeconds(1));
  }

  @BeforeAll
  void install(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();
    client
        .resource(new NamespaceBuilder().withNewMetadata().withName(SYSTEM).endMetadata().build())
        .create();
    applyDefinitions(client);
    InternalCertificates certificates =
        new InternalCertificates(
            new KubernetesSecretAccess(client, SYSTEM, "kueue-webhook-server-cert", () -> {}),
            new KubernetesCaBundleInjector(
                client, "kueue-webhook-service", List.of("workloads.kueue.x-k8s.io"), () -> {}),
            keys,
            List.of("127.0.0.1"),
            InstantSource.system(),
            new SecureRandom());
    certificates.refresh();
    HttpService started = start(0);
    server = Optional.of(started);
    WebhookConfigurations configurations =
        new WebhookConfigurations(
            new WebhookRegistration(
                new WebhookRegistration.Url("https://127.0.0.1:" + started.port()),
                "",
                SYSTEM,
                new WebhookRegistration.Kinds(Set.of("batch/job"), Set.of(), List.of()),
                Set.of(),
                Optional.empty(),
                Optional.of("nobody"),
                "Never"));
    client.resource(configurations.mutating()).create();
    client.resource(configurations.validating()).create();
    certificates.refresh();
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(
            () ->
                !client
                    .batch()
                    .v1()
                    .jobs()
                    .inNamespace(cluster.namespace())
                    .resource((Job) job(client, "probe", "kueue.x-k8s.io/queue-name: a", ""))
                    .dryRun()
                    .create()
                    .getSpec()
                    .getSuspend()
                    .equals(false));
  }

  @AfterAll
  void stop() {
    server.ifPresent(HttpService::close);
  }

  private static void applyDefinitions(KubernetesClient client) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        for (HasMetadata definition : client.load(Files.newInputStream(file)).items()) {
          client.resource(definition).create();
        }
      }
    }
    await()
        .atMost(LIMIT)
        .until(
            () ->
                client.apiextensions().v1().customResourceDefinitions().list().getItems().stream()
                    .allMatch(PlayedDefinitions::isEstablished));
  }

  private static HasMetadata job(
      KubernetesClient client, String name, String labels, String annotations) {
    return client
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: %s, labels: {%s}, annotations: {%s}}
                spec:
                  suspend: false
                  template:
                    spec:
                      restartPolicy: Never
                      containers: [{name: c, image: "example.com/c:1"}]
                """
                    .formatted(name, labels, annotations)
                    .getBytes(StandardCharsets.UTF_8)))
        .items()
        .getFirst();
  }

  private static Job create(TestCluster cluster, String name, String labels, String annotations) {
    HasMetadata job = job(cluster.client(), name, labels, annotations);
    return (Job) cluster.client().resource(job).inNamespace(cluster.namespace()).create();
  }

  @Test
  void jobsWithAQueueAreSuspendedAndOthersAreNot(TestCluster cluster) {
    assertThat(create(cluster, "a1", "kueue.x-k8s.io/queue-name: q", "").getSpec().getSuspend())
        .isTrue();
    assertThat(create(cluster, "b1", "", "kueue.x-k8s.io/queue-name: q").getSpec().getSuspend())
        .isTrue();
    assertThat(create(cluster, "c1", "", "").getSpec().getSuspend()).isFalse();
  }

  @Test
  void jobsAreRefusedWithFieldValueAndRule(TestCluster cluster) {
    assertThatThrownBy(() -> create(cluster, "a2", "kueue.x-k8s.io/queue-name: A.b", ""))
        .hasMessageContaining("admission webhook \"vjob.kb.io\" denied the request")
        .hasMessageContaining("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"A.b\"");
    assertThatThrownBy(() -> create(cluster, "b2", "kueue.x-k8s.io/max-exec-time-seconds: '0'", ""))
        .hasMessageContaining("must be an integer greater than 0");
  }

  @Test
  void theQueueOfARunningJobStays(TestCluster cluster) {
    create(cluster, "a3", "kueue.x-k8s.io/queue-name: q", "");
    var job = cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).withName("a3");
    job.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"suspend\":false}}");
    for (String queue : List.of("\"r\"", "null")) {
      String patch =
          "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":%s}}}".formatted(queue);
      assertThatThrownBy(() -> job.patch(PatchContext.of(PatchType.JSON_MERGE), patch))
          .hasMessageContaining("field is immutable while the job runs");
    }
  }

  @Test
  void queuesAndFlavorsGetTheirFinalizerAndTheirRules(TestCluster cluster) {
    String queue =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "q-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: f, resources: [{name: cpu, nominalQuota: 5}]}]
          - coveredResources: [memory]
            flavors: [{name: %s, resources: [{name: memory, nominalQuota: 5}]}]
        """;
    HasMetadata made = cluster.applyText(queue.formatted("g")).getFirst();
    assertThat(made.getMetadata().getFinalizers())
        .containsExactly("kueue.x-k8s.io/resource-in-use");
    assertThatThrownBy(() -> cluster.applyText(queue.formatted("f")))
        .hasMessageContaining("vclusterqueue.kb.io")
        .hasMessageContaining("spec.resourceGroups[1].flavors[0].name: Duplicate value: \"f\"");
    made.getMetadata().setFinalizers(List.of());
    made.getMetadata().setManagedFields(null);
    cluster.client().resource(made).patch();
    assertThat(
            cluster
                .applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: Cohort
                    metadata: {name: "c-${suffix}"}
                    spec: {parentName: "root-${suffix}"}
                    """)
                .getFirst()
                .getMetadata()
                .getUid())
        .isNotEmpty();
  }

  @Test
  void workloadsAreChecked(TestCluster cluster) {
    String workload =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: w}
        spec:
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: c, image: "example.com/c:1", resources: {requests: {%s}}}]
        """;
    cluster.applyText(workload.formatted("cpu: 1"));
    assertThatThrownBy(() -> cluster.applyText(workload.formatted("pods: 1")))
        .hasMessageContaining("the resource name is reserved");
  }

  @Test
  void whileTheServerIsAwayOnlyJobsWithoutQueuePass(TestCluster cluster) throws Exception {
    int port = server.orElseThrow().port();
    server.orElseThrow().close();
    try {
      assertThat(create(cluster, "a6", "", "").getSpec().getSuspend()).isFalse();
      assertThatThrownBy(() -> create(cluster, "b6", "kueue.x-k8s.io/queue-name: q", ""))
          .hasMessageContaining("mjob.kb.io");
    } finally {
      server = Optional.of(start(port));
    }
  }
}
