package dev.sluice.queues.mapping;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Maps the resource groups of ClusterQueues and Cohorts. Faults that validation should have
 * rejected are reported and mapped so that no queue gets more quota than intended: an invalid quota
 * counts as absent, an invalid limit as zero, and of duplicate resources or flavors the first
 * counts.
 */
final class ResourceGroupMapper {

  private static final String FIELD = "spec.resourceGroups";

  private final Set<String> resources = new HashSet<>();
  private final Set<String> flavors = new HashSet<>();
  private final List<String> faults = new ArrayList<>();

  private ResourceGroupMapper() {}

  /** Maps the groups at {@code spec.resourceGroups}. */
  static MappingResult<List<ResourceGroup>> translate(
      List<dev.sluice.api.v1beta2.ResourceGroup> groups) {
    ResourceGroupMapper translation = new ResourceGroupMapper();
    List<ResourceGroup> translated = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      translated.add(translation.group(groups.get(i), "%s[%d]".formatted(FIELD, i)));
    }
    return new MappingResult<>(translated, translation.faults);
  }

  private ResourceGroup group(dev.sluice.api.v1beta2.ResourceGroup group, String field) {
    List<String> covered = new ArrayList<>();
    for (String resource : group.coveredResources()) {
      if (resources.add(resource)) {
        covered.add(resource);
      } else {
        faults.add(
            "%s.coveredResources: \"%s\" is there twice; a resource may be in one group only"
                .formatted(field, resource));
      }
    }
    List<ResourceGroup.FlavorQuotas> offered = new ArrayList<>();
    for (FlavorQuotas flavor : group.flavors()) {
      if (flavors.add(flavor.name())) {
        offered.add(flavor(flavor, covered, "%s.flavors[%s]".formatted(field, flavor.name())));
      } else {
        faults.add(
            "%s.flavors: \"%s\" is there twice; a flavor may be in one group only"
                .formatted(field, flavor.name()));
      }
    }
    return new ResourceGroup(covered, offered);
  }

  private ResourceGroup.FlavorQuotas flavor(
      FlavorQuotas flavor, List<String> covered, String field) {
    Map<String, Quota> quotas = new LinkedHashMap<>();
    for (ResourceQuota quota : flavor.resources()) {
      if (covered.contains(quota.name())) {
        quotas.putIfAbsent(
            quota.name(), quota(quota, "%s.resources[%s]".formatted(field, quota.name())));
      } else {
        faults.add(
            "%s.resources: \"%s\" is not one of coveredResources %s"
                .formatted(field, quota.name(), covered));
      }
    }
    for (String resource : covered) {
      if (!quotas.containsKey(resource)) {
        faults.add("%s.resources: quota for \"%s\" is missing".formatted(field, resource));
        quotas.put(resource, new Quota(0, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED));
      }
    }
    return new ResourceGroup.FlavorQuotas(flavor.name(), quotas);
  }

  private Quota quota(ResourceQuota quota, String field) {
    return new Quota(
        amount(quota.name(), quota.nominalQuota(), field + ".nominalQuota", 0),
        amount(
            quota.name(),
            quota.borrowingLimit(),
            field + ".borrowingLimit",
            ResourceAmounts.UNLIMITED),
        amount(
            quota.name(),
            quota.lendingLimit(),
            field + ".lendingLimit",
            ResourceAmounts.UNLIMITED));
  }

  private long amount(String resource, @Nullable Quantity quantity, String field, long absent) {
    if (quantity == null) {
      return absent;
    }
    try {
      long amount = Quantities.amount(resource, quantity.toString());
      if (amount >= 0) {
        return amount;
      }
      faults.add("%s: %s is negative; it must be 0 or more".formatted(field, quantity));
    } catch (IllegalArgumentException e) {
      faults.add("%s: %s".formatted(field, e.getMessage()));
    }
    return 0;
  }
}
