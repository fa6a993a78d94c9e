package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Present state of clusters and Jobs, and the manager's events, as lines of text. */
final class ClusterDashboard implements Dashboard {

  private static final List<String> SHOWN = List.of("cpu", "nvidia.com/gpu");

  private static final String FINISHED = "finished";

  private final ScenarioClusters clusters;
  private final EventLog events;

  ClusterDashboard(ScenarioClusters clusters, EventLog events) {
    this.clusters = clusters;
    this.events = events;
  }

  @Override
  public List<Section> sections() {
    return List.of(
        new Section("CLUSTERS", "cluster", members().stream().map(Row::of).toList()),
        new Section("JOBS", "job", jobs()));
  }

  @Override
  public List<String> events() {
    return events.lines();
  }

  private List<String> members() {
    return Stream.concat(Stream.of(clusters.manager()), clusters.workers().values().stream())
        .map(this::member)
        .toList();
  }

  private String member(ScenarioMember member) {
    String link =
        member == clusters.manager()
            ? "decides"
            : clusters.proxy(member.name()).isDisconnected() ? "CUT OFF" : "connected";
    List<String> used = new ArrayList<>();
    for (JsonNode queue : member.recorder().current(AuditedKind.CLUSTER_QUEUE)) {
      for (String resource : SHOWN) {
        used.add(
            "%s %s of %s"
                .formatted(
                    resource,
                    total(queue.at("/status/flavorsReservation"), resource, "total"),
                    total(queue.at("/spec/resourceGroups/0/flavors"), resource, "nominalQuota")));
      }
    }
    return "%-8s %-10s %s".formatted(member.name(), link, String.join(", ", used));
  }

  private static String total(JsonNode flavors, String resource, String field) {
    BigDecimal sum = BigDecimal.ZERO;
    for (JsonNode flavor : flavors) {
      for (JsonNode each : flavor.path("resources")) {
        if (each.path("name").asText().equals(resource)) {
          sum = sum.add(Quantity.getAmountInBytes(Quantity.parse(each.path(field).asText("0"))));
        }
      }
    }
    return sum.stripTrailingZeros().toPlainString();
  }

  private List<Row> jobs() {
    return clusters.manager().recorder().current(AuditedKind.JOB).stream()
        .sorted(
            Comparator.comparing((JsonNode job) -> job.at("/metadata/creationTimestamp").asText())
                .thenComparing(job -> job.at("/metadata/name").asText()))
        .map(this::job)
        .toList();
  }

  private Row job(JsonNode job) {
    String name = job.at("/metadata/name").asText();
    ClusterJob both = new ClusterJob(clusters, name);
    String standing =
        both.workload().map(workload -> standing(both, workload)).orElse("has no Workload");
    List<String> pods = new ArrayList<>();
    for (String worker : clusters.workers().keySet()) {
      int running = both.runningIn(worker);
      if (running > 0) {
        pods.add(running + " on " + worker);
      }
    }
    String text =
        "%-17s %-28s active %-2d succeeded %-2d pods: %s"
            .formatted(
                name,
                standing,
                both.activeHere(),
                job.at("/status/succeeded").asInt(),
                pods.isEmpty() ? "none" : String.join(", ", pods));
    return new Row(text, text, standing.equals(FINISHED));
  }

  private static String standing(ClusterJob job, JsonNode workload) {
    if (ScenarioClusters.isTrue(workload, "Finished")) {
      return FINISHED;
    }
    if (ScenarioClusters.isTrue(workload, "Evicted")) {
      return "is sent back";
    }
    if (!job.cluster().isEmpty()) {
      return "runs in " + job.cluster();
    }
    List<String> asked = new ArrayList<>();
    workload.at("/status/nominatedClusterNames").forEach(each -> asked.add(each.asText()));
    return asked.isEmpty() ? "waits" : "offered to " + String.join(", ", asked);
  }
}
