package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.visibility.explain.ExplainCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What {@code explain} says in six situations, and that it is not said over and over. */
@OperatorTest
class ExplainIT {

  private static final Path OUTPUTS = Path.of("target", "explanations.txt");

  private static void given(TestCluster cluster, Api api) {
    api.givenQueues(1);
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}}}");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "budget-${suffix}"}
        spec: {controllerName: example.test/checks}
        """);
    for (String queue : new String[] {"strict", "checked"}) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "%s-${suffix}"}
          spec:
            namespaceSelector: {}
            %s
            resourceGroups:
            - coveredResources: [cpu]
              flavors:
              - {name: "flavor-${suffix}", resources: [{name: cpu, nominalQuota: "2"}]}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: %s, namespace: "${namespace}"}
          spec: {clusterQueue: "%s-${suffix}"}
          """
              .formatted(
                  queue,
                  queue.equals("strict")
                      ? "queueingStrategy: StrictFIFO"
                      : "admissionChecksStrategy: {admissionChecks: [{name:"
                          + " \"budget-${suffix}\"}]}",
                  queue,
                  queue));
    }
    api.patchStatus(
        "AdmissionCheck",
        cluster.name("budget"),
        "{'status': {'conditions': [{'type': 'Active', 'status': 'True', 'reason': 'Active',"
            + " 'message': '', 'lastTransitionTime': '2030-01-01T00:00:00Z'}]}}");
    api.awaitCondition("LocalQueue", "strict", "Active", "True Ready");
    api.awaitCondition("LocalQueue", "checked", "Active", "True Ready");
  }

  private static String submit(Api api, String queue, String job, int pods) {
    return submit(api, queue, job, pods, "");
  }

  private static String submit(Api api, String queue, String job, int pods, String metadata) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}%s}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, queue, metadata, pods, pods));
    return api.workloadOf(job);
  }

  private static String explained(TestCluster cluster, String situation, String workload)
      throws IOException {
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new ExplainCommand())
            .setOut(new PrintWriter(out))
            .execute(
                "workload",
                workload,
                "-n",
                cluster.namespace(),
                "--kubeconfig",
                cluster.kubeconfig().toString());
    assertThat(code).isZero();
    String before = Files.exists(OUTPUTS) ? Files.readString(OUTPUTS) : "";
    Files.writeString(OUTPUTS, "%s# %s%n%s%n".formatted(before, situation, out));
    return out.toString();
  }

  @Test
  void eachIsToldInOneSentence(TestCluster cluster) throws Exception {
    Api api = new Api(cluster);
    Files.deleteIfExists(OUTPUTS);
    String flavor = cluster.name("flavor");
    given(cluster, api);
    String holder = submit(api, "lq", "holder", 1);
    api.awaitCondition("Workload", holder, "Admitted", "True Admitted");
    String never = submit(api, "lq", "never", 2);
    String waits = submit(api, "lq", "waits", 1);
    String gated =
        submit(
            api,
            "lq",
            "gated",
            1,
            ", annotations: {kueue.x-k8s.io/admission-gated-by: example.com/data}");
    submit(api, "strict", "front", 1);
    String head = submit(api, "strict", "head", 2);
    api.awaitCondition("Workload", head, "QuotaReserved", "False WaitingForQuota");
    await().pollDelay(Duration.ofMillis(1100)).until(() -> true);
    String behind = submit(api, "strict", "behind", 1);
    String checked = submit(api, "checked", "checked", 1);
    String retried = submit(api, "checked", "retried", 1);
    api.awaitCheck(checked, cluster.name("budget"), "Pending");
    api.awaitCheck(retried, cluster.name("budget"), "Pending");
    api.answerCheck(
        checked, cluster.name("budget"), "'state': 'Pending', 'message': 'asking finance'");
    api.answerCheck(
        retried,
        cluster.name("budget"),
        "'state': 'Retry', 'message': 'no budget left', 'requeueAfterSeconds': 600");
    api.awaitCondition("Workload", never, "QuotaReserved", "False ExceedsMaxQuota");
    api.awaitCondition("Workload", waits, "QuotaReserved", "False WaitingForQuota");
    api.awaitCondition("Workload", gated, "QuotaReserved", "False AdmissionGated");
    api.awaitCondition("Workload", retried, "Requeued", "False AdmissionCheck");
    api.awaitEvent(waits, "WaitingForQuota");
    String version = api.get("Workload", waits).at("/metadata/resourceVersion").asText();

    assertThat(explained(cluster, "never fits", never))
        .contains(
            "why: it can't be admitted as it is: ExceedsMaxQuota, pod set main: flavor "
                + flavor
                + ": cpu: 2 requested, more than the maximum of 1");
    assertThat(explained(cluster, "waits for quota", waits))
        .contains(
            "why: it waits for quota: preemption does not help: no workload that it may preempt"
                + " would free enough | pod set main: flavor "
                + flavor
                + ": cpu: 1 requested, 0 available of 1, 1 missing; what it lacks is held by "
                + cluster.namespace()
                + "/"
                + holder
                + " (cpu 1)");
    assertThat(explained(cluster, "waits behind", behind))
        .contains(
            "why: it waits behind 1 other, which nobody overtakes in a StrictFIFO queue; the first"
                + " is "
                + cluster.namespace()
                + "/"
                + head
                + ", priority 0, which waits itself: WaitingForQuota, preemption is off in this ClusterQueue"
                + " | pod set main: flavor ",
            "cpu: 2 requested, 1 available of 2, 1 missing");
    assertThat(explained(cluster, "blocked by check", checked))
        .contains(
            "why: it holds quota of ClusterQueue "
                + cluster.name("checked")
                + " and waits for admission checks: "
                + cluster.name("budget")
                + " is Pending (asking finance)");
    assertThat(explained(cluster, "evicted and backing off", retried))
        .contains("why: it was sent back (AdmissionCheck, ", " and is not in line before 2");
    assertThat(explained(cluster, "gated", gated))
        .contains("why: it is not in line: example.com/data in the annotation");

    submit(api, "lq", "another", 1);
    api.awaitEvent(api.workloadOf("another"), "WaitingForQuota");
    assertThat(api.get("Workload", waits).at("/metadata/resourceVersion").asText())
        .as("not rewritten when nothing changed")
        .isEqualTo(version);
  }
}
