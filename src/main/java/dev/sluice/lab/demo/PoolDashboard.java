package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Present state of queues and Workloads, and the events, of one cluster, as lines of text. */
final class PoolDashboard implements Dashboard {

  private static final int BAR = 30;

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
  private List<String> queues() {
    List<String> lines = new ArrayList<>();
    for (JsonNode queue : recorder.current(AuditedKind.CLUSTER_QUEUE)) {
      for (JsonNode group : queue.at("/spec/resourceGroups")) {
        for (JsonNode flavor : group.path("flavors")) {
          for (JsonNode resource : flavor.path("resources")) {
            lines.add(bar(queue, flavor.path("name").asText(), resource));
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
    return "%-14s %-9s %-4s [%s%s] %s of %s"
        .formatted(
            queue.at("/metadata/name").asText(),
            flavor,
            name,
            "#".repeat(filled),
            ".".repeat(BAR - filled),
            reserved.stripTrailingZeros().toPlainString(),
            quota.stripTrailingZeros().toPlainString());
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

  /** A line for each Workload, oldest first: its status and, while it is pending, the reason. */
  private List<String> workloads() {
    List<JsonNode> all =
        recorder.current(AuditedKind.WORKLOAD).stream()
            .sorted(
                Comparator.comparing(
                        (JsonNode workload) -> workload.at("/metadata/creationTimestamp").asText())
                    .thenComparing(workload -> workload.at("/metadata/name").asText()))
            .toList();
    List<String> lines = new ArrayList<>();
    int position = 0;
    for (JsonNode workload : all) {
      String state = state(workload, position);
      if (state.startsWith("waits")) {
        position++;
      }
      lines.add("%-32s %s".formatted(name(workload), state));
    }
    return lines;
  }

  /** The name of the Workload's Job. */
  private static String name(JsonNode workload) {
    return workload.at("/metadata/ownerReferences/0/name").asText();
  }

  private static String state(JsonNode workload, int position) {
    Optional<JsonNode> finished = condition(workload, "Finished", "True");
    if (finished.isPresent()) {
      return "finished: " + finished.get().path("reason").asText();
    }
    if (condition(workload, "Admitted", "True").isPresent()) {
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
      return "runs: " + String.join(", ", flavors);
    }
    return condition(workload, "QuotaReserved", "False")
        .map(
            condition ->
                "waits at %d: %s: %s"
                    .formatted(
                        position,
                        condition.path("reason").asText(),
                        condition.path("message").asText()))
        .orElse("waits at %d".formatted(position));
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
}
