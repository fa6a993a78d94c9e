package dev.sluice.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderSpec;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.api.v1beta2.EmptyResource;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  /**
   * How much there is of each flavor.
   *
   * @param flavors at most 64 in a CapacityProvider, 128 in a DynamicQuotaOrchestrator
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Capacity(@JsonInclude(JsonInclude.Include.ALWAYS) List<FlavorCapacity> flavors) {

    /** Takes what is absent for empty; the list becomes immutable. */
    public Capacity {
      flavors = orEmpty(flavors);
    }

    /**
     * How much there is of one flavor.
     *
     * @param name of the ResourceFlavor
     * @param resources amounts by resource, in the order of their names
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record FlavorCapacity(
        String name, @JsonInclude(JsonInclude.Include.ALWAYS) Map<String, Quantity> resources) {

      /** Takes what is absent for empty; the map becomes immutable. */
      public FlavorCapacity {
        name = orEmpty(name);
        resources =
            resources == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(resources));
      }
    }

    static <T> List<T> orEmpty(@Nullable List<T> list) {
      return list == null ? List.of() : List.copyOf(list);
    }

    static String orEmpty(@Nullable String text) {
      return text == null ? "" : text;
    }
  }
}
