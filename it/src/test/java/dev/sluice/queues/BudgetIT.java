package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.Year;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A team is warned, held, and goes on in the next period, while the operator is killed and jobs are
 * deleted; whole runs are promised once, whatever happens.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class BudgetIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String QUEUES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "any-${suffix}", annotations: {sluice.dev/price: cpu=3600/h}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: "counted-${suffix}"}
      spec:
        namespaceSelector: {}
        resourceGroups:
        - coveredResources: [cpu]
          flavors: [{name: "any-${suffix}", resources: [{name: cpu, nominalQuota: 10}]}]
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: counted}
      spec: {clusterQueue: "counted-${suffix}"}
      """;

  private static OperatorProcess start(TestCluster cluster, OperatorSettings settings) {
    return OperatorProcess.start(
            "budget", cluster.kubeconfig(), settings, Path.of("target", "operators"), List.of())
        .awaitReady();
  }

  @Test
  void aTeamIsWarnedHeldAndGoesOnInTheNextPeriod(TestCluster cluster) {
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    OperatorProcess operator = start(cluster, settings);
    try {
      createQueues(cluster);
      refuses(cluster);
      submit(cluster, "first", "used", "");
      awaitReserving(cluster, Set.of("first"));
      await("the budget to be spent")
          .atMost(LIMIT)
          .until(() -> condition(budget(cluster, "used"), "Exhausted").equals("True"));
      await("both events")
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(events(cluster)).contains("BudgetNearlySpent", "BudgetExhausted"));
      submit(cluster, "second", "used", "");
      awaitHeld(cluster, "second");

      operator.kill();
      cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).delete();
      awaitGone(cluster);
      operator = start(cluster, settings);
      submit(cluster, "third", "used", "");
      awaitHeld(cluster, "third");

      submit(cluster, "a", "left", "45m");
      submit(cluster, "b", "right", "45m");
      submit(cluster, "c", "left", "45m");
      submit(cluster, "short", "right", "20m");
      submit(cluster, "endless", "left", "");
      await("a short run beside one that is promised")
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(reserving(cluster)).hasSize(2).doesNotContain("endless", "third"));
      awaitMessage(cluster, "endless", "sluice.dev/expected-run-time");
      Set<String> promised = reserving(cluster);
      nextPeriod(cluster);
      awaitReserving(
          cluster, Set.copyOf(Stream.concat(promised.stream(), Stream.of("third")).toList()));
      assertThat(budget(cluster, "promised").path("status").path("account").path("charges"))
          .hasSize(2);
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  /** Helm doesn't upgrade definitions: an operator may be newer than what the cluster has. */
  @Test
  void aDefinitionThatIsInstalledLaterCountsFromThenOn(TestCluster cluster) throws Exception {
    var definitions = cluster.client().apiextensions().v1().customResourceDefinitions();
    CustomResourceDefinition definition;
    try (InputStream file = Files.newInputStream(Path.of("crds", "sluice.dev_budgets.yaml"))) {
      definition = definitions.load(file).item();
    }
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess installs = start(cluster, settings)) {
      assertThat(installs.stop()).isTrue();
    }
    definitions.withName(definition.getMetadata().getName()).delete();
    await("no definition")
        .atMost(LIMIT)
        .until(() -> definitions.withName(definition.getMetadata().getName()).get() == null);
    try (OperatorProcess operator =
        OperatorProcess.startInstalled(
            "budget-later", cluster.kubeconfig(), settings, Path.of("target", "operators"))) {
      operator.awaitReady();
      cluster.applyText(QUEUES);
      submit(cluster, "uncounted", "counted", "");
      awaitReserving(cluster, Set.of("uncounted"));
      definitions.resource(definition).create();
      await("the definition")
          .atMost(LIMIT)
          .until(
              () ->
                  PlayedDefinitions.isEstablished(
                      definitions.withName(definition.getMetadata().getName()).get()));
      cluster.applyText(
          """
          apiVersion: sluice.dev/v1alpha1
          kind: Budget
          metadata: {name: "used-${suffix}"}
          spec:
            scope: {localQueue: {namespace: "${namespace}", name: counted}}
            limits: [{cost: 2}]
            period: Yearly
            charge: AsUsed
          """);
      await("the budget to be spent")
          .atMost(LIMIT)
          .until(() -> condition(budget(cluster, "used"), "Exhausted").equals("True"));
      submit(cluster, "held", "counted", "");
      awaitHeld(cluster, "held");
      awaitMessage(cluster, "held", " spent of 2 of money");
      assertThat(operator.stop()).isTrue();
    } finally {
      definitions.resource(definition).createOr(existing -> existing.update());
    }
  }

  @Test
  void aBudgetThatDrainsStopsWhatRunsUntilItIsGone(TestCluster cluster) {
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess operator = start(cluster, settings)) {
      cluster.applyText(QUEUES);
      submit(cluster, "drained", "counted", "");
      awaitReserving(cluster, Set.of("drained"));
      cluster.applyText(
          """
          apiVersion: sluice.dev/v1alpha1
          kind: Budget
          metadata: {name: "used-${suffix}"}
          spec:
            scope: {localQueue: {namespace: "${namespace}", name: counted}}
            limits: [{cost: 2}]
            period: Yearly
            charge: AsUsed
            action: HoldAndDrain
          """);
      await("the Job to be stopped")
          .atMost(LIMIT)
          .until(
              () ->
                  cluster
                      .client()
                      .batch()
                      .v1()
                      .jobs()
                      .inNamespace(cluster.namespace())
                      .withName("drained")
                      .get()
                      .getSpec()
                      .getSuspend());
      awaitHeld(cluster, "drained");
      JsonNode workload = workloads(cluster).getFirst();
      assertThat(condition(workload, "Requeued")).isEqualTo("True");
      assertThat(workload.path("status").path("schedulingStats").path("evictions").toString())
          .contains("BudgetExhausted");
      cluster
          .client()
          .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
          .withName(cluster.name("used"))
          .delete();
      awaitReserving(cluster, Set.of("drained"));
      assertThat(operator.stop()).isTrue();
    }
  }

  /** Everything that a webhook or the schema refuses names the field. */
  private static void refuses(TestCluster cluster) {
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: Budget
                    metadata: {name: "wrong-${suffix}"}
                    spec:
                      scope: {cohort: any}
                      limits: [{resource: cpu, hours: 1}]
                      timeZone: Mars/Olympus
                    """))
        .hasMessageContaining("spec.timeZone")
        .hasMessageContaining("Mars/Olympus")
        .hasMessageContaining("IANA");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: Budget
                    metadata: {name: "wrong-${suffix}"}
                    spec: {scope: {cohort: any}, limits: [{cost: 1, hours: 1}]}
                    """))
        .hasMessageContaining("spec.limits[0]")
        .hasMessageContaining("either cost, or resource and hours");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: ResourceFlavor
                    metadata: {name: "wrong-${suffix}", annotations: {sluice.dev/price: "cpu=1"}}
                    """))
        .hasMessageContaining("metadata.annotations[sluice.dev/price]")
        .hasMessageContaining("must be prices by resource");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: Budget
                    metadata: {name: "wrong-${suffix}"}
                    spec:
                      scope: {cohort: any, clusterQueue: other}
                      limits: [{resource: cpu, hours: 1}]
                    """))
        .hasMessageContaining("spec.scope");
  }

  /** Another process, which led meanwhile, wrote the account of a year that is over now. */
  private static void nextPeriod(TestCluster cluster) {
    ObjectNode patch = JSON.createObjectNode();
    int year = Year.now(ZoneOffset.UTC).getValue();
    patch
        .putObject("status")
        .putObject("account")
        .put("writer", "another")
        .put("start", Instant.parse((year - 1) + "-01-01T00:00:00Z").toString())
        .put("end", Instant.parse(year + "-01-01T00:00:00Z").toString());
    cluster
        .client()
        .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
        .withName(cluster.name("used"))
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
  }

  private static JsonNode budget(TestCluster cluster, String stem) {
    return JSON.valueToTree(
        cluster
            .client()
            .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
            .withName(cluster.name(stem))
            .get());
  }

  private static List<String> events(TestCluster cluster) {
    return cluster.client().events().v1().events().inAnyNamespace().list().getItems().stream()
        .filter(event -> event.getRegarding().getName().equals(cluster.name("used")))
        .filter(event -> event.getRegarding().getKind().equals("Budget"))
        .map(event -> event.getReason())
        .toList();
  }

  private static List<JsonNode> workloads(TestCluster cluster) {
    return cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .<JsonNode>map((GenericKubernetesResource each) -> JSON.valueToTree(each))
        .toList();
  }

  private static String job(JsonNode workload) {
    return workload.path("metadata").path("ownerReferences").path(0).path("name").asText();
  }

  private static String condition(JsonNode object, String type) {
    for (JsonNode each : object.path("status").path("conditions")) {
      if (each.path("type").asText().equals(type)) {
        return each.path("status").asText();
      }
    }
    return "";
  }

  private static Set<String> reserving(TestCluster cluster) {
    return Set.copyOf(
        workloads(cluster).stream()
            .filter(each -> condition(each, "QuotaReserved").equals("True"))
            .map(BudgetIT::job)
            .toList());
  }

  private static void awaitReserving(TestCluster cluster, Set<String> jobs) {
    await("quota for " + jobs)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(reserving(cluster)).isEqualTo(jobs));
  }

  private static void awaitGone(TestCluster cluster) {
    await("no job")
        .atMost(LIMIT)
        .until(
            () ->
                cluster
                    .client()
                    .batch()
                    .v1()
                    .jobs()
                    .inNamespace(cluster.namespace())
                    .list()
                    .getItems()
                    .isEmpty());
  }

  private static void awaitHeld(TestCluster cluster, String job) {
    awaitMessage(cluster, job, "BudgetExhausted: Budget " + cluster.name("used") + " has ");
    assertThat(reserving(cluster)).doesNotContain(job);
  }

  private static void awaitMessage(TestCluster cluster, String job, String text) {
    await(job + " to be held")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(message(cluster, job))
                    .hasValueSatisfying(found -> assertThat(found).contains(text)));
  }

  private static Optional<String> message(TestCluster cluster, String job) {
    for (JsonNode workload : workloads(cluster)) {
      for (JsonNode each : workload.path("status").path("conditions")) {
        if (job(workload).equals(job)
            && each.path("type").asText().equals("QuotaReserved")
            && each.path("reason").asText().equals("WaitingForQuota")) {
          return Optional.of(each.path("message").asText());
        }
      }
    }
    return Optional.empty();
  }

  private static void createQueues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "any-${suffix}"}
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: "used-${suffix}"}
        spec:
          scope: {localQueue: {namespace: "${namespace}", name: used}}
          limits: [{resource: cpu, hours: "0.001"}]
          period: Yearly
          charge: AsUsed
          notify: ["0.5"]
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: "promised-${suffix}"}
        spec:
          scope: {cohort: "co-${suffix}"}
          limits: [{resource: cpu, hours: "1.1"}]
          rolling: 8h
        """);
    for (String queue : List.of("used", "left", "right")) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "%1$s-${suffix}"}
          spec:
            namespaceSelector: {}
            %2$s
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: "any-${suffix}", resources: [{name: cpu, nominalQuota: 10}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: "%1$s"}
          spec: {clusterQueue: "%1$s-${suffix}"}
          """
              .formatted(queue, queue.equals("used") ? "" : "cohortName: \"co-${suffix}\""));
    }
  }

  private static void submit(TestCluster cluster, String name, String queue, String runTime) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s}
          annotations: {%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(
                name, queue, runTime.isEmpty() ? "" : "sluice.dev/expected-run-time: " + runTime));
  }
}
