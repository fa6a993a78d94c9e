package dev.sluice.queues.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import java.time.Instant;
import java.util.List;

/** What the status of a CapacityReservation or a MaintenanceWindow says (docs/reservations.md). */
public final class ReservationStatus {

  /** The state while capacity is kept. */
  public static final String CURRENT = "Current";

  /** How many occurrences a status names. */
  private static final int MOST = 16;

  private ReservationStatus() {}

  /**
   * The status of an object.
   *
   * @param occurrences those that aren't over
   * @param faults what of the spec isn't understood; empty if everything is
   * @param before the status that the object has
   */
  public static ObjectNode of(
      List<Occurrence> occurrences, String faults, JsonNode before, Instant now) {
    ObjectNode status = JsonMappers.JSON.createObjectNode();
    status.put("state", state(occurrences, faults, now));
    ArrayNode items = status.putArray("occurrences");
    for (Occurrence each : occurrences.stream().limit(MOST).toList()) {
      items.addObject().put("start", each.start().toString()).put("end", each.end().toString());
    }
    status
        .putArray("conditions")
        .add(
            faults.isEmpty()
                ? BudgetStatus.condition(
                    before, "Active", true, "Counting", "Everything is understood", now)
                : BudgetStatus.condition(before, "Active", false, "Invalid", faults, now));
    return status;
  }

  private static String state(List<Occurrence> occurrences, String faults, Instant now) {
    if (occurrences.isEmpty()) {
      return faults.isEmpty() ? "Ended" : "Invalid";
    }
    return occurrences.getFirst().contains(now) ? CURRENT : "Upcoming";
  }
}
