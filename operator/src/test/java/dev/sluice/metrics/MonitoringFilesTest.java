package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Alerts and dashboard use what is served, and each alert is explained. */
class MonitoringFilesTest {

  private static final Pattern METRIC =
      Pattern.compile(
          "\\b(?:kueue|multikueue|sluice|rest_client|workqueue|controller_runtime)_\\w+");
  private static final Pattern PART = Pattern.compile("_(?:bucket|count|sum)$");

  private static List<String> ruleExpressions() throws IOException {
    return MonitoringFiles.allRules().stream().map(rule -> rule.path("expr").textValue()).toList();
  }

  private static List<String> dashboardExpressions() throws IOException {
    return Stream.concat(
            MonitoringFiles.panelExpressions().stream()
                .map(MonitoringFiles.PanelExpression::expression),
            MonitoringFiles.variableQueries().stream())
        .toList();
  }

  private static Set<String> metrics(List<String> expressions) {
    return expressions.stream()
        .flatMap(expression -> METRIC.matcher(expression).results().map(MatchResult::group))
        .map(name -> PART.matcher(name).replaceFirst(""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void alertsNameOnlyMetricsThatAreServed() throws Exception {
    assertThat(metrics(ruleExpressions()))
        .hasSizeGreaterThan(5)
        .isSubsetOf(MetricsPage.read().names());
  }

  /** Whether they are really served without a setting is shown by InstalledOperatorIT. */
  @Test
  void alertsNameOnlyMetricsThatADefaultInstallationServes() throws Exception {
    String page = Files.readString(Path.of("docs/metrics.md"));
    String marker = "Only with `metrics.enableClusterQueueResources`:";
    int begin = page.indexOf(marker);
    assertThat(begin).isPositive();
    String byDefault = page.substring(0, begin) + page.substring(page.indexOf("\n## ", begin));

    assertThat(MetricsPage.of(byDefault).names())
        .doesNotContain("kueue_cluster_queue_nominal_quota")
        .containsAll(metrics(ruleExpressions()));
  }

  @Test
  void theDashboardNamesOnlyMetricsThatAreServed() throws Exception {
    assertThat(dashboardExpressions()).hasSizeGreaterThan(10).doesNotContainNull();
    assertThat(metrics(dashboardExpressions()))
        .hasSizeGreaterThan(10)
        .isSubsetOf(MetricsPage.read().names());
  }

  @Test
  void everyAlertIsExplained() throws Exception {
    List<String> headings =
        Files.readAllLines(Path.of("docs/alerts.md")).stream()
            .filter(line -> line.startsWith("## "))
            .map(line -> line.substring(3))
            .toList();
    List<String> alerts = new ArrayList<>();
    for (JsonNode rule : MonitoringFiles.allRules()) {
      if (rule.has("alert")) {
        String name = rule.path("alert").textValue();
        alerts.add(name);
        assertThat(rule.path("annotations").path("runbook").textValue())
            .as(name)
            .isEqualTo("docs/alerts.md#" + name.toLowerCase(Locale.ROOT));
      }
    }
    assertThat(alerts).hasSizeGreaterThan(8).containsExactlyInAnyOrderElementsOf(headings);
  }

  @Test
  void theUsualThresholdsAreThere() throws Exception {
    assertThat(String.join("\n", ruleExpressions()))
        .contains("kueue_pending_workloads", "> 100", "histogram_quantile(0.99", "> 5", "> 0.9");
  }
}
