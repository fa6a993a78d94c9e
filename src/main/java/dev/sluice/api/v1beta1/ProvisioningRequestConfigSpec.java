package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Absent;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.ConvertedByWebhook;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.ListSet;
import dev.sluice.api.schema.NonNegative;
import dev.sluice.api.schema.OneOf;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.AdditionalSelectableField;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import dev.sluice.api.v1beta2.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.BorrowWithinCohort;
import dev.sluice.api.v1beta2.BorrowWithinCohortPolicy;
import dev.sluice.api.v1beta2.CheckState;
import dev.sluice.api.v1beta2.ClusterProfileReference;
import dev.sluice.api.v1beta2.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.api.v1beta2.FlavorFungibilityPreference;
import dev.sluice.api.v1beta2.FlavorQuotas;
import dev.sluice.api.v1beta2.FlavorUsage;
import dev.sluice.api.v1beta2.LocalQueueFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueueFlavorUsage;
import dev.sluice.api.v1beta2.LocalQueueResourceUsage;
import dev.sluice.api.v1beta2.LocalQueueSpec;
import dev.sluice.api.v1beta2.LocationType;
import dev.sluice.api.v1beta2.PodSetMergePolicy;
import dev.sluice.api.v1beta2.PodSetRequest;
import dev.sluice.api.v1beta2.ProvisioningRequestPodSetUpdatesNodeSelector;
import dev.sluice.api.v1beta2.ProvisioningRequestRetryStrategy;
import dev.sluice.api.v1beta2.QueueingStrategy;
import dev.sluice.api.v1beta2.ReclaimWithinCohortPolicy;
import dev.sluice.api.v1beta2.ReclaimablePod;
import dev.sluice.api.v1beta2.RequeueState;
import dev.sluice.api.v1beta2.ResourceFlavorSpec;
import dev.sluice.api.v1beta2.ResourceQuota;
import dev.sluice.api.v1beta2.ResourceUsage;
import dev.sluice.api.v1beta2.SchedulingStatsEviction;
import dev.sluice.api.v1beta2.StopPolicy;
import dev.sluice.api.v1beta2.TopologyLevel;
import dev.sluice.api.v1beta2.TopologySpec;
import dev.sluice.api.v1beta2.WithinClusterQueuePolicy;
import dev.sluice.api.schema.Patterns;

/** How nodes are asked for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProvisioningRequestConfigSpec(
@Required @Text(max = 253) @Pattern(Patterns.DNS_SUBDOMAIN) @JsonPropertyDescription("Class of the ProvisioningRequest, that is, who provides the nodes and how.") String provisioningClassName,
@Size(max = 100) @ListSet @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Resources that need nodes to be asked for. Only pod sets that request one " + "of them are part of the request; absent or empty: all pod sets are.") List<String> managedResources,
@Size(max = 100) @Values(maxLength = 255) @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Parameters that are copied into every ProvisioningRequest. Annotations of " + "the job that start with provreq.kueue.x-k8s.io/ are added and win.") Map<String, String> parameters,
@JsonPropertyDescription("Which pod sets share one entry of the request. IdenticalPodTemplates: those " + "with equal templates. IdenticalWorkloadSchedulingRequirements: those whose " + "templates are equal in what scheduling looks at. Absent: each has its own.") @Nullable PodSetMergePolicy podSetMergePolicy,
@JsonPropertyDescription("What is added to the pods once the nodes are there.") @Nullable ProvisioningRequestPodSetUpdates podSetUpdates,
@Default("{\"backoffBaseSeconds\": 60, \"backoffLimitCount\": 3, \"backoffMaxSeconds\": " + "1800}") @JsonPropertyDescription("How a failed request is tried again.") ProvisioningRequestRetryStrategy retryStrategy) {

/** Takes what is absent for its default; lists and maps become immutable. */
public ProvisioningRequestConfigSpec {
managedResources = Absent.orEmpty(managedResources);
parameters = Absent.orEmpty(parameters);
retryStrategy = Absent.or(retryStrategy, ProvisioningRequestRetryStrategy.DEFAULT);
}
}
