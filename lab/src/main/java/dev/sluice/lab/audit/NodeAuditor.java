package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Replays the pods that are placed by a topology, and compares what those of each node request with
 * what the node has. A pod counts from the moment at which its gate is removed, whether it is bound
 * to its node yet or not, until it ends, is being deleted or is gone. Not thread-safe.
 */
public final class NodeAuditor {

  private static final String PODS = "pods";

  private final Map<String, Map<String, BigDecimal>> allocatable;
  private final Map<String, Placed> placed = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private int seen;

  /** A pod with a node. */
  private record Placed(String node, Map<String, BigDecimal> requests) {}

  /**
   * What was found.
   *
   * @param pods the number of pods that had a node
   * @param violations one for each pod that exceeded its node
   */
  public record Result(int pods, List<Violation> violations) {}

  private NodeAuditor(Map<String, Map<String, BigDecimal>> allocatable) {
    this.allocatable = allocatable;
  }

  /**
   * Replays a history, given in any order.
   *
   * @param allocatable what each node has, by resource; nodes that are not named are not judged
   */
  public static Result audit(
      List<ObjectChange> history, Map<String, Map<String, BigDecimal>> allocatable) {
    NodeAuditor auditor = new NodeAuditor(allocatable);
    history.stream()
        .filter(change -> change.kind() == AuditedKind.POD)
        .sorted(Comparator.comparingLong(ObjectChange::revision))
        .forEach(auditor::accept);
    return new Result(auditor.seen, List.copyOf(auditor.violations));
  }

  private void accept(ObjectChange change) {
    JsonNode pod = change.object();
    String uid = ObjectReader.uid(pod);
    String node = nodeOf(pod);
    if (change.deleted() || !isPlaced(pod) || !allocatable.containsKey(node)) {
      placed.remove(uid);
      return;
    }
    Placed before = placed.put(uid, new Placed(node, requests(pod)));
    if (before == null) {
      seen++;
    }
    if (before == null || !before.equals(placed.get(uid))) {
      judge(node, change);
    }
  }

  private void judge(String node, ObjectChange change) {
    Map<String, BigDecimal> sums = new HashMap<>();
    placed.values().stream()
        .filter(pod -> pod.node().equals(node))
        .forEach(
            pod ->
                pod.requests()
                    .forEach((resource, amount) -> sums.merge(resource, amount, BigDecimal::add)));
    Map<String, BigDecimal> limits = allocatable.getOrDefault(node, Map.of());
    sums.forEach(
        (resource, sum) -> {
          BigDecimal limit = limits.getOrDefault(resource, BigDecimal.ZERO);
          if (sum.compareTo(limit) > 0) {
            violations.add(
                new Violation(
                    Rule.WITHIN_NODE,
                    change.revision(),
                    ObjectReader.name(change.object()),
                    "%s: %s of %s requested, %s there"
                        .formatted(node, sum.toPlainString(), resource, limit.toPlainString())));
          }
        });
  }

  private static boolean isPlaced(JsonNode pod) {
    return pod.at("/metadata/annotations").has(KueueConstants.WORKLOAD)
        && pod.at("/spec/schedulingGates").isEmpty()
        && !pod.path("metadata").has("deletionTimestamp")
        && !ObjectReader.hasEnded(pod);
  }

  private static String nodeOf(JsonNode pod) {
    String bound = pod.at("/spec/nodeName").asText("");
    return bound.isEmpty()
        ? pod.at("/spec/nodeSelector").path(TopologySpec.HOSTNAME).asText("")
        : bound;
  }

  /** What the containers of a pod request; the pod itself is one of {@code pods}. */
  private static Map<String, BigDecimal> requests(JsonNode pod) {
    Map<String, BigDecimal> sums = new HashMap<>();
    sums.put(PODS, BigDecimal.ONE);
    for (JsonNode container : pod.at("/spec/containers")) {
      container
          .at("/resources/requests")
          .properties()
          .forEach(
              each ->
                  sums.merge(each.getKey(), amount(each.getValue().asText("0")), BigDecimal::add));
    }
    return sums;
  }

  /** The number that a quantity stands for. */
  public static BigDecimal amount(String quantity) {
    return Quantity.getAmountInBytes(Quantity.parse(quantity)).stripTrailingZeros();
  }
}
