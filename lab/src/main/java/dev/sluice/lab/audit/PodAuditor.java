package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Replays the pods of one namespace, whatever made them, and compares the CPUs of those that may
 * run with a quota: pods without a gate that have neither ended nor are being deleted. Not
 * thread-safe.
 */
public final class PodAuditor {

  private final String namespace;
  private final Map<String, RunningPod> running = new HashMap<>();
  private BigDecimal peak = BigDecimal.ZERO;
  private List<String> atPeak = List.of();
  private final Function<JsonNode, Optional<String>> deletedJobOf;
  private final Set<String> released = new HashSet<>();
  private int pods;

  private record RunningPod(String name, BigDecimal cpus, Optional<String> deletedJob) {}

  private PodAuditor(String namespace, Function<JsonNode, Optional<String>> deletedJobOf) {
    this.namespace = namespace;
    this.deletedJobOf = deletedJobOf;
  }

  /**
   * What was found.
   *
   * @param pods how many pods ran
   * @param peak the most CPUs that pods had at once
   * @param atPeak the names of the pods that ran when this was first so, in alphabetical order
   */
  public record Result(int pods, BigDecimal peak, List<String> atPeak) {

    /** Copies the list. */
    public Result {
      atPeak = List.copyOf(atPeak);
    }
  }

  /** Replays a history, given in any order. Each pod counts until it ends or is being deleted. */
  public static Result audit(List<ObjectChange> history, String namespace) {
    return audit(history, namespace, object -> Optional.empty());
  }

  /**
   * Replays a history, given in any order, in which somebody deleted jobs. The quota of a deleted
   * job is free when its Workload is gone, while its pods run until the cluster's garbage collector
   * comes to them. So these count until a Workload of their job is gone.
   *
   * @param deletedJobOf the name of the job that a pod or a Workload belongs to if this job was
   *     deleted, otherwise empty
   */
  public static Result audit(
      List<ObjectChange> history,
      String namespace,
      Function<JsonNode, Optional<String>> deletedJobOf) {
    PodAuditor auditor = new PodAuditor(namespace, deletedJobOf);
    history.stream()
        .filter(change -> change.kind() == AuditedKind.POD || change.kind() == AuditedKind.WORKLOAD)
        .sorted(Comparator.comparingLong(ObjectChange::revision))
        .forEach(auditor::accept);
    return new Result(auditor.pods, auditor.peak, auditor.atPeak);
  }

  private void accept(ObjectChange change) {
    JsonNode object = change.object();
    if (!object.at("/metadata/namespace").asText().equals(namespace)) {
      return;
    }
    if (change.kind() == AuditedKind.POD) {
      acceptPod(object, change.deleted());
    } else if (change.deleted()) {
      deletedJobOf.apply(object).ifPresent(this::release);
    }
  }

  private void release(String job) {
    released.add(job);
    running.values().removeIf(pod -> pod.deletedJob().filter(job::equals).isPresent());
  }

  private void acceptPod(JsonNode pod, boolean deleted) {
    String uid = ObjectReader.uid(pod);
    Optional<String> job = deletedJobOf.apply(pod);
    if (deleted || !mayRun(pod) || job.filter(released::contains).isPresent()) {
      running.remove(uid);
      return;
    }
    RunningPod now = new RunningPod(pod.at("/metadata/name").asText(), cpus(pod), job);
    if (running.put(uid, now) == null) {
      pods++;
    }
    BigDecimal sum =
        running.values().stream().map(RunningPod::cpus).reduce(BigDecimal.ZERO, BigDecimal::add);
    if (sum.compareTo(peak) > 0) {
      peak = sum;
      atPeak = running.values().stream().map(RunningPod::name).sorted().toList();
    }
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
