package dev.sluice.app.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.WhatIf;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is played of a cluster (docs/what-if.md#a-cluster). */
@EnableKubernetesMockClient
class LivePresentTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
  private static final String OURS = "/apis/kueue.x-k8s.io/v1beta2/";

  private static final String WAITING =
      """
      metadata: {name: waiting, namespace: team, uid: u1, resourceVersion: "9",
        creationTimestamp: "2026-03-01T09:59:00Z"}
      spec:
        queueName: queue
        podSets:
        - name: main
          count: 1
          template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
      """;

  @SuppressWarnings("NullAway.Init") // set by the annotation
  private KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init")
  private KubernetesClient client;

  private void list(String path, String kind, String... items) throws IOException {
    StringBuilder list = new StringBuilder("{\"kind\": \"" + kind + "List\", \"items\": [");
    List<String> documents = new ArrayList<>();
    for (String item : items) {
      documents.add(JsonMappers.YAML.readTree(item).toString());
    }
    list.append(String.join(", ", documents)).append("], \"apiVersion\": \"");
    String version =
        path.startsWith("/api/") ? "v1" : path.substring("/apis/".length(), path.lastIndexOf('/'));
    list.append(version).append("\", \"metadata\": {}}");
    server
        .expect()
        .get()
        .withPath(path + "?limit=500")
        .andReturn(200, JsonMappers.JSON.readTree(list.toString()))
        .always();
  }

  private PlayInput present(String configuration, String... workloads) throws Exception {
    list("/api/v1/namespaces", "Namespace", "metadata: {name: team}");
    list(OURS + "resourceflavors", "ResourceFlavor", "metadata: {name: any}");
    list(
        OURS + "clusterqueues",
        "ClusterQueue",
        """
        metadata: {name: all}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: any, resources: [{name: cpu, nominalQuota: "4"}]}]
        """);
    list(
        OURS + "localqueues",
        "LocalQueue",
        "{metadata: {name: queue, namespace: team}, spec: {clusterQueue: all}}");
    list(OURS + "workloads", "Workload", workloads);
    return new LivePresent(
            client,
            new LivePresent.Options(
                new OptionsMapper(
                    ConfigurationLoader.parse(
                        """
                        apiVersion: config.kueue.x-k8s.io/v1beta2
                        kind: Configuration
                        """
                            + configuration,
                        "",
                        () -> "kueue-system")),
                "kueue-system",
                Duration.ofHours(4),
                Duration.ofHours(1)),
            NOW)
        .input();
  }

  private static String budget(String spent) {
    return budget("operator", spent);
  }

  private static String budget(String writer, String spent) {
    return """
    metadata: {name: spent}
    spec:
      scope: {clusterQueue: all}
      charge: AsUsed
      period: Yearly
      limits: [{resource: cpu, hours: 10}]
    status:
      account:
        writer: "%s"
        start: "2026-01-01T00:00:00Z"
        end: "2027-01-01T00:00:00Z"
        spent: [{limit: cpu, amount: "%s"}]
    """
        .formatted(writer, spent);
  }

  private static int starts(PlayInput present) {
    return WhatIf.play(present, List.of()).starts().size();
  }

  /** Ten hours are 36,000,000,000 thousandths of a core times milliseconds. */
  @Test
  void budgetsHoldWithWhatWasSpent() throws Exception {
    list("/apis/sluice.dev/v1alpha1/budgets", "Budget", budget("36000000000"));
    PlayInput present = present("", WAITING);
    assertThat(starts(present)).isZero();
    assertThat(present.remarks()).noneMatch(remark -> remark.contains("Budget"));
  }

  @Test
  void budgetsThatAreNotSpentHoldNobody() throws Exception {
    list("/apis/sluice.dev/v1alpha1/budgets", "Budget", budget("35000000000"));
    assertThat(starts(present("", WAITING))).isOne();
  }

  /** An operator that begins counts them anew, too. */
  @Test
  void anAccountThatCannotBeReadIsTold() throws Exception {
    list("/apis/sluice.dev/v1alpha1/budgets", "Budget", budget("much"));
    PlayInput present = present("", WAITING);
    assertThat(starts(present)).isOne();
    assertThat(present.remarks())
        .contains(
            "Budget spent: what was spent of it can't be read: it is counted from the begin on");
  }

  @Test
  void anAccountThatNobodyWroteIsNone() throws Exception {
    list("/apis/sluice.dev/v1alpha1/budgets", "Budget", budget("", "36000000000"));
    PlayInput present = present("", WAITING);
    assertThat(starts(present)).isOne();
    assertThat(present.remarks()).noneMatch(remark -> remark.contains("Budget"));
  }

  @Test
  void budgetsThatAreNotUnderstoodAreLeftOutAndTold() throws Exception {
    list(
        "/apis/sluice.dev/v1alpha1/budgets",
        "Budget",
        "{metadata: {name: bad}, spec: {scope: {}}}");
    PlayInput present = present("", WAITING);
    assertThat(starts(present)).isOne();
    assertThat(present.remarks()).anyMatch(remark -> remark.startsWith("left out: Budget bad: "));
  }

  private static String ended(int number) {
    return WAITING.replace("name: waiting", "name: ended-" + number).replace("u1", "u" + number)
        + """
        status:
          admission: {clusterQueue: all, podSetAssignments: []}
          conditions:
          - {type: QuotaReserved, status: 'True', lastTransitionTime: '2026-03-01T09:00:00Z'}
          - {type: Admitted, status: 'True', lastTransitionTime: '2026-03-01T09:00:00Z'}
          - {type: Finished, status: 'True', reason: Succeeded,
             lastTransitionTime: '2026-03-01T09:05:00Z'}
        """;
  }

  /** What has ended is enough to learn from only where the configuration says so. */
  @Test
  void runTimesAreLearnedAsConfigured() throws Exception {
    assertThat(present("", WAITING, ended(2), ended(3)).runTimes().values())
        .containsExactly(Duration.ofHours(1));
    assertThat(
            present("runTimes: {minSamples: 2}", WAITING, ended(2), ended(3)).runTimes().values())
        .containsExactly(Duration.ofMinutes(5));
  }
}
