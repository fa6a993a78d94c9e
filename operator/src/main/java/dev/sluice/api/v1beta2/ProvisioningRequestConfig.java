package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestNodeSelector;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How an admission check asks an autoscaler for nodes. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("provisioningrequestconfigs")
public final class ProvisioningRequestConfig
    extends EmptyResource<ProvisioningRequestConfigSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ProvisioningRequestConfig() {}

  /**
   * What ProvisioningRequests ask for, and what becomes of their answers.
   *
   * @param provisioningClassName who provides the nodes, and how
   * @param parameters copied into every request
   * @param managedResources resources that need nodes to be asked for; empty: all pods need them
   * @param retryStrategy how a failed request is tried again
   * @param podSetUpdates what is added to the pods once the nodes are there
   * @param podSetMergePolicy which pod sets share one entry of a request; absent: each has its own
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ProvisioningRequestConfigSpec(
      String provisioningClassName,
      Map<String, String> parameters,
      List<String> managedResources,
      ProvisioningRequestRetryStrategy retryStrategy,
      @Nullable ProvisioningRequestPodSetUpdates podSetUpdates,
      @Nullable PodSetMergePolicy podSetMergePolicy) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public ProvisioningRequestConfigSpec {
      parameters = Defaults.orEmpty(parameters);
      managedResources = Defaults.orEmpty(managedResources);
      retryStrategy = Defaults.or(retryStrategy, ProvisioningRequestRetryStrategy.DEFAULT);
    }
  }

  /**
   * An entry of the node selector of pods whose nodes were provisioned.
   *
   * @param key of the entry
   * @param valueFromProvisioningClassDetail the key of the value in the request's {@code
   *     status.provisioningClassDetails}
   */
  public record ProvisioningRequestNodeSelector(
      String key, String valueFromProvisioningClassDetail) {

    /** Takes what is absent for an empty text. */
    public ProvisioningRequestNodeSelector {
      key = Defaults.or(key, "");
      valueFromProvisioningClassDetail = Defaults.or(valueFromProvisioningClassDetail, "");
    }
  }

  /** What is added to pods whose nodes were provisioned. */
  public record ProvisioningRequestPodSetUpdates(
      List<ProvisioningRequestNodeSelector> nodeSelector) {

    /** Takes what is absent for its default; the list becomes immutable. */
    public ProvisioningRequestPodSetUpdates {
      nodeSelector = Defaults.orEmpty(nodeSelector);
    }
  }

  /**
   * How a failed ProvisioningRequest is tried again.
   *
   * @param backoffLimitCount how often it is tried again
   * @param backoffBaseSeconds the pause before the first retry; each further one is twice as long
   * @param backoffMaxSeconds the longest pause
   */
  public record ProvisioningRequestRetryStrategy(
      Integer backoffLimitCount, Integer backoffBaseSeconds, Integer backoffMaxSeconds) {

    private static final int LIMIT = 3;
    private static final int BASE_SECONDS = 60;
    private static final int MAX_SECONDS = 1800;

    /** What an absent strategy stands for. */
    public static final ProvisioningRequestRetryStrategy DEFAULT =
        new ProvisioningRequestRetryStrategy(LIMIT, BASE_SECONDS, MAX_SECONDS);

    /** Takes what is absent for its default. */
    public ProvisioningRequestRetryStrategy {
      backoffLimitCount = Defaults.or(backoffLimitCount, LIMIT);
      backoffBaseSeconds = Defaults.or(backoffBaseSeconds, BASE_SECONDS);
      backoffMaxSeconds = Defaults.or(backoffMaxSeconds, MAX_SECONDS);
    }
  }

  /**
   * Which pod sets share one entry of a ProvisioningRequest. The constants are named as in the API.
   */
  public enum PodSetMergePolicy {
    /** {@code IdenticalPodTemplates}: those with equal templates. */
    @JsonProperty("IdenticalPodTemplates")
    IDENTICAL_POD_TEMPLATES,
    /**
     * {@code IdenticalWorkloadSchedulingRequirements}: those whose templates are equal in what
     * scheduling looks at.
     */
    @JsonProperty("IdenticalWorkloadSchedulingRequirements")
    IDENTICAL_WORKLOAD_SCHEDULING_REQUIREMENTS
  }
}
