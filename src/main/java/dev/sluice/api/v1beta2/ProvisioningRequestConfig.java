package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** How an admission check asks an autoscaler for nodes. */
@JsonClassDescription("How an admission check asks an autoscaler for nodes.")
@Group(ApiVersions.GROUP)
@Version(value = ApiVersions.V1BETA2)
@Kind("ProvisioningRequestConfig")
@Plural("provisioningrequestconfigs")
@Singular("provisioningrequestconfig")
@ShortNames({"prc"})
public final class ProvisioningRequestConfig
    extends CustomResource<ProvisioningRequestConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ProvisioningRequestConfig() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable ProvisioningRequestConfigSpec initSpec() {
    return null;
  }
}
