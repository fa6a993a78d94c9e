package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.workload.CachedWorkload;
import java.util.Optional;

/**
 * What people may change in the QueueUnit of a Workload: the priority, and whether it may run. All
 * else is undone. A field counts as changed by people if it differs from what the unit was last
 * written to show.
 */
final class UnitEdit {

  private UnitEdit() {}

  /**
   * The patch of the Workload that makes it what was written into its unit; empty if nothing was.
   */
  static Optional<ObjectNode> patch(JsonNode unit, CachedWorkload workload) {
    JsonNode spec = unit.path("spec");
    String shown = JsonFields.text(unit, "metadata", "annotations", QueueUnits.SHOWN);
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    if (spec.path("priority").canConvertToInt()) {
      int wanted = spec.path("priority").intValue();
      boolean edited = !shown.isEmpty() && !shown.startsWith(QueueUnits.shownPriority(wanted));
      if (edited && wanted != QueueUnitManifest.priority(workload)) {
        long boost = (long) wanted - workload.spec().priority();
        patch
            .putObject("metadata")
            .putObject("annotations")
            .put(
                KueueConstants.PRIORITY_BOOST,
                Long.toString(Math.clamp(boost, Integer.MIN_VALUE, Integer.MAX_VALUE)));
      }
    }
    if (spec.path("active").isBoolean()) {
      boolean wanted = spec.path("active").booleanValue();
      boolean edited = !shown.isEmpty() && !shown.endsWith(QueueUnits.shownActive(wanted));
      if (edited && wanted != workload.spec().active()) {
        patch.putObject("spec").put("active", wanted);
      }
    }
    return patch.isEmpty() ? Optional.empty() : Optional.of(patch);
  }
}
