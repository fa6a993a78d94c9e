package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kubequeue.ForeignQueueUnit.UnitPhase;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The QueueUnit that shows a Workload, as server-side apply takes it: all fields that are this
 * program's, and no other. Pure.
 *
 * @param object metadata and spec
 * @param status the status, in an object of its own
 */
record QueueUnitManifest(ObjectNode object, ObjectNode status) {

  private static final int MOST_CHECKS = 8;
  private static final int MOST_ADMISSIONS = 32;

  /**
   * The unit of a Workload.
   *
   * @param name of the unit
   * @param owner the job that controls the Workload
   * @param job the job itself, where its kind is known here
   * @param queue the ClusterQueue of the Workload; empty if there is none
   */
  static QueueUnitManifest of(
      String name,
      CachedWorkload workload,
      CachedWorkload.Owner owner,
      Optional<CachedJob> job,
      String queue) {
    ObjectNode object = identity(workload, name);
    metadata((ObjectNode) object.get("metadata"), workload, owner, job);
    spec(object.putObject("spec"), workload, owner, queue);
    ObjectNode status = identity(workload, name);
    boolean running =
        workload.status().isTrue("PodsReady")
            || job.filter(it -> it.state().podsReady() && !it.state().suspended()).isPresent();
    status(status.putObject("status"), workload, WorkloadPhase.of(workload, running));
    return new QueueUnitManifest(object, status);
  }

  /** The unit with its status, for a definition that has no status subresource. */
  ObjectNode whole() {
    ObjectNode unit = object.deepCopy();
    unit.set("status", status.path("status").deepCopy());
    return unit;
  }

  private static ObjectNode identity(CachedWorkload workload, String name) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object.put("apiVersion", QueueUnits.GROUP + "/" + QueueUnits.VERSION);
    object.put("kind", QueueUnits.KIND);
    object.putObject("metadata").put("name", name).put("namespace", workload.id().namespace());
    return object;
  }

  private static void metadata(
      ObjectNode metadata,
      CachedWorkload workload,
      CachedWorkload.Owner owner,
      Optional<CachedJob> job) {
    ObjectNode labels = metadata.putObject("labels");
    job.ifPresent(it -> it.labels().forEach(labels::put));
    labels.remove(KueueConstants.QUEUE_NAME);
    labels.put(QueueUnits.MIRROR, "true");
    ObjectNode annotations = metadata.putObject("annotations");
    annotations.put(QueueUnits.WORKLOAD, workload.id().name());
    annotations.put(QueueUnits.SHOWN, QueueUnits.shown(priority(workload), isActive(workload)));
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("name", owner.name())
        .put("uid", owner.uid())
        .put("controller", true);
  }

  /** The priority of a Workload with its boost. */
  static int priority(CachedWorkload workload) {
    return (int)
        Math.clamp(
            (long) workload.spec().priority() + boost(workload),
            Integer.MIN_VALUE,
            Integer.MAX_VALUE);
  }

  /** The boost of a Workload; 0 if there is none that is a number. */
  static int boost(CachedWorkload workload) {
    try {
      return Integer.parseInt(
          workload.annotations().getOrDefault(KueueConstants.PRIORITY_BOOST, "0"));
    } catch (NumberFormatException notANumber) {
      return 0;
    }
  }

  private static boolean isActive(CachedWorkload workload) {
    return workload.spec().active();
  }

  private static void spec(
      ObjectNode spec, CachedWorkload workload, CachedWorkload.Owner owner, String queue) {
    spec.putObject("consumerRef")
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("namespace", workload.id().namespace())
        .put("name", owner.name())
        .put("uid", owner.uid());
    spec.put("priority", priority(workload));
    workload
        .spec()
        .priorityClass()
        .ifPresent(priorityClass -> spec.put("priorityClassName", priorityClass.name()));
    spec.put("active", isActive(workload));
    if (!queue.isEmpty() && workload.admitted()) {
      spec.put("queue", queue);
    }
  }

  private static void status(ObjectNode status, CachedWorkload workload, WorkloadPhase phase) {
    status.put("phase", phase.name()).put("message", phase.message());
    workload.status().conditions().stream()
        .map(Condition::lastTransitionTime)
        .filter(time -> time.isAfter(Instant.EPOCH))
        .max(Instant::compareTo)
        .ifPresent(time -> status.put("lastUpdateTime", time.toString()));
    ArrayNode checks = status.putArray("admissionChecks");
    for (CheckState check :
        workload.status().admissionChecks().stream().limit(MOST_CHECKS).toList()) {
      checks
          .addObject()
          .put("name", check.name())
          .put("state", check.state())
          .put("message", check.message())
          .put("lastTransitionTime", check.lastTransitionTime().toString());
    }
    ArrayNode admissions = status.putArray("admissions");
    Optional<Admission> admission =
        workload.status().admission().filter(it -> !workload.finished());
    if (admission.isPresent()) {
      admission.get().podSetAssignments().stream()
          .limit(MOST_ADMISSIONS)
          .forEach(assignment -> admission(admissions.addObject(), workload, assignment));
    }
  }

  private static void admission(ObjectNode entry, CachedWorkload workload, Assignment assignment) {
    entry.put("name", assignment.name()).put("replicas", assignment.count());
    ObjectNode resources = entry.putObject("resources");
    for (Map.Entry<String, String> usage : assignment.resourceUsage().entrySet()) {
      resources.put(usage.getKey(), usage.getValue());
    }
    int reclaimed = workload.status().reclaimablePods().getOrDefault(assignment.name(), 0);
    if (reclaimed > 0) {
      entry.putObject("reclaimState").put("replicas", reclaimed);
    }
  }

  /**
   * The phase that the QueueUnit of a Workload shows: a pure function of the Workload and of
   * whether its job runs.
   *
   * @param name the phase
   * @param message why; empty if there is nothing to say
   */
  private record WorkloadPhase(String name, String message) {

    private static final String TIMEOUT = "PodsReadyTimeout";

    /**
     * The phase of a Workload.
     *
     * @param running whether the pods of its job run
     */
    static WorkloadPhase of(CachedWorkload workload, boolean running) {
      Optional<Condition> finished = when(workload, "Finished");
      if (finished.isPresent()) {
        boolean succeeded = finished.get().reason().equals("Succeeded");
        return of(succeeded ? UnitPhase.SUCCEED : UnitPhase.FAILED, finished.get());
      }
      Optional<Condition> evicted = when(workload, "Evicted");
      if (evicted.isPresent() && workload.quotaReserved()) {
        boolean late = evicted.get().reason().equals(TIMEOUT);
        return of(late ? UnitPhase.TIMEOUT_BACKOFF : UnitPhase.PREEMPTED, evicted.get());
      }
      if (workload.admitted()) {
        return of(
            running ? UnitPhase.RUNNING : UnitPhase.DEQUEUED, condition(workload, "Admitted"));
      }
      if (workload.quotaReserved()) {
        return of(UnitPhase.RESERVED, condition(workload, "QuotaReserved"));
      }
      Optional<Condition> requeued = condition(workload, "Requeued");
      boolean pausing =
          requeued
              .filter(it -> it.status().equals("False") && it.reason().equals(TIMEOUT))
              .isPresent();
      return pausing
          ? of(UnitPhase.TIMEOUT_BACKOFF, requeued)
          : of(UnitPhase.ENQUEUED, condition(workload, "QuotaReserved"));
    }

    private static WorkloadPhase of(String phase, Condition condition) {
      return new WorkloadPhase(phase, condition.message());
    }

    private static WorkloadPhase of(String phase, Optional<Condition> condition) {
      return new WorkloadPhase(phase, condition.map(Condition::message).orElse(""));
    }

    private static Optional<Condition> condition(CachedWorkload workload, String type) {
      return workload.status().condition(type);
    }

    private static Optional<Condition> when(CachedWorkload workload, String type) {
      return workload.status().trueCondition(type);
    }
  }
}
