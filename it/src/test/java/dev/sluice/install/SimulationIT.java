package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.Main;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** People ask what would become of a job, in each of the ways, with the rights that they have. */
@ControlPlaneTest(
    exclusive = true,
    controllers = false,
    apiServerArguments = "--enable-aggregator-routing=true")
@Tag(BuildBreadth.NIGHTLY)
class SimulationIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private KubectlPlugin plugin;

  @Test
  void everyWayGivesTheAnswerToWhoMayCreateTheJob(TestCluster cluster) throws Exception {
    plugin = new KubectlPlugin(cluster.kubeconfig());
    String others = cluster.createNamespace("others");
    try (ShippedOperator operator = new ShippedOperator(cluster, directory)) {
      operator.start();
      given(cluster, others);

      asksBySimulate(cluster, others);
      asksByDryRun(cluster, others);
      asksAboutAllPodsOfADeployment(cluster);
      mayNotAsk(cluster, others);
      learnsNothingOfOthers(cluster, others);

      assertThat(cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).list())
          .as("nothing was created")
          .satisfies(jobs -> assertThat(jobs.getItems()).isEmpty());
      playsTheFuture(cluster);
      assertThat(operator.isAlive()).isTrue();
    }
  }

  /** What the cluster has now is played on, as it is and with a file's changes. */
  private void playsTheFuture(TestCluster cluster) throws Exception {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: later}
        value: 0
        ---
        """
            + job("waiting", 3, ", kueue.x-k8s.io/priority-class: later")
                .replace(
                    "  labels:", "  annotations: {sluice.dev/expected-run-time: 30m}\n  labels:"));
    await("a Workload that waits")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .singleElement()
                    .asString()
                    .contains("type=QuotaReserved", "1 missing"));

    JsonNode larger =
        future(
            cluster,
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool}
            spec:
              namespaceSelector: {}
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: spot, resources: [{name: cpu, nominalQuota: "6"}]}
            """);
    assertThat(larger.at("/before/waits/0/maxSeconds").asDouble())
        .as("until the holder's hour is over")
        .isBetween(3_000.0, 3_700.0);
    assertThat(larger.at("/after/waits/0/maxSeconds").asDouble()).isLessThan(600);
    assertThat(larger.at("/remarks").toString())
        .contains("nobody knows how long 1 Workloads run: they run for PT1H");

    JsonNode urgent =
        future(
            cluster,
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: WorkloadPriorityClass
            metadata: {name: later}
            value: 100
            """);
    assertThat(urgent.at("/changes/0").asText()).isEqualTo("WorkloadPriorityClass later: 100");
    assertThat(urgent.at("/before/preemptions").size()).isZero();
    assertThat(urgent.at("/after/preemptions/pool/InClusterQueue").asInt()).isOne();
    playsWhatBeginsLater(cluster);
  }

  /** A window that begins later is respected in both plays, and so is the time of the quota. */
  private void playsWhatBeginsLater(TestCluster cluster) throws Exception {
    Instant now = Instant.now();
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: MaintenanceWindow
        metadata: {name: rack}
        spec: {flavors: [spot], start: "%s", end: "%s"}
        """
            .formatted(now.plus(Duration.ofMinutes(30)), now.plus(Duration.ofHours(2))));
    JsonNode halved =
        future(
            cluster,
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: pool, annotations: {sluice.dev/quota-schedule: 00:00-24:00 0.5}}
            spec:
              namespaceSelector: {}
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: spot, resources: [{name: cpu, nominalQuota: "8"}]}
            """);
    assertThat(halved.at("/before/waits/0/maxSeconds").asDouble())
        .as("until the window is over")
        .isBetween(6_900.0, 7_600.0);
    assertThat(halved.at("/before/preemptions/pool/CapacityReserved").asInt()).isPositive();
    // a mean over time is a sum of shares: its last digit depends on when the play began
    assertThat(halved.at("/after/uses/0/nominalMean").asDouble()).isCloseTo(4, within(1e-9));
  }

  private JsonNode future(TestCluster cluster, String changes) throws IOException {
    Path file = Files.writeString(directory.resolve("changed.yaml"), changes);
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new Main())
            .setOut(new PrintWriter(out))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(
                "what-if",
                "-f",
                file.toString(),
                "--kubeconfig",
                cluster.kubeconfig().toString(),
                "--for",
                "4h",
                "-o",
                "json");
    assertThat(code).as(out.toString()).isZero();
    return JsonMappers.JSON.readTree(out.toString());
  }

  /** Four CPUs, two of which a job of another namespace has. */
  private void given(TestCluster cluster, String others) {
    await("the webhooks")
        .atMost(LIMIT)
        .ignoreExceptions()
        .untilAsserted(
            () ->
                cluster.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: ResourceFlavor
                    metadata: {name: spot}
                    ---
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: WorkloadPriorityClass
                    metadata: {name: urgent}
                    value: 100
                    ---
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: ClusterQueue
                    metadata: {name: pool}
                    spec:
                      namespaceSelector: {}
                      preemption: {withinClusterQueue: LowerPriority}
                      resourceGroups:
                      - coveredResources: [cpu]
                        flavors:
                        - {name: spot, resources: [{name: cpu, nominalQuota: "4"}]}
                    ---
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: LocalQueue
                    metadata: {name: main, namespace: "${namespace}"}
                    spec: {clusterQueue: pool}
                    ---
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: LocalQueue
                    metadata: {name: main, namespace: "%s"}
                    spec: {clusterQueue: pool}
                    """
                        .formatted(others)));
    for (String[] binding :
        new String[][] {
          {"tina", "kueue-job-editor-role"},
          {"tina", "kueue-workload-viewer-role"},
          {"tom", "kueue-workload-viewer-role"}
        }) {
      cluster.applyText(
          """
          apiVersion: rbac.authorization.k8s.io/v1
          kind: RoleBinding
          metadata: {name: "%1$s-%2$s", namespace: "${namespace}"}
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %2$s}
          subjects: [{kind: User, name: %1$s, apiGroup: rbac.authorization.k8s.io}]
          """
              .formatted(binding[0], binding[1]));
    }
    cluster.applyText(job("holder", 2, "").replace("${namespace}", others));
    await("quota of the holder")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                            .inNamespace(others)
                            .list()
                            .getItems())
                    .singleElement()
                    .asString()
                    .contains("type=Admitted"));
  }

  private static String job(String name, int cpus, String labels) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: %s
      namespace: "${namespace}"
      labels: {kueue.x-k8s.io/queue-name: main%s}
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
    """
        .formatted(name, labels, cpus);
  }

  private Path file(TestCluster cluster, int cpus, String labels) throws IOException {
    return Files.writeString(
        directory.resolve("job.yaml"),
        job("asked", cpus, labels).replace("${namespace}", cluster.namespace()));
  }

  private String simulate(Path job, String... more) throws Exception {
    String[] arguments = new String[more.length + 3];
    arguments[0] = "simulate";
    arguments[1] = "-f";
    arguments[2] = job.toString();
    System.arraycopy(more, 0, arguments, 3, more.length);
    return await("an answer of an operator that may be busy")
        .atMost(LIMIT)
        .until(() -> plugin.run(arguments), answer -> !answer.contains("too many "));
  }

  private void asksBySimulate(TestCluster cluster, String others) throws Exception {
    await("the answer through the API server")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(simulate(file(cluster, 2, ""), "--as=tina"))
                    .contains(
                        "Now: it would get quota in ClusterQueue pool",
                        "pod set main: 1 pod, cpu of flavor spot")
                    .endsWith("exit 0"));
    assertThat(simulate(file(cluster, 3, ""), "--as=tina"))
        .contains(
            "Later: it would wait in ClusterQueue pool",
            "cpu: 3 requested, 2 available of 4, 1 missing",
            "1 Workload of namespaces that you may not read holds what is missing")
        .doesNotContain("holder", others)
        .endsWith("exit 0");
    assertThat(simulate(file(cluster, 3, "")))
        .contains(others + "/job-holder", " holds 2 cpu of flavor spot")
        .endsWith("exit 0");
    String urgent = ", kueue.x-k8s.io/priority-class: urgent";
    assertThat(simulate(file(cluster, 3, urgent), "--as=tina"))
        .contains(
            "AfterPreemption: it would preempt others",
            "it would preempt 1 Workload of namespaces that you may not read")
        .doesNotContain("holder", others)
        .endsWith("exit 0");
    assertThat(simulate(file(cluster, 3, urgent), "--output=json"))
        .contains("\"feasible\":\"AfterPreemption\"", "\"reason\":\"InClusterQueue\"", "job-holder")
        .endsWith("exit 0");
    assertThat(simulate(file(cluster, 5, ""), "--as=tina"))
        .contains("Never: ", "cpu: 5 requested, more than the maximum of 4")
        .endsWith("exit 0");
    assertThat(simulate(file(cluster, 1, ""), "--as=tina", "--queue", "none"))
        .contains("Never: ", "LocalQueue none doesn't exist")
        .endsWith("exit 0");

    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new Main())
            .setOut(new PrintWriter(out))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(
                "simulate",
                "-f",
                file(cluster, 2, "").toString(),
                "--output",
                "json",
                "--kubeconfig",
                cluster.kubeconfig().toString());
    assertThat(code).as(out.toString()).isZero();
    assertThat(out.toString()).contains("\"feasible\":\"Now\"", "\"clusterQueue\":\"pool\"");
  }

  private void asksByDryRun(TestCluster cluster, String others) throws Exception {
    String[] dryRun = {"create", "--dry-run=server", "--as=tina", "-f", ""};
    dryRun[4] = file(cluster, 2, "").toString();
    assertThat(plugin.kubectl(dryRun))
        .contains(
            "Warning: simulation: Now: it would get quota in ClusterQueue pool",
            "job.batch/asked created (server dry run)")
        .endsWith("exit 0");
    dryRun[4] = file(cluster, 3, "").toString();
    assertThat(plugin.kubectl(dryRun))
        .contains("Warning: simulation: Later: ", "1 missing", "job.batch/asked created")
        .doesNotContain("holder", others)
        .endsWith("exit 0");
    dryRun[4] =
        Files.writeString(
                directory.resolve("unqueued.yaml"),
                job("asked", 1, "")
                    .replace("${namespace}", cluster.namespace())
                    .replace("kueue.x-k8s.io/queue-name", "team"))
            .toString();
    assertThat(plugin.kubectl(dryRun)).doesNotContain("simulation").endsWith("exit 0");
  }

  private void asksAboutAllPodsOfADeployment(TestCluster cluster) throws Exception {
    String text =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: asked
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: main}
        spec:
          replicas: REPLICAS
          selector: {matchLabels: {app: asked}}
          template:
            metadata: {labels: {app: asked}}
            spec:
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .replace("${namespace}", cluster.namespace());
    String note = "the answer is for all %d pods together; each starts by itself";
    Path file = directory.resolve("deployment.yaml");
    Files.writeString(file, text.replace("REPLICAS", "2"));
    assertThat(simulate(file))
        .contains(
            "Now: it would get quota in ClusterQueue pool",
            "pod set main: 2 pods, cpu of flavor spot",
            note.formatted(2))
        .endsWith("exit 0");
    Files.writeString(file, text.replace("REPLICAS", "3"));
    assertThat(plugin.kubectl("create", "--dry-run=server", "-f", file.toString()))
        .contains(
            "Warning: simulation: Later: ",
            "Warning: simulation: " + note.formatted(3),
            "deployment.apps/asked created (server dry run)")
        .endsWith("exit 0");
  }

  /**
   * What somebody may try who wants to know of others: parts of the Job, each with what it becomes,
   * or arguments. OTHERS is another namespace, HOLDER the name of a Workload there.
   */
  private static final List<List<String>> PROBES =
      List.of(
          List.of("cpu: \"1\"", "cpu: \"2\""),
          List.of("cpu: \"1\"", "cpu: \"3\""),
          List.of("cpu: \"1\"", "cpu: 3001m"),
          List.of("cpu: \"1\"", "cpu: \"4\""),
          List.of("cpu: \"1\"", "cpu: \"5\""),
          List.of("cpu: \"1\"", "cpu: 9999999"),
          List.of("cpu: \"1\"", "cpu: \"-1\""),
          List.of("cpu: \"1\"", "cpu: lots"),
          List.of("cpu: \"1\"", "cpu: \"3\", nvidia.com/gpu: \"1\""),
          List.of("cpu: \"1\"", "memory: 1Gi"),
          List.of("queue-name: main", "queue-name: main, kueue.x-k8s.io/priority-class: urgent"),
          List.of("queue-name: main", "queue-name: OTHERS"),
          List.of("queue-name: main", "queue-name: OTHERS/main"),
          List.of("queue-name: main", "queue-name: pool"),
          List.of("queue-name: main", "queue-name: \"\""),
          List.of(
              "queue-name: main",
              "queue-name: main, kueue.x-k8s.io/prebuilt-workload-name: HOLDER"),
          List.of("queue-name: main", "queue-name: main, kueue.x-k8s.io/priority-class: none"),
          List.of("name: asked", "name: holder"),
          List.of("name: asked", "generateName: holder-"),
          List.of("name: asked", "name: asked\n  uid: HOLDER"),
          List.of(
              "name: asked",
              "name: asked\n"
                  + "  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: holder, uid:"
                  + " HOLDER, controller: true}]"),
          List.of(
              "name: asked",
              "name: asked\n  annotations: {kueue.x-k8s.io/workload-slice-replacement-for:"
                  + " OTHERS/HOLDER}"),
          List.of("name: asked", "name: asked\n  annotations: {sluice.dev/expected-run-time: 1s}"),
          List.of("name: asked", "name: asked\n  annotations: {sluice.dev/max-price: 1/h}"),
          List.of("template:", "parallelism: 3\n  completions: 3\n  template:"),
          List.of("template:", "parallelism: 0\n  template:"),
          List.of("restartPolicy: Never", "restartPolicy: Never\n      nodeName: holder"),
          List.of("restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {a: b}"),
          List.of("restartPolicy: Never", "restartPolicy: Never\n      priorityClassName: none"),
          List.of("kind: Job", "kind: Workload"),
          List.of("apiVersion: batch/v1", "apiVersion: batch/v9"),
          List.of("namespace: NAMESPACE", "namespace: OTHERS"));

  private void learnsNothingOfOthers(TestCluster cluster, String others) throws Exception {
    String holder =
        cluster
            .client()
            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
            .inNamespace(others)
            .list()
            .getItems()
            .getFirst()
            .getMetadata()
            .getName();
    String plain =
        job("asked", 1, "").replace("\"${namespace}\"", "NAMESPACE").replace("main}", "main }");
    for (List<String> probe : PROBES) {
      assertThat(plain).contains(probe.getFirst());
      Path file =
          Files.writeString(
              directory.resolve("probe.yaml"),
              plain
                  .replace(probe.getFirst(), probe.getLast())
                  .replace("NAMESPACE", cluster.namespace())
                  .replace("OTHERS", others)
                  .replace("HOLDER", holder));
      // what is asked may be repeated; what only the cluster knows may not be told
      List<String> secrets =
          Stream.of(others, holder, "job-holder")
              .filter(secret -> !contentOf(file).contains(secret))
              .toList();
      for (String output : List.of("text", "json")) {
        String answer = simulate(file, "--as=tina", "--output=" + output);
        secrets.forEach(secret -> assertThat(answer).as(probe.getLast()).doesNotContain(secret));
        assertThat(answer).as(probe.getLast()).contains("exit ");
      }
    }
  }

  private static String contentOf(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void mayNotAsk(TestCluster cluster, String others) throws Exception {
    assertThat(simulate(file(cluster, 3, ""), "--as=tom"))
        .as("who may not create jobs")
        .contains(
            "User \"tom\" cannot create resource \"jobs\" in API group \"batch\" in the namespace")
        .doesNotContain("pool", "holder", others)
        .endsWith("exit 1");
    assertThat(simulate(file(cluster, 3, ""), "--as=tim"))
        .as("who has no rights")
        .containsIgnoringCase("forbidden")
        .doesNotContain("pool", "holder", others)
        .endsWith("exit 1");
    assertThat(simulate(file(cluster, 3, ""), "--as=tina", "-n", others))
        .as("who may create jobs elsewhere")
        .containsIgnoringCase("forbidden")
        .endsWith("exit 1");
  }
}
