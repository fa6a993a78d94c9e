package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.AuditedOperators;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The operator with the service account and the configuration of the shipped manifest: what it may
 * do is enough, and it serves what the manifest says.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {"--enable-aggregator-routing=true", ControlPlaneTest.AUDIT})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class InstalledOperatorIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** In so many renewals of the lease, two seconds apart, nothing else is asked for. */
  private static final int IDLE_RENEWALS = 8;

  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final Pattern METRIC = Pattern.compile("\\b(?:kueue|jvm)_[a-z0-9_]+");
  private static final String V1BETA2 = "kueue.x-k8s.io/v1beta2";

  @SuppressWarnings("NullAway.Init") // set before all tests
  private ShippedOperator operator;

  @BeforeAll
  void start(@TempDir Path directory, TestCluster cluster) throws Exception {
    operator = new ShippedOperator(cluster, directory);
    operator.start();
    await()
        .atMost(START_LIMIT)
        .untilAsserted(
            () -> {
              assertThat(operator.isAlive()).as(log()).isTrue();
              assertThat(statusOf("/readyz")).as(log()).isEqualTo(200);
            });
    await().atMost(LIMIT).until(() -> isTrusted(cluster.client()));
    // on a busy machine it is ready for conversions before it has listed what its webhooks read
    await()
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(() -> cluster.client().resource(probe(cluster)).dryRun().create() != null);
  }

  @AfterAll
  void end() {
    operator.close();
  }

  @Test
  @Order(1)
  void aJobIsHeldAdmittedRunsAndFinishes(TestCluster cluster) throws IOException {
    KubernetesClient client = cluster.client();
    List<HasMetadata> queues = cluster.apply(InstalledOperatorIT.class, "queues.yaml");

    Job created = (Job) cluster.apply(InstalledOperatorIT.class, "job.yaml").getFirst();

    assertThat(created.getSpec().getSuspend()).as("by the webhook").isTrue();
    Resource<Job> job =
        client.batch().v1().jobs().inNamespace(cluster.namespace()).withName("hello");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(conditions(job.get())).as(log()).contains("Complete");
              assertThat(statuses(client, cluster.namespace(), "Workload"))
                  .as(log())
                  .anySatisfy(status -> assertThat(status).contains("type=Finished"));
            });
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .events()
                            .v1()
                            .events()
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .extracting(Event::getReason)
                    .contains("QuotaReserved", "Admitted"));
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1beta1", "LocalQueue")
                .inNamespace(cluster.namespace())
                .withName("main")
                .get())
        .as("converted through the Service")
        .isNotNull();

    queues.reversed().forEach(queue -> client.resource(queue).delete());
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(queues)
                    .as("finalizers are taken away: " + log())
                    .allSatisfy(queue -> assertThat(client.resource(queue).get()).isNull()));
  }

  @Test
  @Order(2)
  void metricsAreForThoseWhoMayReadThem(TestCluster cluster) throws Exception {
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), operator.metricsPort());
    // the series of the first queues ended with them, so a Job is admitted anew
    var job =
        cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).withName("hello");
    job.delete();
    await().atMost(LIMIT).until(() -> job.get() == null);
    cluster.apply(InstalledOperatorIT.class, "queues.yaml");
    cluster.apply(InstalledOperatorIT.class, "job.yaml");

    assertThat(metrics.get("nonsense").statusCode()).isEqualTo(401);
    assertThat(metrics.get(operator.token("default")).statusCode()).isEqualTo(403);
    String scraper = metrics.token();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(names(metrics.get(scraper).body()))
                    .as("every metric that a rule looks at is there")
                    .containsAll(names(expressions())));
  }

  @Test
  @Order(2)
  void explanationsAreForCertificatesOfTheClusterWhoseUsersMay(
      TestCluster cluster, @TempDir Path files) throws Exception {
    ExplainByCertificate explain = new ExplainByCertificate(cluster, operator.explainPort(), files);
    cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: explain-ann}
        roleRef:
          {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-explain-viewer-role}
        subjects: [{kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: people, namespace: "${namespace}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
        subjects: [{kind: Group, name: people, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: workloads, namespace: "${namespace}"}
        roleRef:
          {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-workload-viewer-role}
        subjects: [{kind: Group, name: people, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "certified-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "certified-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - {name: "certified-${suffix}", resources: [{name: cpu, nominalQuota: "0"}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: certified, namespace: "${namespace}"}
        spec: {clusterQueue: "certified-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: waits, namespace: "${namespace}"}
        spec:
          queueName: certified
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    var authority = explain.authority();
    var ann = ExplainByCertificate.user(authority, "ann", Instant.now());

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(explain.printed("waits", ann)).as(log()).contains("operator: "));
    assertThat(explain.printed("waits", ExplainByCertificate.user(authority, "bob", Instant.now())))
        .contains("answered 403: Forbidden");
    assertThat(explain.status("waits")).isEqualTo(401);
    assertThat(explain.status("waits", ExplainByCertificate.user(authority, "ann", Instant.EPOCH)))
        .as("expired")
        .isEqualTo(401);
    var stranger =
        new CertificateAuthority(InstantSource.system(), new SecureRandom())
            .authority("sluice-cluster-ca", Duration.ofDays(1));
    assertThat(explain.status("waits", ExplainByCertificate.user(stranger, "ann", Instant.now())))
        .as("of a stranger's authority")
        .isEqualTo(401);
    assertThat(explain.status("waits", ann)).isEqualTo(200);
  }

  @Test
  @Order(2)
  void pendingWorkloadsAreReadThroughTheApiServer(TestCluster cluster) throws Exception {
    cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: queue-of-carl, namespace: "${namespace}"}
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: ClusterRole
          name: kueue-pending-workloads-lq-viewer-role
        subjects: [{kind: User, name: carl, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "seen-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "seen-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - {name: "seen-${suffix}", resources: [{name: cpu, nominalQuota: "0"}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: seen, namespace: "${namespace}"}
        spec: {clusterQueue: "seen-${suffix}"}
        """);
    for (int i = 0; i < 3; i++) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: Workload
          metadata: {name: "seen-%d", namespace: "${namespace}"}
          spec:
            queueName: seen
            priority: %d
            podSets:
            - name: main
              count: 1
              template:
                spec:
                  restartPolicy: Never
                  containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(i, i));
    }
    KubernetesClient client = cluster.client();
    String group = "/apis/visibility.kueue.x-k8s.io/";
    String ofNamespace =
        "/namespaces/" + cluster.namespace() + "/localqueues/seen/pendingworkloads";
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(read(client, group + "v1beta2" + ofNamespace))
                    .as(log())
                    .contains("\"seen-0\""));
    assertThat(waiting(client.raw(group + "v1beta2" + ofNamespace)))
        .containsExactly("seen-2", "seen-1", "seen-0");
    String ofCluster = "/clusterqueues/" + cluster.name("seen") + "/pendingworkloads";
    assertThat(waiting(client.raw(group + "v1beta1" + ofCluster + "?offset=1&limit=1")))
        .containsExactly("seen-1");
    assertThat(client.getApiResources("visibility.kueue.x-k8s.io/v1beta2").getResources())
        .extracting(APIResource::getName)
        .contains("localqueues/pendingworkloads");

    Config config = new ConfigBuilder(client.getConfiguration()).build();
    config.setImpersonateUsername("carl");
    try (KubernetesClient carl = new KubernetesClientBuilder().withConfig(config).build()) {
      assertThat(waiting(carl.raw(group + "v1beta2" + ofNamespace))).hasSize(3);
      assertThatThrownBy(() -> carl.raw(group + "v1beta2" + ofCluster))
          .as("a user sees the queues of his namespace only")
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
    }
  }

  /** What the API server answers, or why it doesn't: it may not have connected yet. */
  private static String read(KubernetesClient client, String path) {
    try {
      return client.raw(path);
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static List<String> waiting(String summary) throws JsonProcessingException {
    return new ObjectMapper().readTree(summary).path("items").findValuesAsText("name");
  }

  @Test
  @Order(2)
  void whatSomebodyDeletesIsPutBackAndWhatItCannotPutBackIsTold(TestCluster cluster) {
    new DamagedInstallation(cluster, operator).heals();
  }

  /** Certificates and registrations are followed by watches, and not asked for again and again. */
  @Test
  @Order(2)
  void idleOperatorAsksForNothingButItsLease(ControlPlane controlPlane) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        OperatorRequests.since(
                            AuditedOperators.log(controlPlane.name()), IDLE_RENEWALS))
                    .isEmpty());
  }

  @Test
  @Order(2)
  void peopleWithTheBuiltInRolesSeeTheirQueuesAndJobs(TestCluster cluster) throws IOException {
    new BuiltInRoles(cluster).judge();
  }

  @Test
  @Order(3)
  void whatIsQueuedGoesWhileItRuns(TestCluster cluster) {
    new Removal(cluster).ofQueues();
  }

  @Test
  @Order(5)
  void nothingIsLeftOfAnInstallationThatIsRemoved(TestCluster cluster) throws IOException {
    Removal removal = new Removal(cluster);
    removal.ofInstallation();
    removal.leftNothing();
  }

  @Test
  @Order(4)
  void nothingWasForbiddenAndItEndsInOrder(TestCluster cluster) throws IOException {
    assertThat(operator.stop()).isTrue();

    assertThat(Files.readString(operator.log()))
        .as("not ready any more, while requests are still served")
        .contains("operator ready=false")
        .doesNotContainIgnoringCase("forbidden")
        .doesNotContain(" ERROR ")
        .doesNotContain("\tat ");
    assertThat(
            cluster
                .client()
                .leases()
                .inNamespace(InstallManifests.NAMESPACE)
                .withName("c1f6bfd2.kueue.x-k8s.io")
                .require()
                .getSpec()
                .getHolderIdentity())
        .as("the lease is given up")
        .isNullOrEmpty();
  }

  @Test
  @Order(6)
  void eachRequestHadAPermissionAndNoneOfThoseSaidToBeUnused(ControlPlane controlPlane) {
    PermissionUse use = new PermissionUse();
    use.read(AuditedOperators.log(controlPlane.name()));

    assertThat(use.missing()).as("asked for without a permission").isEmpty();
    assertThat(use.used())
        .hasSizeGreaterThan(40)
        .doesNotContainAnyElementsOf(UnusedPermissions.all(use));
  }

  private static Job probe(TestCluster cluster) {
    return new JobBuilder()
        .withNewMetadata()
        .withName("probe")
        .withNamespace(cluster.namespace())
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .withRestartPolicy("Never")
        .addNewContainer()
        .withName("main")
        .withImage("none")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static boolean isTrusted(KubernetesClient client) {
    return client
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName("kueue-mutating-webhook-configuration")
        .require()
        .getWebhooks()
        .stream()
        .allMatch(webhook -> webhook.getClientConfig().getCaBundle() != null);
  }

  private static List<String> conditions(Job job) {
    return job.getStatus().getConditions().stream().map(it -> it.getType()).toList();
  }

  private static List<String> statuses(KubernetesClient client, String namespace, String kind) {
    return client
        .genericKubernetesResources(V1BETA2, kind)
        .inNamespace(namespace)
        .list()
        .getItems()
        .stream()
        .map(GenericKubernetesResource::getAdditionalProperties)
        .map(properties -> String.valueOf(properties.get("status")))
        .toList();
  }

  private static String expressions() throws IOException {
    return Files.readAllLines(Path.of("helm/sluice/files/rules.yaml")).stream()
        .filter(line -> !line.contains("record:") && !line.contains("description:"))
        .filter(line -> !line.contains("sluice_journal_")) // no journal is written
        .map(line -> line.replaceAll("_bucket\\b", "_count"))
        .collect(Collectors.joining("\n"));
  }

  private static Set<String> names(String text) {
    return METRIC.matcher(text).results().map(MatchResult::group).collect(Collectors.toSet());
  }

  private int statusOf(String path) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + operator.healthPort() + path))
                  .build(),
              BodyHandlers.discarding())
          .statusCode();
    } catch (ConnectException notYet) {
      return 0;
    }
  }

  private String log() {
    try {
      return Files.readString(operator.log());
    } catch (IOException e) {
      return e.toString();
    }
  }
}
