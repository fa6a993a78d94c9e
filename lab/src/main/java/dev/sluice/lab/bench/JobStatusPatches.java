package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.Schedule.Creation;
import java.time.InstantSource;

/** Status patches that a job controller would write to a Workload. */
final class JobStatusPatches {

  static final RequestKey KEY =
      new RequestKey("PATCH", BenchmarkTarget.GROUP, "workloads", "status");

  private final BenchmarkTarget benchmarkTarget;
  private final InstantSource clock = InstantSource.system();

  JobStatusPatches(BenchmarkTarget benchmarkTarget) {
    this.benchmarkTarget = benchmarkTarget;
  }

  String path(Creation creation) {
    return benchmarkTarget.namespaced("workloads")
        + "/"
        + benchmarkTarget.work(creation)
        + "/status";
  }

  /** The job finished successfully. */
  String finished(Observation observation) {
    JsonNode conditions =
        Condition.with(
            observation.conditions(),
            "Finished",
            true,
            "Succeeded",
            "The benchmark let it run",
            clock.instant());
    return patch(observation, JsonNodeFactory.instance.objectNode(), conditions);
  }

  /** The job was stopped and its quota is released. */
  String released(Observation observation) {
    JsonNode conditions = observation.conditions();
    String reason = benchmarkTarget.version().equals("v1beta1") ? "Pending" : "PendingEvaluation";
    conditions =
        Condition.with(conditions, "QuotaReserved", false, reason, "Stopped", clock.instant());
    conditions =
        Condition.with(
            conditions,
            "Admitted",
            false,
            "NoReservation",
            "The workload has no reservation",
            clock.instant());
    conditions =
        Condition.with(conditions, "Requeued", true, "Preempted", "Stopped", clock.instant());
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.putNull("admission");
    return patch(observation, status, conditions);
  }

  /** A merge patch that the API server rejects if the object has changed since the observation. */
  private static String patch(Observation observation, ObjectNode status, JsonNode conditions) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.putObject("metadata").put("resourceVersion", observation.version());
    status.set("conditions", conditions);
    root.set("status", status);
    return root.toString();
  }
}
