package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;
import java.util.Set;

/**
 * What people changed in the QueueUnit of a Workload: the priority, and whether it may run. All
 * else is undone. A field counts as changed by people if it differs from what the unit was last
 * written to show.
 *
 * <p>No webhook judges who changes a unit. So a unit doesn't raise its Workload to the priority of
 * a WorkloadPriorityClass that not everybody may use, nor above it
 * (docs/queueing-policies.md#who-may-use-a-queue-or-a-class).
 *
 * @param patch the patch of the Workload that makes it what the unit says; empty if it is so
 * @param restricted the classes for whose sake the unit's priority isn't given; empty if it is
 */
record UnitEdit(Optional<ObjectNode> patch, Set<String> restricted) {

  /** What was written into the unit that shows a Workload. */
  static UnitEdit of(JsonNode unit, CachedWorkload workload, InformerCaches caches) {
    JsonNode spec = unit.path("spec");
    String shown = JsonFields.text(unit, "metadata", "annotations", QueueUnits.SHOWN);
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    Set<String> restricted = Set.of();
    if (spec.path("priority").canConvertToInt()) {
      int wanted = spec.path("priority").intValue();
      boolean edited = !shown.isEmpty() && !shown.startsWith(QueueUnits.shownPriority(wanted));
      if (edited) {
        restricted = boost(patch, wanted, workload, caches);
      }
    }
    if (spec.path("active").isBoolean()) {
      boolean wanted = spec.path("active").booleanValue();
      boolean edited = !shown.isEmpty() && !shown.endsWith(QueueUnits.shownActive(wanted));
      if (edited && wanted != workload.spec().active()) {
        patch.putObject("spec").put("active", wanted);
      }
    }
    return of(patch, restricted);
  }

  /**
   * What an extension's unit says of its Workload. A priority class of the Workload API wins over
   * the unit's priority. A Workload is made active again only if its unit made it inactive.
   */
  static UnitEdit ofForeign(JsonNode unit, CachedWorkload workload, InformerCaches caches) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    JsonNode priority = JsonFields.at(unit, "spec", "priority");
    Set<String> restricted =
        priorityClass(workload).isEmpty() && priority.canConvertToInt()
            ? boost(patch, priority.intValue(), workload, caches)
            : Set.of();
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
    return of(patch, restricted);
  }

  private static UnitEdit of(ObjectNode patch, Set<String> restricted) {
    return new UnitEdit(patch.isEmpty() ? Optional.empty() : Optional.of(patch), restricted);
  }

  /** The WorkloadPriorityClass of a Workload; empty without. */
  private static String priorityClass(CachedWorkload workload) {
    return workload
        .spec()
        .priorityClass()
        .filter(it -> it.group().equals(KueueConstants.GROUP))
        .map(CachedWorkload.PriorityClassRef::name)
        .orElse("");
  }

  /**
   * Gives a Workload a priority, as far as a boost can, unless it has it; the classes that forbid
   * it, if there are any.
   */
  private static Set<String> boost(
      ObjectNode patch, int wanted, CachedWorkload workload, InformerCaches caches) {
    int boost =
        (int)
            Math.clamp(
                (long) wanted - workload.spec().priority(), Integer.MIN_VALUE, Integer.MAX_VALUE);
    int priority = QueueUnitManifest.priority(workload);
    if (boost == QueueUnitManifest.boost(workload) || wanted == priority) {
      return Set.of();
    }
    Set<String> restricted =
        wanted > priority
            ? caches.restrictedClassesUpTo(wanted, priorityClass(workload))
            : Set.of();
    if (restricted.isEmpty()) {
      annotations(patch).put(KueueConstants.PRIORITY_BOOST, Integer.toString(boost));
    }
    return restricted;
  }

  private static ObjectNode annotations(ObjectNode patch) {
    return patch.withObjectProperty("metadata").withObjectProperty("annotations");
  }

  /** Tells people why the priority of a unit has no effect; nothing if it has. */
  Optional<String> refusal(String unit) {
    return restricted.stream()
        .min(String::compareTo)
        .map(
            name ->
                "spec.priority of QueueUnit %s has no effect: it reaches the priority of WorkloadPriorityClass %s, which not everybody may use, and nobody judges who changes a QueueUnit"
                    .formatted(unit, name));
  }
}
