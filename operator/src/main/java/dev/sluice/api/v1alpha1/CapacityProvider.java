package dev.sluice.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderSpec;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.api.v1beta2.EmptyResource;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells how much there is of some flavors; a controller that it names keeps its status. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1ALPHA1)
@Plural("capacityproviders")
public final class CapacityProvider
    extends EmptyResource<CapacityProviderSpec, CapacityProviderStatus> {

  /** The condition that tells whether the capacity in the status is that of the source. */
  public static final String SYNCHRONIZED = "CapacitySynchronized";

  /** Makes an object that has metadata and no spec or status. */
  public CapacityProvider() {}

  /** The flavors, and which controller knows them. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CapacityProviderSpec(
      List<OrchestratedFlavor> orchestratedFlavors,
      String controllerName,
      @Nullable ParametersReference parameters) {

    /** Takes what is absent for empty; the list becomes immutable. */
    public CapacityProviderSpec {
      orchestratedFlavors = Capacity.orEmpty(orchestratedFlavors);
      controllerName = Capacity.orEmpty(controllerName);
    }
  }

  /** Names a ResourceFlavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record OrchestratedFlavor(String name) {

    /** Takes what is absent for empty. */
    public OrchestratedFlavor {
      name = Capacity.orEmpty(name);
    }
  }

  /** Names an object that the controller takes its settings from. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ParametersReference(String apiGroup, String kind, String name) {}

  /** How much there is, and whether that is known. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CapacityProviderStatus(
      @Nullable Capacity capacity,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {

    /** Takes what is absent for empty; the list becomes immutable. */
    public CapacityProviderStatus {
      conditions = Capacity.orEmpty(conditions);
    }
  }
}
