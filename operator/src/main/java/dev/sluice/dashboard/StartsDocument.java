package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.visibility.StartText;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** When pending Workloads are expected to start (docs/expected-starts.md). */
final class StartsDocument {

  /** A time line has so many rows. */
  private static final int MOST = 20;

  private final WorkloadRows rows;

  StartsDocument(WorkloadRows rows) {
    this.rows = rows;
  }

  /**
   * What is planned in a queue: the first pending Workloads of which a time is known, expected or
   * planned. Workloads of hidden namespaces are left out.
   */
  ObjectNode of(
      List<PendingPosition> positions,
      Map<WorkloadId, StartEstimate> starts,
      List<PlannedStart> plannedStarts,
      Predicate<String> namespaces,
      Instant now) {
    ObjectNode document = JsonMappers.JSON.createObjectNode().put("now", now.toString());
    ArrayNode items = document.putArray("items");
    Map<WorkloadId, PlannedStart> plans =
        plannedStarts.stream().collect(Collectors.toMap(PlannedStart::id, Function.identity()));
    for (PendingPosition position : positions) {
      if (items.size() == MOST) {
        break;
      }
      StartEstimate start = starts.get(position.id());
      PlannedStart plan = plans.get(position.id());
      if (((start != null && start.range().isPresent()) || plan != null)
          && namespaces.test(position.id().namespace())) {
        ObjectNode item =
            items
                .addObject()
                .put("position", position.inClusterQueue())
                .put("namespace", position.id().namespace())
                .put("name", position.id().name());
        rows.putOwner(item, position.id());
        if (start != null) {
          describe(item, start);
        }
        if (plan != null) {
          plan(item.putObject("plan"), plan);
        }
      }
    }
    return document;
  }

  /** Adds when a Workload starts at the latest, as it was planned. */
  static void plan(ObjectNode node, PlannedStart start) {
    node.put("plannedStart", start.at().toString()).put("promised", start.promised().toString());
    start.lateBy().forEach(cause -> node.withArray("lateBy").add(cause.text()));
  }

  /** Adds an estimate to what is shown of a Workload. */
  static void describe(ObjectNode node, StartEstimate estimate) {
    ObjectNode start = node.putObject("start").put("basis", estimate.basis().apiName());
    estimate
        .range()
        .ifPresent(
            range -> {
              start
                  .put("earliest", range.earliest().toString())
                  .put("expected", range.expected().toString());
              range.latest().ifPresent(latest -> start.put("latest", latest.toString()));
            });
    start.put("text", StartText.line(estimate));
  }
}
