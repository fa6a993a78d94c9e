package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The free quota of a worker's ClusterQueue, read from its object. Quota that the queue could
 * borrow or preempt is not counted: the BestFit dispatcher's fallback covers those cases.
 *
 * @param active whether the queue admits Workloads
 * @param pending how many Workloads are pending there
 * @param groups free quota by resource group
 */
record AvailableQuota(boolean active, long pending, List<Group> groups) {

  AvailableQuota {
    groups = List.copyOf(groups);
  }

  /**
   * A resource group.
   *
   * @param resources the resources that the group covers
   * @param free the free amount of each resource, one map per flavor, in the order of the flavors
   */
  record Group(Set<String> resources, List<Map<String, BigDecimal>> free) {

    Group {
      resources = Set.copyOf(resources);
      free = List.copyOf(free);
    }

    /** Whether one flavor of the group has enough free quota for the requests. */
    boolean fits(Map<String, BigDecimal> requests) {
      return free.stream()
          .anyMatch(
              flavor ->
                  resources.stream()
                      .allMatch(
                          name ->
                              amount(flavor, name).compareTo(amount(requests, name)) >= 0
                                  || amount(requests, name).signum() == 0));
    }

    private static BigDecimal amount(Map<String, BigDecimal> amounts, String resource) {
      return amounts.getOrDefault(resource, BigDecimal.ZERO);
    }
  }

  /**
   * Reads the object of a ClusterQueue. One with amounts that can't be read has no room: a worker
   * doesn't keep Workloads from others by what it writes.
   */
  static AvailableQuota of(JsonNode clusterQueue) {
    try {
      return read(clusterQueue);
    } catch (IllegalArgumentException e) {
      return new AvailableQuota(false, 0, List.of());
    }
  }

  private static AvailableQuota read(JsonNode clusterQueue) {
    boolean active = true;
    for (JsonNode condition : clusterQueue.path("status").path("conditions")) {
      if (condition.path("type").asText().equals("Active")) {
        active = condition.path("status").asText().equals("True");
      }
    }
    boolean goesOn = clusterQueue.path("spec").path("stopPolicy").asText("None").equals("None");
    List<Group> groups = new ArrayList<>();
    for (JsonNode group : clusterQueue.path("spec").path("resourceGroups")) {
      groups.add(group(group, clusterQueue.path("status").path("flavorsReservation")));
    }
    return new AvailableQuota(
        active && goesOn, clusterQueue.path("status").path("pendingWorkloads").asLong(), groups);
  }

  private static Group group(JsonNode group, JsonNode reservations) {
    Set<String> resources = new HashSet<>();
    group.path("coveredResources").forEach(each -> resources.add(each.asText()));
    List<Map<String, BigDecimal>> free = new ArrayList<>();
    for (JsonNode flavor : group.path("flavors")) {
      Map<String, BigDecimal> left = new HashMap<>();
      for (JsonNode resource : flavor.path("resources")) {
        String name = resource.path("name").asText();
        left.put(
            name,
            amount(resource.path("nominalQuota"))
                .subtract(reserved(reservations, flavor.path("name").asText(), name)));
      }
      free.add(left);
    }
    return new Group(resources, free);
  }

  private static BigDecimal reserved(JsonNode reservations, String flavor, String resource) {
    for (JsonNode each : reservations) {
      if (each.path("name").asText().equals(flavor)) {
        for (JsonNode total : each.path("resources")) {
          if (total.path("name").asText().equals(resource)) {
            return amount(total.path("total"));
          }
        }
      }
    }
    return BigDecimal.ZERO;
  }

  private static BigDecimal amount(JsonNode quantity) {
    return quantity.isMissingNode() ? BigDecimal.ZERO : Quantities.parse(quantity.asText());
  }

  /**
   * Whether a Workload would be admitted at once: no Workload is pending before it, and the free
   * quota covers all its requests.
   *
   * @param requests amounts by resource
   */
  boolean fits(Map<String, BigDecimal> requests) {
    return active
        && pending == 0
        && requests.entrySet().stream()
            .allMatch(
                request ->
                    request.getValue().signum() == 0
                        || groups.stream()
                            .anyMatch(group -> group.resources().contains(request.getKey())))
        && groups.stream().allMatch(group -> group.fits(requests));
  }
}
