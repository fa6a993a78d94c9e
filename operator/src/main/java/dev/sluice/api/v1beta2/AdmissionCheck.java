package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /** Who answers an admission check, and with which parameters. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionCheckSpec(
      String controllerName, @Nullable AdmissionCheckParametersReference parameters) {}

  /** What the controller of an admission check says about it. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionCheckStatus(
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public AdmissionCheckStatus {
      conditions = Defaults.orEmpty(conditions);
    }
  }

  /** Names the cluster-scoped object in which the controller of a check finds its settings. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionCheckParametersReference(String name, String apiGroup, String kind) {}
}
