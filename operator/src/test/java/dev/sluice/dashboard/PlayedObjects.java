package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
    if (path.contains("sluice.dev/") || path.contains("/usage?")) {
      return plans(path, token);
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

  /** Budgets, reservations, windows and usage; nobody but {@code admin} may read them. */
  private static ApiOutcome plans(String path, String token) {
    if (!token.equals("admin")) {
      return new ApiOutcome.Refused(403, "budgets is forbidden");
    }
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    if (path.contains("/budgets?")) {
      return object(
          """
          items:
          - metadata: {name: team-vision}
            spec: {scope: {clusterQueue: vision-train}, period: Weekly, action: Hold}
            status:
              period: {start: 2026-11-22T23:00:00Z, end: 2026-11-29T23:00:00Z}
              expectedExhaustion: 2026-11-28T14:10:05Z
              limits:
              - {resource: cost, limit: "2500", spent: "2000", reserved: "250", remaining: "250"}
              - {resource: nvidia.com/gpu, flavors: [a100], limit: "168", spent: "180",
                 reserved: "0", remaining: "0"}
              conditions:
              - {type: Active, status: "True", message: The budget counts}
              - {type: Exhausted, status: "True", message: Nothing is left of a limit}
          - metadata: {name: <b>odd</b>}
            spec: {scope: {namespaceSelector: {matchLabels: {team: ml}}}, rolling: 168h}
            status:
              conditions: [{type: Active, status: "False", message: "spec.scope: nothing"}]
          - {metadata: {name: bare}, spec: {scope: [], limits: 7}, status: {limits: [3, {limit: x}]}}
          """);
    }
    if (path.contains("/capacityreservations?")) {
      return object(
          """
          items:
          - metadata: {name: course}
            spec:
              clusterQueue: vision-train
              capacity: [{flavor: a100, resource: nvidia.com/gpu, amount: 8}]
              users: {localQueues: [{namespace: course, name: students}], priorityClasses: [demo]}
              lend: true
            status:
              state: Current
              occurrences:
              - {start: %s, end: %s}
              - {start: %s, end: %s}
          - metadata: {name: broken}
            status: {conditions: [{type: Active, status: "False", message: no such class}]}
          - {metadata: {name: odd}, spec: {capacity: {}}, status: {occurrences: [{start: soon}, 3]}}
          """
              .formatted(
                  now.minusSeconds(600),
                  now.plusSeconds(7_200),
                  now.plus(Duration.ofDays(2)),
                  now.plus(Duration.ofDays(2)).plusSeconds(10_800)));
    }
    if (path.contains("/maintenancewindows?")) {
      return object(
          """
          items:
          - metadata: {name: rack-7}
            spec: {flavors: [a100-rack-7]}
            status: {state: Upcoming, occurrences: [{start: %s, end: %s}]}
          """
              .formatted(
                  now.plus(Duration.ofDays(1)), now.plus(Duration.ofDays(1)).plusSeconds(21_600)));
    }
    return used(path.replaceFirst(".*by=([a-z]+).*", "$1"), now.truncatedTo(ChronoUnit.DAYS));
  }

  /** Thirty days on which more and less was used. */
  private static ApiOutcome used(String group, Instant today) {
    StringBuilder rows = new StringBuilder();
    for (int day = 30; day > 0; day--) {
      int half = day % 2 == 0 ? 1 : 3;
      rows.append(
          """
          - {by: {%1$s: vision-train}, since: %2$s, flavor: a100, resource: cpu, reserved: "%3$d",
             run: "%3$d", waited: "0", lost: "0", cost: "%4$s", saved: "0"}
          - {by: {%1$s: vision-train}, since: %2$s, flavor: a100, resource: nvidia.com/gpu,
             reserved: "%5$d", run: "%5$d", waited: "0", lost: "120", cost: "%6$s", saved: "0"}
          - {by: {%1$s: speech}, since: %2$s, flavor: spot, resource: cpu, reserved: "%7$d",
             run: "%7$d", waited: "0", lost: "0", cost: "0.2", saved: "0.05"}
          """
              .formatted(
                  group,
                  today.minus(day, ChronoUnit.DAYS),
                  23_040 * half,
                  new BigDecimal("0.1984").multiply(BigDecimal.valueOf(half)),
                  2_880 * half,
                  new BigDecimal("1.68").multiply(BigDecimal.valueOf(half)),
                  720 * day));
    }
    return object(
        "kind: Usage\nincomplete: false\ncurrency: EUR\nlabels: [team, sluice.dev/user]\nrows:\n"
            + rows);
  }

  private static ApiOutcome object(String yaml) {
    try {
      return new ApiOutcome.Written((ObjectNode) JsonMappers.YAML.readTree(yaml));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
