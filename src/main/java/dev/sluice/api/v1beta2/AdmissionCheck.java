package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * A condition, answered by some controller, that workloads have to pass after they got quota and
 * before they start.
 */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("admissionchecks")
public final class AdmissionCheck extends EmptyResource<AdmissionCheckSpec, AdmissionCheckStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public AdmissionCheck() {}
}
