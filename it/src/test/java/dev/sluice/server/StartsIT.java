package dev.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lists and explanations say when Workloads are expected to start, and who may read them does. */
@ControlPlaneTest(exclusive = true, controllers = false)
@Tag(BuildBreadth.NIGHTLY)
class StartsIT {

  private static final String ROOT = "/apis/visibility.kueue.x-k8s.io/v1beta2";
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

  @SuppressWarnings("NullAway.Init") // set by the test
  private HttpClient client;

  @SuppressWarnings("NullAway.Init") // set by the test
  private String token;

  @Test
  void listsSayWhenWorkloadsStart(TestCluster cluster) throws Exception {
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    try (LocalOperator operator =
            LocalOperator.start("operator-of-starts", cluster.kubeconfig(), settings);
        HttpClient trustingClient = HttpClient.newBuilder().sslContext(trusting).build()) {
      client = trustingClient;
      token = token(cluster);
      createQueues(cluster);
      Instant begin = Instant.now();
      submit(cluster, "runs", "mine", 0);
      String mine = ROOT + "/namespaces/" + cluster.namespace() + "/localqueues/mine";
      String pending = mine + "/pendingworkloads";
      await("a Workload to run")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .raw(
                                  "/apis/kueue.x-k8s.io/v1beta2/namespaces/"
                                      + cluster.namespace()
                                      + "/workloads/runs"))
                      .contains("\"reason\":\"Admitted\""));
      submit(cluster, "waits", "mine", 100);
      submit(cluster, "secret", "other", 0);

      await("both to wait")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(inClusterQueue(cluster, "")).contains("secret"));
      assertThat(get(pending)).contains("\"waits\"").doesNotContain("estimateBasis");

      await("an estimate")
          .atMost(LIMIT)
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(
              () -> assertThat(get(pending + "?estimates=true")).contains("estimatedStartTime"));
      JsonNode items = new ObjectMapper().readTree(get(pending)).path("items");
      assertThat(items).as("shown to those who don't ask, too").hasSize(1);
      JsonNode waits = items.get(0);
      assertThat(waits.at("/metadata/name").asText()).isEqualTo("waits");
      assertThat(waits.path("estimateBasis").asText()).isEqualTo("Declared");
      assertThat(Instant.parse(waits.path("estimatedStartTime").asText()))
          .isBetween(begin.plusSeconds(500), begin.plusSeconds(900));
      assertThat(waits.has("latestStartTime")).isTrue();
      assertThat(items.toString()).doesNotContain("secret");
      assertThat(
              new ObjectMapper().readTree(inClusterQueue(cluster, "?estimates=true")).at("/items"))
          .hasSize(2);

      assertThat(
              get(
                  ROOT
                      + "/namespaces/"
                      + cluster.namespace()
                      + "/workloads/waits/explanation?output=text"))
          .as("what kubectl sluice when reads")
          .containsPattern("(?m)^starts in about .* by declared run times");
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  private String inClusterQueue(TestCluster cluster, String query) throws Exception {
    return get(ROOT + "/clusterqueues/" + cluster.name("starts") + "/pendingworkloads" + query);
  }

  private String get(String path) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(
                    URI.create("https://127.0.0.1:" + settings.visibilityPort() + path))
                .header("Authorization", "Bearer " + token)
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static void createQueues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "starts-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "starts-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - {name: "starts-${suffix}", resources: [{name: cpu, nominalQuota: "1"}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: mine, namespace: "${namespace}"}
        spec: {clusterQueue: "starts-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: other, namespace: "${namespace}"}
        spec: {clusterQueue: "starts-${suffix}"}
        """);
  }

  private static void submit(TestCluster cluster, String name, String queue, int priority) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata:
          name: %s
          namespace: "${namespace}"
          annotations: {sluice.dev/expected-run-time: 10m}
        spec:
          queueName: %s
          priority: %d
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, queue, priority));
  }

  /** A token of a service account that may see all queues. */
  private static String token(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: viewer, namespace: "${namespace}"}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: "viewer-of-starts-${suffix}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: ServiceAccount, name: viewer, namespace: "${namespace}"}]
        """);
    return cluster
        .client()
        .serviceAccounts()
        .inNamespace(cluster.namespace())
        .withName("viewer")
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }
}
