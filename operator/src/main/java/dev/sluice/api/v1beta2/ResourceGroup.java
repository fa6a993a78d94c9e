package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Resources that are always taken from the same flavor, and the flavors to choose from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceGroup(
    @JsonInclude(JsonInclude.Include.ALWAYS) List<String> coveredResources,
    @JsonInclude(JsonInclude.Include.ALWAYS) List<FlavorQuotas> flavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ResourceGroup {
    coveredResources = Defaults.orEmpty(coveredResources);
    flavors = Defaults.orEmpty(flavors);
  }

  /** Quota of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record FlavorQuotas(
      String name, @JsonInclude(JsonInclude.Include.ALWAYS) List<ResourceQuota> resources) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public FlavorQuotas {
      name = Defaults.or(name, "");
      resources = Defaults.orEmpty(resources);
    }
  }

  /** Quota of one resource of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ResourceQuota(
      String name,
      Quantity nominalQuota,
      @Nullable Quantity borrowingLimit,
      @Nullable Quantity lendingLimit) {

    /** Takes what is absent for its default. */
    public ResourceQuota {
      name = Defaults.or(name, "");
    }
  }
}
