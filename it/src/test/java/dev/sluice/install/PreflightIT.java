package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.app.Main;
import dev.sluice.app.OperatorApplication;
import dev.sluice.app.OperatorRunner;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.AuditedOperators;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
 * Beside an operator of the API that leads: what {@code sluice preflight} asks the API server for,
 * and what {@code sluice operator} writes. The requests are read from the API server's audit log.
 */
@ControlPlaneTest(exclusive = true, apiServerArguments = ControlPlaneTest.AUDIT)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class PreflightIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String RENEWED =
      "{\"spec\": {\"renewTime\": \"%s\", \"leaseDurationSeconds\": %d}}";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> READING = Set.of("get", "list", "watch");

  /** What everybody may ask about himself and others, and what tells of the process itself. */
  private static final Set<String> SHARED_BY_NOBODY =
      Set.of(
          "selfsubjectreviews",
          "selfsubjectaccessreviews",
          "selfsubjectrulesreviews",
          "subjectaccessreviews",
          "events");

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path kubeconfig;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path configuration;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path audit;

  @BeforeAll
  void leaveAnotherOperatorBehind(
      @TempDir Path directory, ControlPlane controlPlane, TestCluster cluster) throws Exception {
    audit = AuditedOperators.log(controlPlane.name());
    kubeconfig = directory.resolve("kubeconfig");
    configuration = directory.resolve("configuration.yaml");
    Files.writeString(
        configuration,
        OperatorSettings.onFreePorts(new Random())
            .with("integrations: {frameworks: [batch/job, pod]}\n")
            .yaml());
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    EarlierOperator earlier = new EarlierOperator(cluster);
    earlier.definitionsAndQueues(10);
    earlier.running("runs", "usual", "10h");
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: in-a-mesh
          labels: {kueue.x-k8s.io/podset: main}
          annotations: {sluice.dev/run-for: 10h}
        spec:
          initContainers:
          - {name: istio-init, image: none, resources: {requests: {cpu: 100m, memory: 128Mi}}}
          - {name: before-main, image: none, resources: {requests: {cpu: 100m}}}
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "1"}}}
          - {name: istio-proxy, image: none, resources: {requests: {cpu: 300m}}}
          - {name: mesh-agent, image: none, resources: {requests: {memory: 64Mi}}}
          - {name: asks-for-nothing, image: none}
        """);
    await().atMost(LIMIT).until(() -> new SwitchedCluster(cluster).runningPods().size() == 2);
    earlier.registrationsAndLease();
    OperatorAccount.create(cluster.kubeconfig(), kubeconfig);
  }

  @AfterAll
  void endTheRegistrations(TestCluster cluster) {
    var registrations = cluster.client().admissionRegistration().v1();
    registrations.mutatingWebhookConfigurations().delete();
    registrations.validatingWebhookConfigurations().delete();
  }

  @Test
  @Order(1)
  void preflightGetsAndListsAndSendsNoOtherRequest(TestCluster cluster) throws IOException {
    assertThat(preflight())
        .contains("held by " + EarlierOperator.HOLDER)
        .contains("will differ in 2 rules; Sluice brings its own. The first: ")
        .contains("of pods/resize")
        .contains("a container istio-proxy that no template has (1, such as ")
        .contains("a container mesh-agent that no template has (1, such as ")
        .doesNotContain("istio-init", "before-main", "asks-for-nothing", "container main")
        .doesNotContain("is written by", "they lead to namespace");
    var secret =
        cluster
            .client()
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-webhook-server-cert");
    secret.patch(MERGE, "{\"data\": {\"ca.key\": null}}");
    assertThat(preflight())
        .contains("Secret kueue-webhook-server-cert is written by somebody who keeps the key");
    secret.patch(MERGE, "{\"data\": {\"ca.key\": \"\"}}");
    String text = Files.readString(configuration);
    Files.writeString(configuration, text.replace("leaderElect: true", "leaderElect: false"));
    assertThat(preflight()).contains("note  lease                leaderElection.leaderElect is");
    Files.writeString(configuration, text + "namespace: elsewhere\n");
    var lease = lease(cluster.client());
    lease.patch(MERGE, RENEWED.formatted(now(), 600));
    assertThat(preflight())
        .contains(
            "todo  registrations        they lead to namespace kueue-system, where "
                + EarlierOperator.HOLDER);
    lease.patch(MERGE, RENEWED.formatted("2026-01-01T00:00:00.000000Z", 15));
    assertThat(preflight())
        .contains(
            "note  registrations        they lead to namespace kueue-system, where nobody renews");
    Files.writeString(configuration, text);

    List<JsonNode> requests = requests();
    assertThat(requests).hasSizeGreaterThan(20);
    assertThat(requests.stream().map(request -> request.path("verb").asText()))
        .containsOnly("get", "list");
  }

  /** What it prints when something is to be done. */
  private String preflight() {
    StringWriter out = new StringWriter();
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out, true))
            .execute(
                "preflight",
                "--kubeconfig",
                kubeconfig.toString(),
                "--config",
                configuration.toString());
    assertThat(code).isEqualTo(1);
    return out.toString();
  }

  @Test
  @Order(2)
  void whileAnotherLeadsTheOperatorWritesNothingAndAfterwardsWhatItNeeds(TestCluster cluster)
      throws Exception {
    KubernetesClient client = cluster.client();
    var lease = lease(client);
    Map<String, String> before = shared(client);
    int asked = requests().size();
    Queue<String> ends = new ConcurrentLinkedQueue<>();
    try (ScheduledExecutorService renewal = Executors.newSingleThreadScheduledExecutor()) {
      var renewed =
          renewal.scheduleAtFixedRate(
              () -> lease.patch(MERGE, RENEWED.formatted(now(), 15)),
              0,
              200,
              TimeUnit.MILLISECONDS);
      try (OperatorApplication operator =
          OperatorRunner.start(
              new OperatorRunner.Options(
                  Optional.of(kubeconfig),
                  Optional.of(configuration),
                  Optional.empty(),
                  false,
                  false,
                  "127.0.0.1",
                  Optional.empty(),
                  Path.of("none")),
              ends::add)) {
        assertThat(operator).as("lacking rules are no reason to end").isNotNull();
        await("a look at the registrations after the start, a second one at the certificate")
            .atMost(LIMIT)
            .until(
                () ->
                    count(asked, "secrets") >= 2
                        && count(asked, WebhookConfigurations.MUTATING) >= 3
                        && count(asked, "leases") >= 6);
        assertThat(renewed.isDone()).as("the other's lease isn't renewed any more").isFalse();
        assertThat(
                requests().stream()
                    .skip(asked)
                    .filter(request -> !READING.contains(request.path("verb").asText()))
                    .map(request -> request.at("/objectRef/resource").asText())
                    .filter(resource -> !SHARED_BY_NOBODY.contains(resource)))
            .as("written beside the other")
            .isEmpty();
        assertThat(shared(client)).isEqualTo(before);
        assertThat(ends).isEmpty();

        renewed.cancel(false);

        SwitchedCluster switched = new SwitchedCluster(cluster);
        await()
            .atMost(LIMIT)
            .untilAsserted(
                () -> {
                  assertThat(switched.holder()).isNotEqualTo(EarlierOperator.HOLDER).isNotEmpty();
                  assertThat(rules(client)).contains("pods/resize");
                  assertThat(
                          client
                              .secrets()
                              .inNamespace(InstallManifests.NAMESPACE)
                              .withName("kueue-webhook-server-cert")
                              .require()
                              .getData()
                              .get("ca.key"))
                      .isNotEmpty();
                });
        assertThat(ends).isEmpty();
      }
    }
  }

  private static Resource<Lease> lease(KubernetesClient client) {
    return client
        .leases()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName("c1f6bfd2.kueue.x-k8s.io");
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  private static Set<String> rules(KubernetesClient client) {
    return client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName(WebhookConfigurations.VALIDATING)
        .require()
        .getWebhooks()
        .stream()
        .flatMap(webhook -> webhook.getRules().stream())
        .flatMap(rule -> rule.getResources().stream())
        .collect(Collectors.toSet());
  }

  /** Versions of what all operators of the API write. */
  private static Map<String, String> shared(KubernetesClient client) {
    var registrations = client.admissionRegistration().v1();
    return Stream.<List<? extends HasMetadata>>of(
            registrations.mutatingWebhookConfigurations().list().getItems(),
            registrations.validatingWebhookConfigurations().list().getItems(),
            registrations.validatingAdmissionPolicies().list().getItems(),
            client.apiextensions().v1().customResourceDefinitions().list().getItems(),
            client.rbac().clusterRoles().list().getItems(),
            client
                .genericKubernetesResources("apiregistration.k8s.io/v1", "APIService")
                .list()
                .getItems(),
            client.secrets().inNamespace(InstallManifests.NAMESPACE).list().getItems())
        .flatMap(List::stream)
        .collect(
            Collectors.toMap(
                object -> object.getKind() + " " + object.getMetadata().getName(),
                object -> object.getMetadata().getResourceVersion()));
  }

  /** What was got since the first so many requests, of a resource or of a name. */
  private long count(int since, String what) throws IOException {
    return requests().stream()
        .skip(since)
        .filter(request -> request.path("verb").asText().equals("get"))
        .filter(
            request ->
                what.equals(request.at("/objectRef/resource").asText())
                    || what.equals(request.at("/objectRef/name").asText()))
        .count();
  }

  /** What the account of the operator asked for. */
  private List<JsonNode> requests() throws IOException {
    try (Stream<String> lines = Files.lines(audit)) {
      return lines.map(PreflightIT::entry).flatMap(Optional::stream).toList();
    }
  }

  private static Optional<JsonNode> entry(String line) {
    try {
      return Optional.of(JSON.readTree(line));
    } catch (IOException e) {
      return Optional.empty(); // the last line, while it is written
    }
  }
}
