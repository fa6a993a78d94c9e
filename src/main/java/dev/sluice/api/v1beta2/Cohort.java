package dev.sluice.api.v1beta2;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * A group of cluster queues and cohorts that lend each other idle quota, optionally with quota of
 * its own.
 */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("cohorts")
public final class Cohort extends EmptyResource<CohortSpec, CohortStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public Cohort() {}
}
