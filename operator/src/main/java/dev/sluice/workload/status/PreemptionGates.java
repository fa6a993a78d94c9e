package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Gate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The preemption gates of a Workload: while one of them is closed, the Workload may not preempt.
 * The spec names the gates; the status contains their states.
 */
public final class PreemptionGates {

  /** The condition of Workloads that need preemption and have a closed gate. */
  public static final String BLOCKED = "BlockedOnPreemptionGates";

  private PreemptionGates() {}

  /** The gate states after synchronizing the status with the spec; empty when nothing changes. */
  public static Optional<List<Gate>> synced(CachedWorkload workload, Instant now) {
    List<Gate> known = workload.status().gates();
    if (known.isEmpty() && workload.spec().preemptionGates().isEmpty()) {
      return Optional.empty();
    }
    List<Gate> gates = new ArrayList<>();
    for (String name : workload.spec().preemptionGates()) {
      gates.add(
          known.stream()
              .filter(gate -> gate.name().equals(name))
              .findFirst()
              .orElse(new Gate(name, false, now.truncatedTo(ChronoUnit.SECONDS))));
    }
    return gates.equals(known) ? Optional.empty() : Optional.of(gates);
  }

  /** The gate states with all gates closed; empty when they are closed already. */
  static Optional<List<Gate>> closed(CachedWorkload workload, Instant now) {
    List<Gate> known = workload.status().gates();
    return known.stream().noneMatch(Gate::open)
        ? Optional.empty()
        : Optional.of(
            known.stream()
                .map(
                    gate ->
                        gate.open()
                            ? new Gate(gate.name(), false, now.truncatedTo(ChronoUnit.SECONDS))
                            : gate)
                .toList());
  }

  /** The message for a Workload that would preempt if these gates were open. */
  static String blockedBy(List<String> closed) {
    return "Preemption would make room for the workload, but its preemption gates are closed: "
        + String.join(", ", closed);
  }

  /** The gate states in the form of {@code status.preemptionGates}. */
  public static ArrayNode json(List<Gate> gates) {
    ArrayNode json = JsonNodeFactory.instance.arrayNode();
    for (Gate gate : gates) {
      json.addObject()
          .put("name", gate.name())
          .put("position", gate.open() ? "Open" : "Closed")
          .put("lastTransitionTime", gate.lastTransitionTime().toString());
    }
    return json;
  }
}
