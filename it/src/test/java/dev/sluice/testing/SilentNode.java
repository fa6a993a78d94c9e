package dev.sluice.testing;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A node that nobody plays: its pods stay as they are, and terminate for as long as they may. It
 * tells that it is well until it is closed; its pods are gone then.
 */
public final class SilentNode implements AutoCloseable {

  private final TestCluster cluster;
  private final ScheduledExecutorService beats = Executors.newSingleThreadScheduledExecutor();

  /** Makes the node, with a taint and a label {@code silent}, and with these labels besides. */
  public SilentNode(TestCluster cluster, String labels) {
    this.cluster = cluster;
    cluster.applyText(
        """
        apiVersion: v1
        kind: Node
        metadata: {name: "silent-${suffix}", labels: {silent: "silent-${suffix}", %s}}
        spec: {taints: [{key: silent, value: "silent-${suffix}", effect: NoSchedule}]}
        """
            .formatted(labels));
    var unused = beats.scheduleAtFixedRate(this::beat, 0, 5, TimeUnit.SECONDS);
  }

  /** The name of a test's silent node, which is also the value of its label and taint. */
  public static String name(TestCluster cluster) {
    return cluster.name("silent");
  }

  private void beat() {
    cluster
        .client()
        .nodes()
        .withName(name(cluster))
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"allocatable": {"cpu": "100", "memory": "1Ti", "pods": "500"},
             "capacity": {"cpu": "100", "memory": "1Ti", "pods": "500"},
             "conditions": [{"type": "Ready", "status": "True", "reason": "Beats",
              "lastHeartbeatTime": "%1$s", "lastTransitionTime": "%1$s"}]}}
            """
                .formatted(Instant.now().truncatedTo(ChronoUnit.SECONDS)));
  }

  /** What the kubelet would do when its pods have ended. */
  public void endPods() {
    cluster
        .client()
        .pods()
        .inAnyNamespace()
        .withField("spec.nodeName", name(cluster))
        .list()
        .getItems()
        .forEach(pod -> cluster.client().resource(pod).withGracePeriod(0).delete());
  }

  @Override
  public void close() {
    endPods();
    beats.shutdownNow();
  }
}
