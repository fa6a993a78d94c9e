package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** The queue that the jobs of a namespace are sent to; it leads to a cluster queue. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("localqueues")
public final class LocalQueue extends EmptyResource<LocalQueueSpec, LocalQueueStatus>
    implements Namespaced {

  /** Makes an object that has metadata and no spec or status. */
  public LocalQueue() {}
}
