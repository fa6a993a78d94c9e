package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * When each Workload of some namespaces was created, was given quota and had ended, as it was seen.
 * Thread-safe.
 */
public final class PolicyTrial {

  private final Map<String, TrialJob> byUid = new HashMap<>();

  /**
   * One Workload.
   *
   * @param namespace one for each policy
   * @param cpus what it requests
   * @param priority higher first
   * @param second of its creation: Workloads of one second have no order that anybody would expect
   * @param created when it was seen first
   * @param reserved when it was seen with quota first
   * @param finished when it was seen at its end
   */
  public record TrialJob(
      String namespace,
      int cpus,
      int priority,
      Instant second,
      Instant created,
      Optional<Instant> reserved,
      Optional<Instant> finished) {}

  /** Notes a change that was seen now. */
  public synchronized void see(ObjectChange change, Instant now) {
    JsonNode object = change.object();
    String uid = object.at("/metadata/uid").asText();
    if (change.kind() != AuditedKind.WORKLOAD || (change.deleted() && !byUid.containsKey(uid))) {
      return;
    }
    TrialJob before = byUid.computeIfAbsent(uid, any -> first(object, now));
    byUid.put(
        uid,
        new TrialJob(
            before.namespace(),
            before.cpus(),
            before.priority(),
            before.second(),
            before.created(),
            before.reserved().or(() -> isTrue(object, "QuotaReserved", now)),
            before.finished().or(() -> isTrue(object, "Finished", now))));
  }

  private static TrialJob first(JsonNode workload, Instant now) {
    return new TrialJob(
        workload.at("/metadata/namespace").asText(),
        workload.at("/spec/podSets/0/template/spec/containers/0/resources/requests/cpu").asInt(),
        workload.at("/spec/priority").asInt(),
        Instant.parse(workload.at("/metadata/creationTimestamp").asText()),
        now,
        Optional.empty(),
        Optional.empty());
  }

  private static Optional<Instant> isTrue(JsonNode workload, String type, Instant now) {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)
          && condition.path("status").asText().equals("True")) {
        return Optional.of(now);
      }
    }
    return Optional.empty();
  }

  /** The Workloads of a namespace that have quota or had it. */
  public synchronized List<TrialJob> served(String namespace) {
    List<TrialJob> result = new ArrayList<>();
    for (TrialJob each : byUid.values()) {
      if (each.namespace().equals(namespace) && each.reserved().isPresent()) {
        result.add(each);
      }
    }
    return result;
  }

  /** How many Workloads of a namespace have ended. */
  public synchronized long finished(String namespace) {
    return byUid.values().stream()
        .filter(each -> Objects.equals(each.namespace(), namespace))
        .filter(each -> each.finished().isPresent())
        .count();
  }
}
