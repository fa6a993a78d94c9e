package dev.sluice.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The project's files for Prometheus and Grafana. */
final class MonitoringFiles {

  /** The groups of rules, as the chart and the plain manifests have them. */
  static final Path RULES = Path.of("helm/sluice/files/rules.yaml");

  private static final Path DASHBOARD = Path.of("deploy/grafana/sluice.json");
  private static final Path SERVICE_MONITOR = Path.of("deploy/prometheus/servicemonitor.yaml");
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private MonitoringFiles() {}

  /**
   * An expression of the dashboard.
   *
   * @param panel the title of its panel
   */
  record PanelExpression(String panel, String expression) {}

  /** The file of rules. */
  static JsonNode rules() throws IOException {
    return YAML.readTree(Files.readString(RULES));
  }

  /** The endpoint of the ServiceMonitor. */
  static JsonNode scrapedEndpoint() throws IOException {
    return YAML.readTree(Files.readString(SERVICE_MONITOR)).path("spec").path("endpoints").path(0);
  }

  /** All rules of all groups; an alert has a field {@code alert}, else it is a {@code record}. */
  static List<JsonNode> allRules() throws IOException {
    List<JsonNode> all = new ArrayList<>();
    rules().path("groups").forEach(group -> group.path("rules").forEach(all::add));
    return all;
  }

  /** The names of all alerts. */
  static List<String> alerts() throws IOException {
    return allRules().stream()
        .filter(rule -> rule.has("alert"))
        .map(rule -> rule.path("alert").textValue())
        .toList();
  }

  /** The expressions of all panels of the dashboard. */
  static List<PanelExpression> panelExpressions() throws IOException {
    List<PanelExpression> expressions = new ArrayList<>();
    for (JsonNode panel : dashboard().path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        expressions.add(
            new PanelExpression(panel.path("title").textValue(), target.path("expr").textValue()));
      }
    }
    return expressions;
  }

  /** The queries that fill the variables of the dashboard. */
  static List<String> variableQueries() throws IOException {
    List<String> queries = new ArrayList<>();
    for (JsonNode variable : dashboard().path("templating").path("list")) {
      JsonNode query = variable.path("query").path("query");
      if (query.isTextual()) {
        queries.add(query.textValue());
      }
    }
    return queries;
  }

  private static JsonNode dashboard() throws IOException {
    return new ObjectMapper().readTree(Files.readString(DASHBOARD));
  }
}
