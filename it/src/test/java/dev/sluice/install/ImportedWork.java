package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.Main;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Work that runs without any queue, until {@code sluice importer} takes it in. */
record ImportedWork(TestCluster cluster) {

  /** How many objects are taken in: a bare pod and a Job, of one CPU each. */
  static final int COUNT = 2;

  /** A pod, a Job, and a pod that no rule of the import is about. */
  void run() {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: bare, labels: {team: a}, annotations: {sluice.dev/run-for: 10h}}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 1
          nodeSelector: {pool: spot}
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: stranger, labels: {team: b}, annotations: {sluice.dev/run-for: 10h}}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 1
          nodeSelector: {pool: spot}
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: unqueued, labels: {team: a}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10h}}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              affinity:
                nodeAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                    nodeSelectorTerms:
                    - matchExpressions: [{key: pool, operator: In, values: [spot]}]
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
  }

  void takeIn(Path directory) throws IOException {
    assertThat(importer("check", "--queuelabel=team", "--queuemapping=a=main"))
        .contains(
            "fault  Pod %s/stranger: no rule names a queue for it".formatted(cluster.namespace()))
        .contains("2 to take")
        .endsWith("exit 1");
    Path rules =
        Files.writeString(
            directory.resolve("rules.yaml"),
            """
            - {match: {labels: {team: a}}, toLocalQueue: main}
            - {match: {labels: {team: b}}, skip: true}
            """);
    String[] options = {"--queuemapping-file", rules.toString(), "-v"};
    assertThat(importer("import", options))
        .as("a dry run by default")
        .contains("take   Job " + cluster.namespace() + "/unqueued: pool {spot/cpu=1000}")
        .doesNotContain("imported")
        .endsWith("exit 0");
    assertThat(new EarlierOperator(cluster).workloads())
        .noneMatch(workload -> workload.getMetadata().getName().startsWith("pod-bare-"));
    assertThat(importer("import", "--dry-run=false", "--queuemapping-file", rules.toString()))
        .contains("2 imported")
        .endsWith("exit 0");
    assertThat(importer("check", options))
        .as("it can be repeated")
        .contains("leave  Pod " + cluster.namespace() + "/bare: it has a Workload")
        .contains(" 0 to take")
        .endsWith("exit 0");
  }

  /** What the command prints, and its exit code. */
  private String importer(String subcommand, String... options) {
    StringWriter printed = new StringWriter();
    List<String> arguments = new ArrayList<>(List.of("importer", subcommand));
    arguments.addAll(List.of("--kubeconfig", cluster.kubeconfig().toString()));
    arguments.addAll(List.of("-n", cluster.namespace()));
    arguments.addAll(List.of(options));
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(printed, true))
            .setErr(new PrintWriter(printed, true))
            .execute(arguments.toArray(String[]::new));
    return printed + "exit " + code;
  }
}
