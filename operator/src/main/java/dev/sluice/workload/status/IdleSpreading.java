package dev.sluice.workload.status;

import dev.sluice.api.placement.TopologySpreading;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Rules for the spreading of groups that have no effect where a Workload got quota, as conditions
 * say (docs/topology.md#groups-spread-over-domains).
 */
public final class IdleSpreading {

  /** The type of the condition that a rule names no level of the topology. */
  static final String KEY_NOT_FOUND = "TopologySpreadKeyNotFound";

  /** The type of the condition that no flavor of a pod set with rules has a topology. */
  static final String NOT_APPLIED = "TopologySpreadingNotApplied";

  private IdleSpreading() {}

  /** Whether a Workload with quota has rules. */
  public static boolean mayBe(CachedWorkload workload) {
    return workload.quotaReserved()
        && workload.spec().podSets().stream().anyMatch(each -> !each.topologySpreading().isEmpty());
  }

  /**
   * The rules without effect: messages by the type of the condition; empty if all have one.
   *
   * @param levels the levels of the topology of a flavor; empty without one
   */
  public static Map<String, String> of(
      CachedWorkload workload, Function<String, List<String>> levels) {
    Map<String, String> messages = new TreeMap<>();
    for (Assignment assignment : workload.assignments()) {
      Optional<TopologySpreading> asked =
          workload.spec().podSets().stream()
              .filter(podSet -> podSet.name().equals(assignment.name()))
              .map(PodSet::topologySpreading)
              .filter(text -> !text.isEmpty())
              .findFirst()
              .flatMap(TopologySpreading::of);
      Optional<String> placed =
          assignment.flavors().values().stream()
              .filter(flavor -> !levels.apply(flavor).isEmpty())
              .findFirst();
      if (asked.isPresent() && placed.isEmpty()) {
        messages.putIfAbsent(
            NOT_APPLIED, "pod set " + assignment.name() + ": none of its flavors has a topology");
      }
      for (TopologySpreading.ShareLimit rule :
          asked.map(TopologySpreading::rules).orElse(List.of())) {
        if (placed.isPresent() && !levels.apply(placed.get()).contains(rule.topologyKey())) {
          messages.putIfAbsent(
              KEY_NOT_FOUND,
              "pod set %s: %s is no level of the topology of flavor %s"
                  .formatted(assignment.name(), rule.topologyKey(), placed.get()));
        }
      }
    }
    return messages;
  }

  /** Sets the conditions; one that was True before and holds no more becomes False. */
  public static void written(StatusPatch patch, Map<String, String> messages) {
    for (String type : List.of(KEY_NOT_FOUND, NOT_APPLIED)) {
      String message = messages.get(type);
      if (message == null) {
        patch.reset(type, "Applied");
      } else {
        patch.condition(type, true, type, message);
      }
    }
  }
}
