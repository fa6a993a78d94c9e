package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Resources that get the same flavor, and the flavors in the order in which they are tried. */
public record ResourceGroup(List<String> resources, List<FlavorQuotas> flavors) {

  public ResourceGroup {
    resources = List.copyOf(resources);
    flavors = List.copyOf(flavors);
  }

  /**
   * The same group with nominal quotas and lending limits times a factor, rounded down. Borrowing
   * limits are about the quota of others and stay.
   */
  public ResourceGroup scaled(BigDecimal factor) {
    List<FlavorQuotas> scaled = new ArrayList<>();
    for (FlavorQuotas each : flavors) {
      Map<String, Quota> quotas = new HashMap<>();
      each.quotas().forEach((resource, quota) -> quotas.put(resource, quota.scaled(factor)));
      scaled.add(new FlavorQuotas(each.flavor(), quotas));
    }
    return new ResourceGroup(resources, scaled);
  }

  /** The quotas of one flavor, by resource. */
  public record FlavorQuotas(String flavor, Map<String, Quota> quotas) {
    public FlavorQuotas {
      quotas = Map.copyOf(quotas);
    }
  }

  /**
   * Quota of one resource in one flavor; {@link ResourceAmounts#UNLIMITED} means that there is no
   * limit.
   *
   * @param nominal the guaranteed amount
   * @param borrowingLimit the most that may be borrowed from the cohort beyond the nominal quota
   * @param lendingLimit the most of the nominal quota that the cohort may use
   */
  public record Quota(long nominal, long borrowingLimit, long lendingLimit) {

    /**
     * No nominal quota and no limits: the quota of a node for a pair that the node doesn't declare.
     */
    public static final Quota NONE =
        new Quota(0, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);

    private Quota scaled(BigDecimal factor) {
      return new Quota(
          ResourceAmounts.scale(nominal, factor),
          borrowingLimit,
          ResourceAmounts.scale(lendingLimit, factor));
    }
  }
}
