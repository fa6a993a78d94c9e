package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** A pool of quota, with the rules by which it is handed out. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("clusterqueues")
public final class ClusterQueue extends EmptyResource<ClusterQueueSpec, ClusterQueueStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public ClusterQueue() {}
}
