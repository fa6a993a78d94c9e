package dev.sluice.app.module;

import dev.sluice.api.ApiVersions;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.events.ObjectReference;

/** Workloads as the objects that events are about. */
final class WorkloadReference {

  private WorkloadReference() {}

  /** The reference to a Workload. */
  static ObjectReference of(WorkloadId id) {
    return new ObjectReference(
        ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
        "Workload",
        id.namespace(),
        id.name(),
        id.uid());
  }
}
