package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** The levels, such as block, rack and host, in which nodes stand close to each other. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("topologies")
public final class Topology extends EmptyResource<TopologySpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public Topology() {}
}
