package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** A worker cluster that jobs can be sent to. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("multikueueclusters")
public final class MultiKueueCluster
    extends EmptyResource<MultiKueueClusterSpec, MultiKueueClusterStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public MultiKueueCluster() {}
}
