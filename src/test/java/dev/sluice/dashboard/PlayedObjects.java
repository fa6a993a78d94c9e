package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** The objects of a played cluster, for {@code admin}; a {@code tenant} may not list pods. */
final class PlayedObjects {

  private final List<String> asked = new CopyOnWriteArrayList<>();

  /** What was asked for with a token, in order. */
  List<String> askedWith(String token) {
    return asked.stream().filter(each -> each.startsWith(token + " ")).toList();
  }

  /** The answer to a request for a path with the token of a user. */
  CompletableFuture<ApiOutcome> read(String path, String token) {
    String readable = URLDecoder.decode(path, StandardCharsets.UTF_8);
    asked.add(token + " " + readable);
    return CompletableFuture.completedFuture(answer(readable, token));
  }

  private static ApiOutcome answer(String path, String token) {
    if (path.contains("/pods?") && token.equals("tenant")) {
      return new ApiOutcome.Refused(403, "pods is forbidden");
    }
    if (path.contains("/nodes?")) {
      return object(
          """
          metadata: {remainingItemCount: 3}
          items:
          - metadata: {name: node-1, creationTimestamp: 2026-03-01T00:00:00Z}
            status: {conditions: [{type: Ready, status: "True"}]}
          - metadata: {name: node-2, creationTimestamp: 2026-03-01T00:00:00Z}
            spec: {unschedulable: true}
            status: {conditions: [{type: Ready, status: "False"}]}
          """);
    }
    if (path.contains("/pods?")) {
      return object(
          """
          items:
          - metadata:
              name: train-x7k
              creationTimestamp: 2026-03-01T00:00:00Z
              labels: {kueue.x-k8s.io/podset: main}
              annotations: {kueue.x-k8s.io/workload: job-train-00000}
            spec: {nodeName: node-1, containers: [{name: main}]}
            status:
              phase: Pending
              containerStatuses:
              - ready: false
                restartCount: 2
                state: {waiting: {reason: ImagePullBackOff, message: no such image}}
          - metadata:
              name: of-another
              annotations: {kueue.x-k8s.io/workload: job-other}
            spec: {containers: [{name: main}]}
            status: {phase: Running}
          """);
    }
    if (path.contains("/events?")) {
      return object(
          path.contains("regarding.uid=")
              ? """
              items:
              - metadata: {creationTimestamp: 2026-03-01T00:00:00Z}
                eventTime: 2026-03-01T00:00:01.000000Z
                regarding: {kind: Workload}
                type: Normal
                reason: QuotaReserved
                note: <b>Quota</b> reserved in ClusterQueue vision-train
                series: {count: 4, lastObservedTime: 2026-03-01T00:01:00.000000Z}
              """
              : "items: []");
    }
    return object(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: job-train-00000, managedFields: [{manager: a}]}
        spec: {queueName: vision-train}
        """);
  }

  private static ApiOutcome object(String yaml) {
    try {
      return new ApiOutcome.Written((ObjectNode) JsonMappers.YAML.readTree(yaml));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
