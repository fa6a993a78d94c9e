package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.install.InstallManifests;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real Prometheus scrapes an operator in a process of its own, as the ServiceMonitor says: TLS
 * with the authority of the webhooks, and the token of a service account. It holds the rules that
 * are shipped, and each alert fires once because its condition is there. Only the times differ: an
 * alert's {@code for} is one second, and rates look back 30 seconds. {@link AlertRulesIT} checks
 * the times that are shipped.
 */
@Tag("faults")
@ControlPlaneTest(exclusive = true, fresh = false)
class PrometheusIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String JOB = "kueue-controller-manager-metrics-service";
  private static final String LEASE = "c1f6bfd2.kueue.x-k8s.io";
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new SecureRandom())
          .withMetrics("enableClusterQueueResources: true")
          .with("fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}\n");

  @SuppressWarnings("NullAway.Init") // set by the test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // set by the test
  private PrometheusServer prometheus;

  @Test
  void everyAlertFiresWhenItsConditionIsThere(TestCluster given, @TempDir Path directory)
      throws Exception {
    cluster = given;
    holdLease();
    try (OperatorProcess operator =
            OperatorProcess.start(
                    "operator",
                    cluster.kubeconfig(),
                    settings,
                    directory,
                    List.of(),
                    Lifetime.WITH_THIS_PROCESS,
                    List.of())
                .awaitReady();
        PrometheusServer server = PrometheusServer.start(directory, configuration(directory))) {
      prometheus = server;
      Set<String> fired = new TreeSet<>();
      awaitTarget();
      createQueues();
      fired.add(awaitFiring("SluiceNobodyLeads"));
      cluster.client().leases().inNamespace(InstallManifests.NAMESPACE).withName(LEASE).delete();
      fired.add(awaitFiring("SluiceClusterQueueInactive " + cluster.name("broken")));

      operator.stop();
      fired.add(awaitFiring("SluiceDown"));
    }
  }

  /** Somebody who never comes back leads for an hour. */
  private void holdLease() {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Namespace
        metadata: {name: kueue-system}
        ---
        apiVersion: coordination.k8s.io/v1
        kind: Lease
        metadata: {name: c1f6bfd2.kueue.x-k8s.io, namespace: kueue-system}
        spec: {holderIdentity: somebody-else, leaseDurationSeconds: 3600}
        """);
    cluster
        .client()
        .leases()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(LEASE)
        .edit(
            lease -> {
              lease.getSpec().setHolderIdentity("somebody-else");
              lease.getSpec().setLeaseDurationSeconds(3600);
              lease.getSpec().setRenewTime(java.time.ZonedDateTime.now(java.time.ZoneOffset.UTC));
              return lease;
            });
  }

  private void createQueues() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "broken-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "missing-${suffix}", resources: [{name: cpu, nominalQuota: "1"}]}]
        """);
  }

  private String awaitFiring(String alert) {
    await(alert).atMost(LIMIT).untilAsserted(() -> assertThat(prometheus.firing()).contains(alert));
    return alert.split(" ", -1)[0];
  }

  /** The scrape succeeds with the token, and is refused without. */
  private void awaitTarget() {
    await("the operator is scraped")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode target = prometheus.target(JOB);
              assertThat(target.path("health").asText())
                  .as(target.path("lastError").asText())
                  .isEqualTo("up");
            });
    await("no scrape without a token")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(prometheus.target("without-token").path("lastError").asText())
                    .contains("401"));
  }

  /** A configuration that says what the ServiceMonitor says, with an interval of a second. */
  private Path configuration(Path directory) throws IOException {
    JsonNode endpoint = MonitoringFiles.scrapedEndpoint();
    JsonNode authority = endpoint.at("/tlsConfig/ca/secret");
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
    Path token = Files.writeString(directory.resolve("token"), metrics.token());
    String certificate =
        cluster
            .client()
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName(authority.path("name").asText())
            .require()
            .getData()
            .getOrDefault(authority.path("key").asText(), "");
    Path ca = Files.write(directory.resolve("ca.crt"), Base64.getDecoder().decode(certificate));
    String target =
        """
          metrics_path: %s
          scheme: %s
          tls_config: {ca_file: "%s", server_name: "%s"}
          static_configs:
          - targets: ["127.0.0.1:%d"]
            labels: {namespace: kueue-system, pod: sluice-0}
        """
            .formatted(
                endpoint.path("path").asText(),
                endpoint.path("scheme").asText(),
                ca,
                endpoint.at("/tlsConfig/serverName").asText(),
                settings.metricsPort());
    return Files.writeString(
        directory.resolve("prometheus.yml"),
        """
        global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
        rule_files: ["%s"]
        scrape_configs:
        - job_name: %s
          authorization: {credentials_file: "%s"}
        %s
        - job_name: without-token
        %s
        """
            .formatted(rules(directory), JOB, token, target, target));
  }

  /** The rules that are shipped, with shorter times. */
  private static Path rules(Path directory) throws IOException {
    JsonNode rules = MonitoringFiles.rules();
    for (JsonNode group : rules.path("groups")) {
      for (JsonNode rule : group.path("rules")) {
        String expression = rule.path("expr").textValue();
        ((ObjectNode) rule).put("expr", expression.replaceAll("\\[\\d+m]", "[30s]"));
        if (rule.has("for")) {
          ((ObjectNode) rule).put("for", "1s");
        }
      }
    }
    Path file = directory.resolve("rules.yaml");
    YAML.writeValue(file.toFile(), rules);
    return file;
  }
}
