package dev.sluice.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.install.InstallManifests;
import dev.sluice.testing.MetricsEndpoint;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/**
 * Configures Prometheus for one operator on this machine.
 *
 * @param client of the operator's cluster, with all rights
 * @param port where the operator serves metrics
 * @param job the name of the scrape job
 */
record PrometheusConfiguration(KubernetesClient client, int port, String job) {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  /** A configuration that says what the ServiceMonitor says, with an interval of a second. */
  Path write(Path directory) throws IOException {
    JsonNode endpoint = MonitoringFiles.scrapedEndpoint();
    JsonNode authority = endpoint.at("/tlsConfig/ca/secret");
    MetricsEndpoint metrics = new MetricsEndpoint(client, port);
    Path token = Files.writeString(directory.resolve("token"), metrics.token());
    String certificate =
        client
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
                port);
    return Files.writeString(
        directory.resolve("prometheus.yml"),
        """
        global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}
        rule_files: ["%s"]
        scrape_configs:
        - job_name: %s
          authorization: {credentials_file: "%s"}
        %s
        - job_name: without-token
        %s
        """
            .formatted(rules(directory), job, token, target, target));
  }

  /** The rules that are shipped, with shorter times. */
  private static Path rules(Path directory) throws IOException {
    JsonNode rules = MonitoringFiles.rules();
    for (JsonNode group : rules.path("groups")) {
      for (JsonNode rule : group.path("rules")) {
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
