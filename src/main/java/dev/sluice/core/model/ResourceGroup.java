package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/** Resources that get the same flavor, and the flavors in the order in which they are tried. */
public record ResourceGroup(List<String> resources, List<FlavorQuotas> flavors) {

  public ResourceGroup {
    resources = List.copyOf(resources);
    flavors = List.copyOf(flavors);
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
  }
}
