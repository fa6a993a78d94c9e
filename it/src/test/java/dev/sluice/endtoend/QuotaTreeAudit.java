package dev.sluice.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Judges the history of queues that were made from a tree whose root may use a fixed amount of cpu
 * and, in Gi, of memory: at every instant all queues and Cohorts together had at most that, and all
 * Workloads and all pods used at most that.
 */
final class QuotaTreeAudit {

  private static final String TREE = "tree";
  private static final String SOURCE = "/metadata/annotations/sluice.dev~1source-kind";
  private static final BigDecimal GI = BigDecimal.valueOf(1L << 30);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<ObjectChange> history;

  /** Room of the root from each revision on. */
  private final TreeMap<Long, Integer> rooms = new TreeMap<>();

  QuotaTreeAudit(List<ObjectChange> history, int room) {
    this.history = history;
    rooms.put(1L, room);
  }

  /** The tree's root has another amount from the write of this revision on. */
  QuotaTreeAudit from(long revision, int room) {
    rooms.put(revision, room);
    return this;
  }

  /** Whether an object was made from a quota. */
  static boolean isMade(JsonNode object) {
    return !object.at(SOURCE).isMissingNode();
  }

  /** What the auditor finds where the whole tree is one queue. */
  AuditReport whole() {
    List<ObjectChange> changes = new ArrayList<>();
    String flavor =
        history.stream()
            .filter(each -> each.kind() == AuditedKind.CLUSTER_QUEUE && isMade(each.object()))
            .map(each -> each.object().at("/spec/resourceGroups/0/flavors/0/name").asText())
            .findFirst()
            .orElse("");
    rooms.forEach(
        (revision, room) ->
            changes.add(
                new ObjectChange(revision, AuditedKind.CLUSTER_QUEUE, false, queue(flavor, room))));
    for (ObjectChange change : history) {
      switch (change.kind()) {
        case JOB, POD -> changes.add(change);
        case WORKLOAD -> changes.add(inTree(change));
        case CLUSTER_QUEUE, COHORT, LOCAL_QUEUE -> {}
      }
    }
    return Auditor.audit(changes);
  }

  private static ObjectNode queue(String flavor, int room) {
    ObjectNode queue = JSON.createObjectNode();
    queue.putObject("metadata").put("name", TREE);
    ObjectNode quotas =
        queue
            .putObject("spec")
            .putArray("resourceGroups")
            .addObject()
            .putArray("flavors")
            .addObject()
            .put("name", flavor);
    var resources = quotas.putArray("resources");
    resources.addObject().put("name", "cpu").put("nominalQuota", String.valueOf(room));
    resources.addObject().put("name", "memory").put("nominalQuota", room + "Gi");
    return queue;
  }

  private static ObjectChange inTree(ObjectChange change) {
    ObjectNode workload = change.object().deepCopy();
    if (workload.at("/status/admission") instanceof ObjectNode admission) {
      admission.put("clusterQueue", TREE);
    }
    return new ObjectChange(change.revision(), change.kind(), change.deleted(), workload);
  }

  /** Moments at which queues and Cohorts together had more than the root. */
  List<String> overGiven() {
    List<String> found = new ArrayList<>();
    Map<String, Map<String, BigDecimal>> given = new HashMap<>();
    for (ObjectChange change : history) {
      boolean queue = change.kind() == AuditedKind.CLUSTER_QUEUE;
      if ((!queue && change.kind() != AuditedKind.COHORT) || !isMade(change.object())) {
        continue;
      }
      String name = change.kind() + " " + change.object().at("/metadata/name").asText();
      given.put(name, change.deleted() ? Map.of() : nominal(change.object()));
      BigDecimal room = BigDecimal.valueOf(rooms.floorEntry(change.revision()).getValue());
      Map.of("cpu", room, "memory", room.multiply(GI))
          .forEach(
              (resource, most) -> {
                BigDecimal sum =
                    given.values().stream()
                        .map(each -> each.getOrDefault(resource, BigDecimal.ZERO))
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
                if (sum.compareTo(most) > 0) {
                  found.add(
                      "%d %s: %s of %s, %s are given"
                          .formatted(change.revision(), name, resource, most, sum));
                }
              });
    }
    return found;
  }

  private static Map<String, BigDecimal> nominal(JsonNode object) {
    Map<String, BigDecimal> result = new HashMap<>();
    for (JsonNode quota : object.at("/spec/resourceGroups/0/flavors/0/resources")) {
      result.put(
          quota.path("name").asText(),
          Quantity.getAmountInBytes(Quantity.parse(quota.path("nominalQuota").asText())));
    }
    return result;
  }
}
