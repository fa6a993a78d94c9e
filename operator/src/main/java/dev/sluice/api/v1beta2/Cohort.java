package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.Cohort.CohortSpec;
import dev.sluice.api.v1beta2.Cohort.CohortStatus;
import dev.sluice.api.v1beta2.FairSharing.FairSharingStatus;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /** A cohort's own quota, its parent and its weight. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CohortSpec(
      @Nullable FairSharing fairSharing,
      @Nullable String parentName,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ResourceGroup> resourceGroups) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public CohortSpec {
      resourceGroups = Defaults.orEmpty(resourceGroups);
    }

    /** The same specification with other quotas. */
    public CohortSpec with(List<ResourceGroup> others) {
      return new CohortSpec(fairSharing, parentName, others);
    }
  }

  /** Where a cohort stands. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CohortStatus(
      @Nullable EffectiveQuotas effectiveQuotas, @Nullable FairSharingStatus fairSharing) {

    /** The same status with other effective quotas, or none. */
    public CohortStatus with(@Nullable EffectiveQuotas others) {
      return new CohortStatus(others, fairSharing);
    }
  }
}
