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
}
