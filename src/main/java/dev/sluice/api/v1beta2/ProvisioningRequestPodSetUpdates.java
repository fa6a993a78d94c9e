package dev.sluice.api.v1beta2;

import java.util.List;

/** What is added to pods whose nodes were provisioned. */
public record ProvisioningRequestPodSetUpdates(List<ProvisioningRequestNodeSelector> nodeSelector) {

  /** Takes what is absent for its default; the list becomes immutable. */
  public ProvisioningRequestPodSetUpdates {
    nodeSelector = Defaults.orEmpty(nodeSelector);
  }
}
