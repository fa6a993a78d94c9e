package dev.sluice.queues.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the status of a CapacityReservation or a MaintenanceWindow says (docs/reservations.md). */
public final class ReservationStatus {

  /** The state while capacity is kept. */
  public static final String CURRENT = "Current";

  private static final String UNDERSTOOD = "Everything is understood";

  /** How many occurrences a status names. */
  private static final int MOST = 16;

  private ReservationStatus() {}

  /**
   * The status of an object.
   *
   * @param occurrences those that aren't over
   * @param keeps whether anything can be kept
   * @param faults what isn't understood or isn't there; empty if nothing is wrong
   * @param notes what else its owner should know; may be empty
   * @param before the status that the object has
   */
  public static ObjectNode of(
      List<Occurrence> occurrences,
      boolean keeps,
      String faults,
      String notes,
      JsonNode before,
      Instant now) {
    ObjectNode status = JsonMappers.JSON.createObjectNode();
    status.put("state", state(occurrences, keeps, now));
    ArrayNode items = status.putArray("occurrences");
    for (Occurrence each : occurrences.stream().limit(MOST).toList()) {
      items.addObject().put("start", each.start().toString()).put("end", each.end().toString());
    }
    String message =
        Stream.of(faults.isEmpty() ? UNDERSTOOD : faults, notes)
            .filter(text -> !text.isEmpty())
            .collect(Collectors.joining("; "));
    status
        .putArray("conditions")
        .add(
            BudgetStatus.condition(
                before,
                "Active",
                faults.isEmpty(),
                faults.isEmpty() ? "Counting" : "Invalid",
                message,
                now));
    return status;
  }

  private static String state(List<Occurrence> occurrences, boolean keeps, Instant now) {
    if (!keeps) {
      return "Invalid";
    }
    if (occurrences.isEmpty()) {
      return "Ended";
    }
    return occurrences.getFirst().contains(now) ? CURRENT : "Upcoming";
  }
}
