package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.demo.Screens.Dashboard;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Present state of queues and Workloads, and the events, of one cluster, as lines of text. */
final class PoolDashboard implements Dashboard {

  private static final int BAR = 20;

  private final WatchRecorder recorder;
  private final EventLog events;

  PoolDashboard(WatchRecorder recorder, EventLog events) {
    this.recorder = recorder;
    this.events = events;
  }

  @Override
  public List<Section> sections() {
    return List.of(
        new Section("QUOTA", "queue", queues()), new Section("WORKLOADS", "job", workloads()));
  }

  @Override
  public List<String> events() {
    return events.lines();
  }

  /** A line for each flavor and resource of each ClusterQueue, with a bar of the reserved quota. */
  private List<Row> queues() {
    List<Row> lines = new ArrayList<>();
    for (JsonNode queue : recorder.current(AuditedKind.CLUSTER_QUEUE)) {
      for (JsonNode group : queue.at("/spec/resourceGroups")) {
        for (JsonNode flavor : group.path("flavors")) {
          for (JsonNode resource : flavor.path("resources")) {
            lines.add(Row.of(bar(queue, flavor.path("name").asText(), resource)));
          }
        }
      }
    }
    return lines;
  }

  private static String bar(JsonNode queue, String flavor, JsonNode resource) {
    String name = resource.path("name").asText();
    BigDecimal quota = amount(resource.path("nominalQuota"));
    BigDecimal reserved = reserved(queue, flavor, name);
    int filled =
        quota.signum() == 0
            ? 0
            : reserved
                .multiply(BigDecimal.valueOf(BAR))
                .divide(quota, RoundingMode.CEILING)
                .min(BigDecimal.valueOf(BAR))
                .intValue();
    return "%-15s %-14s %-9s %-4s [%s%s] %s of %s"
        .formatted(
            queue.at("/metadata/name").asText(),
            policy(queue),
            flavor,
            name,
            "#".repeat(filled),
            ".".repeat(BAR - filled),
            reserved.stripTrailingZeros().toPlainString(),
            quota.stripTrailingZeros().toPlainString());
  }

  /** How the queue chooses: by its annotation, else by its strategy. */
  private static String policy(JsonNode queue) {
    JsonNode annotations = queue.path("metadata").path("annotations");
    if (annotations.has(QueueAnnotations.BACKFILL)) {
      return "back-fill";
    }
    String extended = annotations.path(QueueAnnotations.STRATEGY).asText();
    return extended.isEmpty() ? queue.at("/spec/queueingStrategy").asText() : extended;
  }

  private static BigDecimal reserved(JsonNode queue, String flavor, String resource) {
    for (JsonNode each : queue.at("/status/flavorsReservation")) {
      if (each.path("name").asText().equals(flavor)) {
        for (JsonNode total : each.path("resources")) {
          if (total.path("name").asText().equals(resource)) {
            return amount(total.path("total"));
          }
        }
      }
    }
    return BigDecimal.ZERO;
  }

  private static BigDecimal amount(JsonNode quantity) {
    return quantity.isMissingNode()
        ? BigDecimal.ZERO
        : Quantity.getAmountInBytes(Quantity.parse(quantity.asText()));
  }

  /**
   * A row for each Workload, with its queue: first those that run, then those that wait, in the
   * order of their creation, with the reason.
   */
  private List<Row> workloads() {
    Map<String, Integer> waiting = new HashMap<>();
    List<Row> running = new ArrayList<>();
    List<Row> others = new ArrayList<>();
    recorder.current(AuditedKind.WORKLOAD).stream()
        .sorted(
            Comparator.comparing(
                    (JsonNode workload) -> workload.at("/metadata/creationTimestamp").asText())
                .thenComparing(workload -> workload.at("/metadata/name").asText()))
        .forEach(
            workload -> {
              String name = name(workload);
              if (condition(workload, "Finished", "True").isPresent()) {
                String reason =
                    condition(workload, "Finished", "True").get().path("reason").asText();
                others.add(row(name, "finished: " + reason, true));
              } else if (condition(workload, "Admitted", "True").isPresent()) {
                running.add(row(name, "runs: " + uses(workload), false));
              } else {
                String queue =
                    workload.at("/metadata/namespace").asText()
                        + "/"
                        + workload.at("/spec/queueName").asText();
                int position = waiting.merge(queue, 1, Integer::sum);
                others.add(waits(workload, name, position));
              }
            });
    running.addAll(others);
    return running;
  }

  private static Row row(String name, String state, boolean done) {
    String text = "%-32s %s".formatted(name, state);
    return new Row(text, text, done);
  }

  /** Positions and amounts change all the time; the reason is told anew when it is another one. */
  private static Row waits(JsonNode workload, String name, int position) {
    JsonNode reserved =
        condition(workload, "QuotaReserved", "False").orElse(MissingNode.getInstance());
    String reason = reserved.path("reason").asText();
    String why = reason.isEmpty() ? "" : ": " + reason + ": " + reserved.path("message").asText();
    return new Row(
        name + " waits " + reason, "%-32s waits at %d%s".formatted(name, position, why), false);
  }

  /** The name of the Workload's Job, behind its queue. */
  private static String name(JsonNode workload) {
    return workload.at("/metadata/namespace").asText()
        + "/"
        + workload.at("/metadata/ownerReferences/0/name").asText();
  }

  private static String uses(JsonNode workload) {
    List<String> flavors = new ArrayList<>();
    for (JsonNode podSet : workload.at("/status/admission/podSetAssignments")) {
      podSet
          .path("flavors")
          .properties()
          .forEach(
              flavor ->
                  flavors.add(
                      "%s %s of %s"
                          .formatted(
                              podSet.path("resourceUsage").path(flavor.getKey()).asText(),
                              flavor.getKey(),
                              flavor.getValue().asText())));
    }
    return String.join(", ", flavors);
  }

  private static Optional<JsonNode> condition(JsonNode workload, String type, String status) {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)
          && condition.path("status").asText().equals(status)) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  /** The events about Jobs, Workloads and Budgets in the scenario's namespace, as lines. */
  static final class EventLog implements AutoCloseable, Watcher<Event> {

    private static final Set<String> KINDS = Set.of("Job", "Workload", "Budget");

    /** Reason of the Job controller's event for each pod, which is not shown. */
    private static final String POD_MADE = "SuccessfulCreate";

    private final List<String> lines = new ArrayList<>();
    private final Watch watch;

    EventLog(KubernetesClient client, String namespace) {
      this.watch = client.v1().events().inNamespace(namespace).watch(this);
    }

    /** All lines so far. */
    List<String> lines() {
      synchronized (lines) {
        return List.copyOf(lines);
      }
    }

    @Override
    public void eventReceived(Action action, @Nullable Event event) {
      if (action != Action.ADDED
          || event == null
          || POD_MADE.equals(event.getReason())
          || !KINDS.contains(event.getInvolvedObject().getKind())) {
        return;
      }
      synchronized (lines) {
        lines.add(
            "%s %s/%s: %s"
                .formatted(
                    event.getReason(),
                    event.getInvolvedObject().getKind(),
                    event.getInvolvedObject().getName(),
                    event.getMessage()));
      }
    }

    /** The scenario does not depend on events: without the watch, fewer lines are shown. */
    @Override
    public void onClose(WatcherException cause) {
      synchronized (lines) {
        lines.add("(no more events: " + cause.getMessage() + ")");
      }
    }

    @Override
    public void close() {
      watch.close();
    }
  }
}
