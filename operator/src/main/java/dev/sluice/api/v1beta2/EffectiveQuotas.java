package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/**
 * Quotas that count instead of those of the specification (docs/dynamic-quota.md).
 *
 * @param orchestratorRef the object whose controller wrote them
 * @param resourceGroups all groups of the queue or cohort; none is valid, and means no quota
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EffectiveQuotas(
    OrchestratorReference orchestratorRef,
    @JsonInclude(JsonInclude.Include.ALWAYS) List<ResourceGroup> resourceGroups) {

  /** Takes what is absent for its default; lists become immutable. */
  public EffectiveQuotas {
    orchestratorRef = Defaults.or(orchestratorRef, new OrchestratorReference("", "", ""));
    resourceGroups = Defaults.orEmpty(resourceGroups);
  }

  /** Names an orchestrator. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record OrchestratorReference(String apiGroup, String kind, String name) {

    /** Takes what is absent for empty. */
    public OrchestratorReference {
      apiGroup = Defaults.or(apiGroup, "");
      kind = Defaults.or(kind, "");
      name = Defaults.or(name, "");
    }
  }
}
