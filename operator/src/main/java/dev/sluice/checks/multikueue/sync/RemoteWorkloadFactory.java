package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.checks.multikueue.fencing.FencingController.FenceAnnotations;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.status.PreemptionGates;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Creates, reads and compares remote Workloads. Thread-safe. */
final class RemoteWorkloadFactory {

  private static final String API_VERSION = "kueue.x-k8s.io/v1beta2";

  /** The name of the manager's preemption gate. */
  private static final String GATE = KueueConstants.MULTIKUEUE;

  /**
   * Annotation of a remote Workload: the UID of the manager's Workload that it was made for. One
   * without it counts as made for the present one.
   */
  static final String ORIGIN_WORKLOAD_UID = "sluice.dev/origin-workload-uid";

  private final WorkloadParser parser = new WorkloadParser();

  /** The path of all Workloads of a namespace at an API server. */
  static String path(String namespace) {
    return "apis/" + API_VERSION + "/namespaces/" + namespace + "/workloads";
  }

  /** The path of one Workload at an API server. */
  static String path(String namespace, String name) {
    return path(namespace) + "/" + name;
  }

  /**
   * The Workload to create in a worker.
   *
   * @param orchestrated whether the worker may preempt for it only after the manager opened its
   *     gate
   * @param fence how long after the manager's last renewal the worker deactivates it
   */
  static ObjectNode copy(
      JsonNode workload, OriginLabel originLabel, boolean orchestrated, Optional<Duration> fence) {
    ObjectNode copy = JsonNodeFactory.instance.objectNode();
    copy.put("apiVersion", API_VERSION).put("kind", "Workload");
    ObjectNode metadata = copy.putObject("metadata");
    for (String field : List.of("name", "namespace", "labels", "annotations")) {
      if (workload.path("metadata").has(field)) {
        metadata.set(field, workload.path("metadata").path(field).deepCopy());
      }
    }
    metadata
        .withObjectProperty("labels")
        .remove(List.of(KueueConstants.JOB_UID, KueueConstants.CONCURRENT_ADMISSION_PARENT));
    if (metadata.path("annotations") instanceof ObjectNode annotations) {
      annotations.remove(
          List.of(LocalClusterAnnotations.MAY_RUN_HERE, KueueConstants.ALLOWED_RESOURCE_FLAVORS));
    }
    copy.set("spec", workload.path("spec").deepCopy());
    if (orchestrated) {
      ArrayNode gates = copy.withObjectProperty("spec").withArrayProperty("preemptionGates");
      if (gates.findValuesAsText("name").stream().noneMatch(GATE::equals)) {
        gates.addObject().put("name", GATE);
      }
    }
    originLabel.apply(copy);
    String uid = workload.path("metadata").path("uid").asText();
    if (!uid.isEmpty()) {
      metadata.withObjectProperty("annotations").put(ORIGIN_WORKLOAD_UID, uid);
    }
    fence.ifPresent(
        after ->
            metadata
                .withObjectProperty("annotations")
                .put(FenceAnnotations.AFTER, after.toString()));
    return copy;
  }

  /**
   * The state of a remote Workload, compared with the manager's Workload if that exists. A remote
   * Workload that can't be read counts as one that has not answered, so that one worker doesn't
   * keep the Workload from running in another one.
   *
   * @param scalesRemotely whether the size of the job is written in the worker
   */
  WorkerState.Copy read(JsonNode remote, Optional<CachedWorkload> local, boolean scalesRemotely) {
    try {
      CachedWorkload copy = parser.parse(JsonMappers.JSON.writeValueAsBytes(remote));
      return state(copy, difference(remote, copy, local, scalesRemotely));
    } catch (IOException | RuntimeException e) {
      return new WorkerState.Copy(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Difference.NONE,
          "its Workload can't be read");
    }
  }

  private static WorkerState.Copy state(CachedWorkload copy, Difference difference) {
    Optional<Condition> evicted = copy.status().trueCondition("Evicted");
    return new WorkerState.Copy(
        copy.status()
            .trueCondition("Finished")
            .map(end -> new WorkerState.Ending(end.reason(), end.message())),
        evicted.map(Condition::lastTransitionTime),
        evicted.isPresent()
            ? Optional.empty()
            : copy.status().trueCondition("Admitted").map(Condition::lastTransitionTime),
        difference,
        reports(copy),
        gate(copy));
  }

  private static Difference difference(
      JsonNode remote,
      CachedWorkload copy,
      Optional<CachedWorkload> local,
      boolean scalesRemotely) {
    String madeFor = remote.path("metadata").path("annotations").path(ORIGIN_WORKLOAD_UID).asText();
    boolean other =
        !madeFor.isEmpty() && local.filter(ours -> !ours.id().uid().equals(madeFor)).isPresent();
    return other
        ? Difference.OTHER_WORKLOAD
        : local.map(ours -> difference(ours, copy, scalesRemotely)).orElse(Difference.NONE);
  }

  /**
   * The worker's message about a remote Workload; changes only when the worker's answer changes.
   */
  static String reports(CachedWorkload copy) {
    if (!copy.spec().active()) {
      return "is deactivated there";
    }
    if (copy.evicted()) {
      return "sent it back: " + reported(copy, "Evicted");
    }
    if (copy.admitted()) {
      return "admitted it";
    }
    if (copy.quotaReserved()) {
      return copy.status().admissionChecks().stream()
          .filter(check -> !check.is(CheckState.READY))
          .map(check -> check.name() + (check.message().isEmpty() ? "" : ", " + check.message()))
          .collect(
              Collectors.joining(" and ", "has quota for it, waits for admission checks: ", ""));
    }
    Optional<Condition> quota = copy.status().condition("QuotaReserved");
    if (quota.isEmpty()) {
      return "has not answered yet";
    }
    return quota.get().reason().equals("WaitingForQuota")
        ? "waits for quota: " + quota.get().message()
        : "waits: " + reported(copy, "QuotaReserved");
  }

  private static String reported(CachedWorkload copy, String type) {
    Condition condition = copy.status().condition(type).orElseThrow();
    return condition.message().isEmpty()
        ? condition.reason()
        : condition.reason() + ", " + condition.message();
  }

  private static Optional<WorkerState.Gate> gate(CachedWorkload copy) {
    return copy.spec().preemptionGates().contains(GATE)
        ? Optional.of(
            new WorkerState.Gate(
                copy.status()
                    .trueCondition(PreemptionGates.BLOCKED)
                    .map(Condition::lastTransitionTime),
                copy.status().gates().stream()
                    .filter(gate -> gate.name().equals(GATE) && gate.open())
                    .map(CachedWorkload.Gate::lastTransitionTime)
                    .findFirst()))
        : Optional.empty();
  }

  /**
   * An elastic job that has fewer pods now: a copy without quota is resized. One with quota is
   * resized by the worker when the pods are gone; if the job is scaled there, the manager follows.
   */
  private static Difference difference(
      CachedWorkload ours, CachedWorkload copy, boolean scalesRemotely) {
    boolean shrunk =
        ours.elastic()
            && !counts(ours).equals(counts(copy))
            && (isWithin(ours, copy)
                || (scalesRemotely && copy.quotaReserved() && isWithin(copy, ours)));
    if (!shrunk) {
      return difference(ours.spec(), copy.spec());
    }
    Difference other = difference(ours.spec(), resized(copy.spec(), counts(ours)));
    return other == Difference.NONE && !copy.quotaReserved() ? Difference.PATCHABLE : other;
  }

  private static List<Integer> counts(CachedWorkload workload) {
    return workload.spec().podSets().stream().map(CachedWorkload.PodSet::count).toList();
  }

  private static boolean isWithin(CachedWorkload smallerWorkload, CachedWorkload largerWorkload) {
    List<Integer> wanted = counts(smallerWorkload);
    List<Integer> has = counts(largerWorkload);
    return wanted.size() == has.size()
        && IntStream.range(0, has.size()).allMatch(i -> wanted.get(i) <= has.get(i));
  }

  private static CachedWorkload.Spec resized(CachedWorkload.Spec spec, List<Integer> counts) {
    List<CachedWorkload.PodSet> podSets = new ArrayList<>();
    for (int i = 0; i < counts.size(); i++) {
      podSets.add(spec.podSets().get(i).withCount(counts.get(i)));
    }
    return new CachedWorkload.Spec(
        spec.queueName(),
        podSets,
        spec.priority(),
        spec.priorityClass(),
        spec.active(),
        spec.maximumExecutionTimeSeconds(),
        spec.preemptionGates());
  }

  private static Difference difference(CachedWorkload.Spec ours, CachedWorkload.Spec theirs) {
    CachedWorkload.Spec gatedLikeUs =
        new CachedWorkload.Spec(
            theirs.queueName(),
            theirs.podSets(),
            theirs.priority(),
            theirs.priorityClass(),
            theirs.active(),
            theirs.maximumExecutionTimeSeconds(),
            ours.preemptionGates());
    if (ours.equals(gatedLikeUs)) {
      return Difference.NONE;
    }
    CachedWorkload.Spec aligned =
        new CachedWorkload.Spec(
            theirs.queueName(),
            theirs.podSets(),
            ours.priority(),
            ours.priorityClass(),
            theirs.active(),
            theirs.maximumExecutionTimeSeconds(),
            ours.preemptionGates());
    return ours.equals(aligned) ? Difference.PATCHABLE : Difference.OTHER;
  }

  /** The patch that copies the manager's priority to the remote Workload. */
  static ObjectNode withSpecOf(CachedWorkload ours) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode spec = patch.putObject("spec").put("priority", ours.spec().priority());
    ours.spec()
        .priorityClass()
        .ifPresentOrElse(
            from ->
                spec.putObject("priorityClassRef")
                    .put("group", from.group())
                    .put("kind", from.kind())
                    .put("name", from.name()),
            () -> spec.putNull("priorityClassRef"));
    return patch;
  }

  /** Adds the manager's sizes to the patch of a remote Workload that has no quota yet. */
  static void resizePending(ObjectNode patch, JsonNode ours, @Nullable JsonNode copy) {
    if (copy != null && !holdsQuota(copy)) {
      patch.withObjectProperty("spec").set("podSets", ours.path("spec").path("podSets"));
    }
  }

  /** Makes a remote job the controller of a remote Workload that isn't created yet. */
  static void own(ObjectNode copy, JsonNode job) {
    copy.withObjectProperty("metadata")
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", job.path("apiVersion").asText())
        .put("kind", job.path("kind").asText())
        .put("name", job.path("metadata").path("name").asText())
        .put("uid", job.path("metadata").path("uid").asText())
        .put("controller", true)
        .put("blockOwnerDeletion", true);
  }

  /** Whether a remote Workload holds quota. */
  static boolean holdsQuota(JsonNode copy) {
    return isTrue(copy, "QuotaReserved");
  }

  /** Whether a remote Workload is finished. */
  static boolean isFinished(JsonNode copy) {
    return isTrue(copy, "Finished");
  }

  private static boolean isTrue(JsonNode copy, String type) {
    for (JsonNode condition : copy.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  /** Whether a remote Workload is admitted, not evicted and not finished. */
  static boolean isAdmitted(JsonNode copy) {
    boolean admitted = false;
    for (JsonNode condition : copy.path("status").path("conditions")) {
      boolean isTrue = condition.path("status").asText().equals("True");
      switch (condition.path("type").asText()) {
        case "Admitted" -> admitted = isTrue;
        case "Evicted", "Finished" -> {
          if (isTrue) {
            return false;
          }
        }
        default -> {}
      }
    }
    return admitted;
  }

  /** The patch that opens the gate of a remote Workload; empty if it is open already. */
  static ObjectNode opened(JsonNode copy, Instant now) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode gates = JsonNodeFactory.instance.arrayNode();
    for (JsonNode gate : copy.path("status").path("preemptionGates")) {
      if (!gate.path("name").asText().equals(GATE)) {
        gates.add(gate.deepCopy());
      } else if (gate.path("position").asText().equals("Open")) {
        return patch;
      }
    }
    gates
        .addObject()
        .put("name", GATE)
        .put("position", "Open")
        .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
    patch
        .putObject("metadata")
        .put("resourceVersion", copy.path("metadata").path("resourceVersion").asText());
    patch.putObject("status").set("preemptionGates", gates);
    return patch;
  }

  /** The patch that makes a worker stop a remote Workload; empty if it was requested already. */
  static ObjectNode stopped(JsonNode copy, Instant now) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode conditions = JsonNodeFactory.instance.arrayNode();
    for (JsonNode condition : copy.path("status").path("conditions")) {
      if (!condition.path("type").asText().equals("DeactivationTarget")) {
        conditions.add(condition.deepCopy());
      } else if (condition.path("status").asText().equals("True")) {
        return patch;
      }
    }
    conditions
        .addObject()
        .put("type", "DeactivationTarget")
        .put("status", "True")
        .put("reason", "EvictedOnManagerCluster")
        .put("message", "The workload is evicted in the manager cluster")
        .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
    patch
        .putObject("metadata")
        .put("resourceVersion", copy.path("metadata").path("resourceVersion").asText());
    patch.putObject("status").set("conditions", conditions);
    return patch;
  }
}
