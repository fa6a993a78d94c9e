package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Replays the pods of one namespace, whatever made them, and compares the CPUs of those that may
 * run with a quota: pods without a gate that have neither ended nor are being deleted. Not
 * thread-safe.
 */
public final class PodAuditor {

  private final String namespace;
  private final Map<String, BigDecimal> running = new HashMap<>();
  private BigDecimal peak = BigDecimal.ZERO;
  private int pods;

  private PodAuditor(String namespace) {
    this.namespace = namespace;
  }

  /**
   * What was found.
   *
   * @param pods how many pods ran
   * @param peak the most CPUs that pods had at once
   */
  public record Result(int pods, BigDecimal peak) {}

  /** Replays a history, given in any order. */
  public static Result audit(List<ObjectChange> history, String namespace) {
    PodAuditor auditor = new PodAuditor(namespace);
    history.stream()
        .filter(change -> change.kind() == AuditedKind.POD)
        .sorted(Comparator.comparingLong(ObjectChange::revision))
        .forEach(auditor::accept);
    return new Result(auditor.pods, auditor.peak);
  }

  private void accept(ObjectChange change) {
    JsonNode pod = change.object();
    if (!pod.at("/metadata/namespace").asText().equals(namespace)) {
      return;
    }
    String uid = ObjectReader.uid(pod);
    if (change.deleted() || !mayRun(pod)) {
      running.remove(uid);
      return;
    }
    if (running.put(uid, cpus(pod)) == null) {
      pods++;
    }
    peak = peak.max(running.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add));
  }

  private static boolean mayRun(JsonNode pod) {
    return pod.at("/spec/schedulingGates").isEmpty()
        && !pod.path("metadata").has("deletionTimestamp")
        && !ObjectReader.hasEnded(pod);
  }

  private static BigDecimal cpus(JsonNode pod) {
    BigDecimal sum = BigDecimal.ZERO;
    for (JsonNode container : pod.at("/spec/containers")) {
      sum =
          sum.add(
              Quantity.getAmountInBytes(
                  Quantity.parse(container.at("/resources/requests/cpu").asText("0"))));
    }
    return sum;
  }
}
