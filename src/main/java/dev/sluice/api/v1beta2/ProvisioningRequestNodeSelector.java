package dev.sluice.api.v1beta2;

/**
 * An entry of the node selector of pods whose nodes were provisioned.
 *
 * @param key of the entry
 * @param valueFromProvisioningClassDetail the key of the value in the request's {@code
 *     status.provisioningClassDetails}
 */
public record ProvisioningRequestNodeSelector(String key, String valueFromProvisioningClassDetail) {

  /** Takes what is absent for an empty text. */
  public ProvisioningRequestNodeSelector {
    key = Defaults.or(key, "");
    valueFromProvisioningClassDetail = Defaults.or(valueFromProvisioningClassDetail, "");
  }
}
