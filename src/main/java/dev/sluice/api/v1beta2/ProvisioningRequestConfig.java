package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** How an admission check asks an autoscaler for nodes. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("provisioningrequestconfigs")
public final class ProvisioningRequestConfig
    extends EmptyResource<ProvisioningRequestConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ProvisioningRequestConfig() {}
}
