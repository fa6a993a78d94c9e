package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.dashboard.WorkloadDocument.StartsDocument;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Lists of Workloads, a part at a time. */
final class WorkloadRows {

  /** The most of a condition's message that a row shows. */
  private static final int LONGEST_MESSAGE = 200;

  /** Until somebody changes an object, a Workload with this reason isn't even tried. */
  private static final String MISCONFIGURED = PendingReason.MISCONFIGURED.apiReason();

  /** What is unfinished first, by state; the newest first in each. */
  private static final Comparator<CachedWorkload> ORDER =
      Comparator.comparing(WorkloadState::of)
          .thenComparing(CachedWorkload::createdAt, Comparator.reverseOrder())
          .thenComparing(workload -> workload.id().namespace())
          .thenComparing(workload -> workload.id().name());

  private final DashboardSources sources;

  WorkloadRows(DashboardSources sources) {
    this.sources = sources;
  }

  /** The Workloads of these namespaces that a filter wants. */
  ObjectNode list(WorkloadFilter filter, Predicate<String> namespaces) {
    List<CachedWorkload> found = new ArrayList<>();
    for (CachedWorkload workload : sources.workloads().all()) {
      if (namespaces.test(workload.id().namespace())
          && filter.matches(workload, clusterQueue(workload))) {
        found.add(workload);
      }
    }
    found.sort(order(filter.sort()));
    ObjectNode document = JsonMappers.JSON.createObjectNode().put("total", found.size());
    document.put("offset", filter.offset());
    ArrayNode items = document.putArray("items");
    found.stream()
        .skip(filter.offset())
        .limit(filter.limit())
        .forEach(workload -> describe(items.addObject(), workload));
    return document;
  }

  private static Comparator<CachedWorkload> order(String sort) {
    return switch (sort) {
      case "oldest" -> Comparator.comparing(CachedWorkload::createdAt).thenComparing(ORDER);
      case "newest" ->
          Comparator.comparing(CachedWorkload::createdAt, Comparator.reverseOrder())
              .thenComparing(ORDER);
      case "priority" ->
          Comparator.comparingInt((CachedWorkload workload) -> workload.spec().priority())
              .reversed()
              .thenComparing(ORDER);
      case "name" -> Comparator.comparing(WorkloadRows::shownName).thenComparing(ORDER);
      default -> ORDER;
    };
  }

  /** People know a Workload by its job. */
  private static String shownName(CachedWorkload workload) {
    return workload.owner().map(owner -> owner.name()).orElse(workload.id().name());
  }

  /**
   * Pending Workloads at their positions.
   *
   * @param total how many are pending, those of hidden namespaces too
   * @param starts when Workloads are expected to start, as far as that is known
   */
  ObjectNode pending(
      List<PendingPosition> positions,
      int offset,
      int total,
      Predicate<String> namespaces,
      Map<WorkloadId, StartEstimate> starts) {
    ObjectNode document =
        JsonMappers.JSON.createObjectNode().put("total", total).put("offset", offset);
    ArrayNode items = document.putArray("items");
    for (PendingPosition position : positions) {
      ObjectNode row = items.addObject();
      row.put("position", position.inClusterQueue())
          .put("positionInLocalQueue", position.inLocalQueue());
      if (!namespaces.test(position.id().namespace())) {
        row.put("hidden", true);
        continue;
      }
      row.put("inadmissible", position.inadmissible());
      Optional<CachedWorkload> known =
          sources.workloads().get(position.id().namespace(), position.id().name());
      if (known.isPresent()) {
        describe(row, known.get());
      } else {
        row.put("namespace", position.id().namespace()).put("name", position.id().name());
      }
      row.put("priority", position.priority());
      StartEstimate start = starts.get(position.id());
      if (start != null) {
        StartsDocument.describe(row, start);
      }
    }
    return document;
  }

  /** The ClusterQueue that a Workload runs in or waits for; empty if none is known. */
  String clusterQueue(CachedWorkload workload) {
    return workload
        .status()
        .admission()
        .map(Admission::clusterQueue)
        .or(
            () ->
                sources
                    .views()
                    .localQueue(
                        new LocalQueueId(workload.id().namespace(), workload.spec().queueName()))
                    .map(LocalQueueView::clusterQueue))
        .orElse("");
  }

  /** Adds the job of a Workload, if both are known: people know jobs by their names. */
  void putOwner(ObjectNode node, WorkloadId id) {
    sources
        .workloads()
        .get(id.namespace(), id.name())
        .ifPresent(workload -> putOwner(node, workload));
  }

  private static void putOwner(ObjectNode node, CachedWorkload workload) {
    workload
        .owner()
        .ifPresent(
            owner -> node.putObject("owner").put("kind", owner.kind()).put("name", owner.name()));
  }

  /** What lists show of a Workload. */
  void describe(ObjectNode row, CachedWorkload workload) {
    WorkloadState state = WorkloadState.of(workload);
    row.put("namespace", workload.id().namespace())
        .put("name", workload.id().name())
        .put("queue", workload.spec().queueName())
        .put("clusterQueue", clusterQueue(workload))
        .put("state", state.text())
        .put("priority", workload.spec().priority())
        .put("created", workload.createdAt().toString())
        .put("since", state.since(workload).toString())
        .put("pods", workload.spec().podSets().stream().mapToLong(PodSet::count).sum());
    putOwner(row, workload);
    Optional<Condition> condition = state.condition(workload);
    String reason = condition.map(Condition::reason).orElse("");
    row.put("reason", reason);
    if (state == WorkloadState.PENDING && reason.equals(MISCONFIGURED)) {
      row.put("fault", true);
    }
    row.put(
        "message",
        ExplanationText.truncated(condition.map(Condition::message).orElse(""), LONGEST_MESSAGE));
  }
}
