package dev.sluice.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.DynamicQuotaOrchestratorSpec;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.DynamicQuotaOrchestratorStatus;
import dev.sluice.api.v1beta2.EmptyResource;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds up the capacity of providers, and hands it out to the queues below a root. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1ALPHA1)
@Plural("dynamicquotaorchestrators")
public final class DynamicQuotaOrchestrator
    extends EmptyResource<DynamicQuotaOrchestratorSpec, DynamicQuotaOrchestratorStatus> {

  /** The kind, as references to it name it. */
  public static final String KIND = "DynamicQuotaOrchestrator";

  /** The condition that tells whether the capacity could be added up. */
  public static final String COMPUTED = "EffectiveCapacityComputed";

  /** The condition that tells whether the capacity was handed out. */
  public static final String DISTRIBUTED = "Distributed";

  /** Makes an object that has metadata and no spec or status. */
  public DynamicQuotaOrchestrator() {}

  /** Where capacity comes from, and where it goes; without the latter it is only shown. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DynamicQuotaOrchestratorSpec(
      @Nullable CapacityDiscovery capacityDiscovery,
      @Nullable CapacityDistribution capacityDistribution) {}

  /** The providers that are added up. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CapacityDiscovery(List<ProviderReference> providers) {

    /** Takes what is absent for empty; the list becomes immutable. */
    public CapacityDiscovery {
      providers = Capacity.orEmpty(providers);
    }
  }

  /**
   * A CapacityProvider.
   *
   * @param name of the provider
   * @param effectiveCapacityMultiplier what its amounts are multiplied by; absent: 1
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ProviderReference(String name, @Nullable Quantity effectiveCapacityMultiplier) {

    /** Takes what is absent for empty. */
    public ProviderReference {
      name = Capacity.orEmpty(name);
    }
  }

  /**
   * Whose quota follows the capacity.
   *
   * @param subtreeRootQuotaRef the root of the subtree; null: nobody's, the capacity is only shown
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CapacityDistribution(@Nullable QuotaReference subtreeRootQuotaRef) {}

  /**
   * Names an object that has quota.
   *
   * @param kind {@code ClusterQueue} or {@code Cohort}
   * @param name of the object
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record QuotaReference(String kind, String name) {

    /** Takes what is absent for empty. */
    public QuotaReference {
      kind = Capacity.orEmpty(kind);
      name = Capacity.orEmpty(name);
    }
  }

  /** What there is to hand out, and whether that was done. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DynamicQuotaOrchestratorStatus(
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions,
      @Nullable Capacity effectiveCapacity) {

    /** Takes what is absent for empty; the list becomes immutable. */
    public DynamicQuotaOrchestratorStatus {
      conditions = Capacity.orEmpty(conditions);
    }
  }
}
