package dev.sluice.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.cli.bench.Schedule.Creation;
import java.time.InstantSource;

/** What the owner of a Workload's job writes into its status. */
final class Patches {

  static final RequestKey KEY = new RequestKey("PATCH", Target.GROUP, "workloads", "status");

  private final Target target;
  private final InstantSource clock = InstantSource.system();

  Patches(Target target) {
    this.target = target;
  }

  String path(Creation creation) {
    return target.namespaced("workloads") + "/" + target.work(creation) + "/status";
  }

  /** Its job has ended well. */
  String finished(Sight sight) {
    JsonNode conditions =
        Condition.with(
            sight.conditions(),
            "Finished",
            true,
            "Succeeded",
            "The benchmark let it run",
            clock.instant());
    return patch(sight, JsonNodeFactory.instance.objectNode(), conditions);
  }

  /** Its job was stopped, and its quota is free. */
  String released(Sight sight) {
    JsonNode conditions = sight.conditions();
    String reason = target.version().equals("v1beta1") ? "Pending" : "PendingEvaluation";
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
    return patch(sight, status, conditions);
  }

  /** A merge patch that is refused when the object has changed since it was seen. */
  private static String patch(Sight sight, ObjectNode status, JsonNode conditions) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.putObject("metadata").put("resourceVersion", sight.version());
    status.set("conditions", conditions);
    root.set("status", status);
    return root.toString();
  }
}
