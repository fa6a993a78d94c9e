package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
