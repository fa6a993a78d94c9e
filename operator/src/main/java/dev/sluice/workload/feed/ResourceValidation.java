package dev.sluice.workload.feed;

import dev.sluice.api.Quantities;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import dev.sluice.workload.record.PodTemplateParser.PodRequests;
import dev.sluice.workload.record.ResourceContext;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Finds reasons why a Workload can't be admitted whatever the quota: requests above limits,
 * violated LimitRanges, devices that quota can't count, fields that can't be parsed
 * (docs/scheduling-semantics.md#what-is-pending).
 */
public final class ResourceValidation {

  private static final int THOUSAND = 1000;

  private final NamespaceLimits limits;
  private final List<String> found = new ArrayList<>();

  private ResourceValidation(NamespaceLimits limits) {
    this.limits = limits;
  }

  /**
   * The defects of the pod sets, in one text; empty without defects.
   *
   * @param devices what is counted of the devices of each pod set, in their order
   */
  public static Optional<String> of(
      List<PodSet> podSets,
      NamespaceLimits limits,
      List<DeviceCharge> devices,
      ResourceContext context) {
    ResourceValidation resourceValidation = new ResourceValidation(limits);
    for (int i = 0; i < podSets.size(); i++) {
      PodSet podSet = podSets.get(i);
      resourceValidation.validate(
          podSet, PodRequests.of(podSet.template(), limits, context), devices.get(i));
    }
    return resourceValidation.found.isEmpty()
        ? Optional.empty()
        : Optional.of(String.join("; ", resourceValidation.found));
  }

  private void validate(PodSet podSet, PodRequests pod, DeviceCharge devices) {
    String place = "pod set " + podSet.name();
    podSet.template().problems().forEach(problem -> found.add(place + ": " + problem));
    devices.defects().forEach(defect -> found.add(place + ": " + defect));
    for (Container container : pod.initContainers()) {
      validateContainer(place + ", init container " + container.name(), container.resources());
    }
    for (Container container : pod.containers()) {
      validateContainer(place + ", container " + container.name(), container.resources());
    }
    requestsWithinLimits(place + ", pod", pod.podLevel());
    Map<String, Long> total = pod.perPod();
    within(place + ", pod", total, total, limits.pod());
    if (!limits.pod().ratio().isEmpty()) {
      withinRatio(place + ", pod", pod.whole(), limits.pod());
    }
  }

  private void validateContainer(String place, ResourceNeeds needs) {
    requestsWithinLimits(place, needs);
    within(place, merged(needs, true), merged(needs, false), limits.container());
    withinRatio(place, needs, limits.container());
  }

  private void requestsWithinLimits(String place, ResourceNeeds needs) {
    for (String resource : sorted(needs.requests())) {
      long request = needs.requests().getOrDefault(resource, 0L);
      Long limit = needs.limits().get(resource);
      if (limit != null && request > limit) {
        found.add(
            "%s: request of %s %s exceeds its limit %s"
                .formatted(place, resource, text(resource, request), text(resource, limit)));
      }
    }
  }

  private static Map<String, Long> merged(ResourceNeeds needs, boolean larger) {
    Map<String, Long> result = new HashMap<>(needs.requests());
    needs
        .limits()
        .forEach(
            (resource, limit) -> result.merge(resource, limit, larger ? Math::max : Math::min));
    return result;
  }

  private void within(
      String place, Map<String, Long> highest, Map<String, Long> lowest, ItemRules bounds) {
    for (String resource : sorted(bounds.max())) {
      long max = bounds.max().getOrDefault(resource, Long.MAX_VALUE);
      Long value = highest.get(resource);
      if (value != null && value > max) {
        found.add(
            "%s: %s %s is above the LimitRange maximum %s"
                .formatted(place, resource, text(resource, value), text(resource, max)));
      }
    }
    for (String resource : sorted(bounds.min())) {
      long min = bounds.min().getOrDefault(resource, 0L);
      Long value = lowest.get(resource);
      if (value != null && value < min) {
        found.add(
            "%s: %s %s is below the LimitRange minimum %s"
                .formatted(place, resource, text(resource, value), text(resource, min)));
      }
    }
  }

  /** The API server refuses a pod with a bounded ratio and no limit or no request, too. */
  private void withinRatio(String place, ResourceNeeds needs, ItemRules bounds) {
    for (String resource : sorted(bounds.ratio())) {
      long thousandths = bounds.ratio().getOrDefault(resource, Long.MAX_VALUE);
      String ratio = BigDecimal.valueOf(thousandths, 3).stripTrailingZeros().toPlainString();
      long request = needs.requests().getOrDefault(resource, 0L);
      long limit = needs.limits().getOrDefault(resource, 0L);
      if (request <= 0 || limit <= 0) {
        found.add(
            "%s: %s needs a request and a limit above 0, as a LimitRange bounds their ratio to %s"
                .formatted(place, resource, ratio));
      } else if ((double) limit / request * THOUSAND > thousandths) {
        found.add(
            "%s: limit of %s %s is above its request %s times the LimitRange ratio %s"
                .formatted(place, resource, text(resource, limit), text(resource, request), ratio));
      }
    }
  }

  private static SortedSet<String> sorted(Map<String, Long> amounts) {
    return new TreeSet<>(amounts.keySet());
  }

  private static String text(String resource, long amount) {
    return Quantities.format(resource, amount);
  }
}
