package dev.sluice.workload.record;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Applies the defaults of LimitRanges and RuntimeClass to a pod template, and uses limits for
 * absent requests (docs/scheduling-semantics.md#what-is-pending).
 */
public final class PodRequests {

  private final List<Container> containers;
  private final List<Container> initContainers;
  private final ResourceNeeds podLevel;
  private final Map<String, Long> overhead;

  private PodRequests(
      List<Container> containers,
      List<Container> initContainers,
      ResourceNeeds podLevel,
      Map<String, Long> overhead) {
    this.containers = containers;
    this.initContainers = initContainers;
    this.podLevel = podLevel;
    this.overhead = overhead;
  }

  /** Uses the limits of the namespace and the known RuntimeClasses. */
  public static PodRequests of(
      PodTemplate template, NamespaceLimits rules, ResourceContext context) {
    boolean ownOverhead = !template.overhead().isEmpty() || template.runtimeClassName().isEmpty();
    ResourceNeeds podLevel = template.podLevel();
    boolean hasPodLevel = !podLevel.requests().isEmpty() || !podLevel.limits().isEmpty();
    return new PodRequests(
        defaulted(template.containers(), rules.container()),
        defaulted(template.initContainers(), rules.container()),
        hasPodLevel ? defaulted(podLevel, rules.pod()) : podLevel,
        ownOverhead ? template.overhead() : context.overhead(template.runtimeClassName()));
  }

  /** The requests of a pod that has its defaults. */
  static PodRequests ofPod(
      List<Container> containers,
      List<Container> initContainers,
      ResourceNeeds podLevel,
      Map<String, Long> overhead) {
    return new PodRequests(containers, initContainers, podLevel, overhead);
  }

  private static List<Container> defaulted(List<Container> containers, ItemRules rules) {
    List<Container> result = new ArrayList<>(containers.size());
    for (Container container : containers) {
      ResourceNeeds needs = defaulted(container.resources(), rules);
      result.add(new Container(container.name(), needs, container.restartable()));
    }
    return result;
  }

  /**
   * Own limits stand in for absent requests before a LimitRange is asked, as the API server does
   * it: a default request would charge less than the pod is going to request.
   */
  private static ResourceNeeds defaulted(ResourceNeeds needs, ItemRules rules) {
    Map<String, Long> limits = filled(needs.limits(), rules.defaultLimit());
    Map<String, Long> requests =
        filled(filled(needs.requests(), needs.limits()), rules.defaultRequest());
    return new ResourceNeeds(filled(requests, limits), limits);
  }

  private static Map<String, Long> filled(Map<String, Long> amounts, Map<String, Long> missing) {
    if (missing.isEmpty()) {
      return amounts;
    }
    Map<String, Long> result = new HashMap<>(missing);
    result.putAll(amounts);
    return result;
  }

  /** The containers, in the order of the template. */
  public List<Container> containers() {
    return containers;
  }

  /** The init containers, in the order in which they run. */
  public List<Container> initContainers() {
    return initContainers;
  }

  /** What the pod as a whole needs, where the template says it. */
  public ResourceNeeds podLevel() {
    return podLevel;
  }

  /**
   * The request of one pod, by the rules of Kubernetes: the sum of containers and sidecars, or the
   * largest sum of an init container and the sidecars started before it; pod-level amounts count
   * where they are larger; overhead is added. Negative amounts count as 0.
   */
  public SortedMap<String, Long> perPod() {
    SortedMap<String, Long> total = requests();
    addAll(total, overhead);
    return total;
  }

  /**
   * The requests and limits of one pod without overhead, as the API server compares them with
   * LimitRanges of type Pod. Limits add up as requests do; those of the pod as a whole replace the
   * sum.
   */
  public ResourceNeeds whole() {
    SortedMap<String, Long> limits = total(ResourceNeeds::limits);
    limits.putAll(podLevel.limits());
    return new ResourceNeeds(requests(), limits);
  }

  private SortedMap<String, Long> requests() {
    SortedMap<String, Long> total = total(ResourceNeeds::requests);
    podLevel
        .requests()
        .forEach((resource, amount) -> total.merge(resource, Math.max(0, amount), Math::max));
    return total;
  }

  private SortedMap<String, Long> total(Function<ResourceNeeds, Map<String, Long>> amounts) {
    SortedMap<String, Long> total = new TreeMap<>();
    containers.forEach(container -> addAll(total, amounts.apply(container.resources())));
    SortedMap<String, Long> sidecars = new TreeMap<>();
    SortedMap<String, Long> starting = new TreeMap<>();
    for (Container container : initContainers) {
      SortedMap<String, Long> atOnce = new TreeMap<>(sidecars);
      addAll(atOnce, amounts.apply(container.resources()));
      if (container.restartable()) {
        sidecars = atOnce;
      }
      atOnce.forEach((resource, amount) -> starting.merge(resource, amount, Math::max));
    }
    addAll(total, sidecars);
    starting.forEach((resource, amount) -> total.merge(resource, amount, Math::max));
    return total;
  }

  private static void addAll(Map<String, Long> total, Map<String, Long> amounts) {
    amounts.forEach(
        (resource, amount) -> total.merge(resource, Math.max(0, amount), ResourceAmounts::add));
  }
}
