package dev.sluice.jobs.pod;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pods that run aren't disturbed when the operator goes and comes back. */
@ControlPlaneTest(exclusive = true, fresh = false)
class PodsRestartIT {

  private static final String FRAMEWORKS = "integrations: {frameworks: [batch/job, pod]}";
  private static final String GROUP =
      "kueue.x-k8s.io/pod-group-name: sample, kueue.x-k8s.io/pod-group-total-count: '2', ";

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom())
        .withLeases(Duration.ofSeconds(4), Duration.ofSeconds(3), Duration.ofMillis(500))
        .with(FRAMEWORKS);
  }

  @Test
  void whatRunsGoesOnAndWhatEndedMeanwhileIsSeen(TestCluster cluster) {
    PodApi api = new PodApi(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("spot"), 1).withLabel("pool", "spot"));
    try (OperatorProcess first =
        OperatorProcess.start(
                "operator-before-restart",
                cluster.kubeconfig(),
                settings(),
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      api.givenQueues(4);
      api.apply(pod("alone", "", "10m"));
      api.apply(pod("one", GROUP, "10m"));
      api.apply(pod("two", GROUP + "sluice.dev/exit-code: '1', ", "5s"));
      api.apply(pod("short", "", "5s"));
      for (String name : List.of("alone", "one", "two", "short")) {
        api.awaitField("Pod", name, "/status/phase", "Running");
      }
      first.kill();
    }
    api.awaitField("Pod", "short", "/status/phase", "Succeeded");
    String shortOne = api.workloadOf("short");
    api.awaitField("Pod", "two", "/status/phase", "Failed");
    List<String> before = List.of(uid(api, "alone"), uid(api, "one"));

    try (LocalOperator _ =
        LocalOperator.start("operator-after-restart", cluster.kubeconfig(), settings())) {
      api.awaitCondition("Workload", shortOne, "Finished", "True Succeeded");
      api.awaitField("Pod", "short", "/metadata/finalizers/0", "");
      api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "True PodsFailed");
      api.apply(pod("three", GROUP, "10m"));
      api.awaitField("Pod", "three", "/status/phase", "Running");
      assertThat(List.of(uid(api, "alone"), uid(api, "one"))).isEqualTo(before.subList(0, 2));
      for (String name : List.of("alone", "one")) {
        JsonNode pod = api.get("Pod", name);
        assertThat(PodApi.condition(pod, "TerminationTarget")).isEqualTo("absent");
        assertThat(pod.at("/metadata/deletionTimestamp").isMissingNode()).isTrue();
      }
      api.awaitUsage("3");
    }
  }

  private static String uid(PodApi api, String pod) {
    return api.get("Pod", pod).at("/metadata/uid").asText();
  }

  private static String pod(String name, String annotations, String runFor) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq}
      annotations: {%ssluice.dev/run-for: "%s"}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, resources: {requests: {cpu: "1"}}}
    """
        .formatted(name, annotations, runFor);
  }
}
