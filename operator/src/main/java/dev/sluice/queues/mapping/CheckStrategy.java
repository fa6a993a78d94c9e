package dev.sluice.queues.mapping;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.workload.status.CheckStates;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Computes which checks a ClusterQueue requires (docs/workload-semantics.md#admission-checks). */
public final class CheckStrategy {

  private CheckStrategy() {}

  /**
   * The checks that a Workload of this queue needs, by name.
   *
   * @param assigned the assigned flavors; if empty, only checks that apply to every flavor are
   *     returned
   * @param labels those of the Workload
   */
  public static SortedSet<String> required(
      ClusterQueue queue,
      Optional<? extends Collection<String>> assigned,
      Map<String, String> labels) {
    List<String> flavors = ClusterQueueMapper.flavors(queue);
    Predicate<List<String>> needed =
        assigned
            .<Predicate<List<String>>>map(given -> on -> on.stream().anyMatch(given::contains))
            .orElse(on -> on.containsAll(flavors));
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    return ClusterQueueMapper.checkRules(queue).stream()
        .filter(rule -> rule.onFlavors().isEmpty() || needed.test(rule.onFlavors()))
        .map(AdmissionCheckStrategyRule::name)
        .filter(check -> selectors.select(check, labels))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Whether a ClusterQueue requires any check, of whatever Workload. */
  public static boolean hasChecks(ClusterQueue queue) {
    return !ClusterQueueMapper.checkRules(queue).isEmpty();
  }

  /**
   * Why a Workload of this queue can't be admitted whatever flavors it gets: its status has no room
   * for the checks that apply to all flavors of what it requests.
   *
   * @param requested says which resources it requests; asked if there are more checks than room
   * @param labels those of the Workload
   */
  public static Optional<String> lackOfRoom(
      ClusterQueue queue, Supplier<Set<String>> requested, Map<String, String> labels) {
    List<AdmissionCheckStrategyRule> rules = ClusterQueueMapper.checkRules(queue);
    if (rules.size() <= CheckStates.MOST) {
      return Optional.empty();
    }
    Set<String> resources = requested.get();
    List<List<String>> groups =
        queue.getSpec().resourceGroups().stream()
            .filter(group -> group.coveredResources().stream().anyMatch(resources::contains))
            .map(CheckStrategy::flavors)
            .toList();
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    return CheckStates.lackOfRoom(
        rules.stream()
            .filter(
                rule ->
                    rule.onFlavors().isEmpty()
                        || groups.stream().anyMatch(rule.onFlavors()::containsAll))
            .map(AdmissionCheckStrategyRule::name)
            .filter(check -> selectors.select(check, labels))
            .collect(Collectors.toCollection(TreeSet::new)));
  }

  /**
   * Whether {@link #lackOfRoom(ClusterQueue, Supplier, Map)} may have changed with a ClusterQueue.
   */
  public static boolean differ(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    return !roomRules(before).equals(roomRules(after));
  }

  /** What says which checks apply to whom; nothing where all of them have room. */
  private static List<Object> roomRules(@Nullable ClusterQueue queue) {
    if (queue == null || ClusterQueueMapper.checkRules(queue).size() <= CheckStates.MOST) {
      return List.of();
    }
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    return List.of(
        ClusterQueueMapper.checkRules(queue),
        queue.getSpec().resourceGroups().stream()
            .map(group -> List.of(group.coveredResources(), flavors(group)))
            .toList(),
        annotations == null ? "" : annotations.getOrDefault(QueueAnnotations.CHECK_SELECTORS, ""));
  }

  private static List<String> flavors(ResourceGroup group) {
    return group.flavors().stream().map(ResourceGroup.FlavorQuotas::name).toList();
  }

  /**
   * Why no Workload of this queue can be admitted, or none that gets one of its flavors: more
   * checks apply than the status of a Workload has room for. Checks that only some Workloads need
   * don't count.
   */
  static Optional<String> lackOfRoom(ClusterQueue queue) {
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    List<AdmissionCheckStrategyRule> rules =
        ClusterQueueMapper.checkRules(queue).stream()
            .filter(rule -> !selectors.narrows(rule.name()))
            .toList();
    long toAll = rules.stream().filter(rule -> rule.onFlavors().isEmpty()).count();
    if (toAll > CheckStates.MOST) {
      return Optional.of(lackOfRoom(toAll, "all flavors"));
    }
    return ClusterQueueMapper.flavors(queue).stream()
        .flatMap(
            flavor -> {
              long some = rules.stream().filter(rule -> rule.onFlavors().contains(flavor)).count();
              return toAll + some > CheckStates.MOST
                  ? Stream.of(lackOfRoom(toAll + some, "flavor \"" + flavor + "\""))
                  : Stream.empty();
            })
        .findFirst();
  }

  private static String lackOfRoom(long checks, String flavors) {
    return "spec.admissionChecksStrategy.admissionChecks: %d checks apply to %s, and the status of a Workload has room for %d"
        .formatted(checks, flavors, CheckStates.MOST);
  }

  /**
   * Which Workloads of a ClusterQueue need which of its admission checks, where its annotation
   * narrows that. What can't be read narrows nothing: a check is rather asked once too often.
   */
  public static final class CheckSelectors {

    private static final CheckSelectors NONE = new CheckSelectors(Map.of());

    private final Map<String, LabelSelector> byCheck;

    private CheckSelectors(Map<String, LabelSelector> byCheck) {
      this.byCheck = byCheck;
    }

    /** The selectors that the annotations of a ClusterQueue say. */
    public static CheckSelectors of(@Nullable Map<String, String> annotations) {
      String text = annotations == null ? null : annotations.get(QueueAnnotations.CHECK_SELECTORS);
      if (text == null) {
        return NONE;
      }
      Map<String, LabelSelector> selectors = new HashMap<>();
      try {
        for (Map.Entry<String, JsonNode> each : JsonMappers.JSON.readTree(text).properties()) {
          if (each.getValue().isObject()) {
            MappingResult<LabelSelector> selector =
                LabelSelectorMapper.translate(
                    JsonMappers.JSON.treeToValue(
                        each.getValue(), io.fabric8.kubernetes.api.model.LabelSelector.class),
                    "labelSelector");
            if (selector.faults().isEmpty()) {
              selectors.put(each.getKey(), selector.value());
            }
          }
        }
      } catch (JsonProcessingException unreadable) {
        return NONE;
      }
      return new CheckSelectors(selectors);
    }

    /** The labels that the selectors look at. */
    public Set<String> keys() {
      return byCheck.values().stream()
          .flatMap(
              selector ->
                  selector instanceof LabelSelector.Requirements some
                      ? some.requirements().stream()
                      : Stream.empty())
          .map(LabelRequirement::key)
          .collect(Collectors.toUnmodifiableSet());
    }

    /** Whether only some Workloads need a check of the ClusterQueue. */
    boolean narrows(String check) {
      return byCheck.containsKey(check);
    }

    /** Whether a Workload with these labels needs a check of the ClusterQueue. */
    boolean select(String check, Map<String, String> labels) {
      LabelSelector selector = byCheck.get(check);
      return selector == null || selector.matches(labels);
    }
  }
}
