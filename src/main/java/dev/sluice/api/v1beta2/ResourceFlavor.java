package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** A kind of nodes, told by labels and taints, that quota is given for. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("resourceflavors")
public final class ResourceFlavor extends EmptyResource<ResourceFlavorSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ResourceFlavor() {}
}
