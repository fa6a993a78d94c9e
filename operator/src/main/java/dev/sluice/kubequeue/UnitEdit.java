package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.workload.record.CachedWorkload;
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
      if (edited) {
        boost(patch, wanted, workload);
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

  /**
   * The patch of the Workload of an extension's unit that makes it what the unit says; empty if it
   * is so. A priority class of the Workload API wins over the unit's priority. A Workload is made
   * active again only if its unit made it inactive.
   */
  static Optional<ObjectNode> ofForeign(JsonNode unit, CachedWorkload workload) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    JsonNode priority = JsonFields.at(unit, "spec", "priority");
    boolean classed =
        workload
            .spec()
            .priorityClass()
            .filter(it -> it.group().equals(KueueConstants.GROUP))
            .isPresent();
    if (!classed && priority.canConvertToInt()) {
      boost(patch, priority.intValue(), workload);
    }
    JsonNode active = JsonFields.at(unit, "spec", "active");
    boolean inactive = active.isBoolean() && !active.booleanValue();
    boolean byUnit = workload.annotations().containsKey(QueueUnits.INACTIVE);
    if (inactive && workload.spec().active()) {
      annotations(patch).put(QueueUnits.INACTIVE, "true");
      patch.putObject("spec").put("active", false);
    } else if (!inactive && byUnit) {
      annotations(patch).putNull(QueueUnits.INACTIVE);
      patch.putObject("spec").put("active", true);
    }
    return patch.isEmpty() ? Optional.empty() : Optional.of(patch);
  }

  /** Gives a Workload a priority, as far as a boost can, unless it has it. */
  private static void boost(ObjectNode patch, int wanted, CachedWorkload workload) {
    int boost =
        (int)
            Math.clamp(
                (long) wanted - workload.spec().priority(), Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (boost != QueueUnitManifest.boost(workload)
        && wanted != QueueUnitManifest.priority(workload)) {
      annotations(patch).put(KueueConstants.PRIORITY_BOOST, Integer.toString(boost));
    }
  }

  private static ObjectNode annotations(ObjectNode patch) {
    return patch.withObjectProperty("metadata").withObjectProperty("annotations");
  }
}
