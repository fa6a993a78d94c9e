package dev.sluice.api.v1beta1;

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

/**
 * A group of cluster queues and cohorts that lend each other idle quota, optionally with quota of
 * its own.
 */
@JsonClassDescription(
    "A group of cluster queues and cohorts that lend each other idle quota, "
        + "optionally with quota of its own.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 Cohort is deprecated; use v1beta2")
@Kind("Cohort")
@Plural("cohorts")
@Singular("cohort")
@ShortNames({"co"})
public final class Cohort extends CustomResource<CohortSpec, CohortStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public Cohort() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable CohortSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable CohortStatus initStatus() {
    return null;
  }
}
