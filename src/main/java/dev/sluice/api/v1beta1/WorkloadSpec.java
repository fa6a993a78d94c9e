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

/** What a job asks for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value="!has(self.priorityClassName) || self.priorityClassName == '' || " + "has(self.priority)", messageExpression="'priority must be set, because priorityClassName is ' + " + "self.priorityClassName", fieldPath=".priority")
public record WorkloadSpec(
@Required @Size(min = 1, max = 18) @ValidationRule(value="self.filter(p, has(p.minCount)).size() <= 1", message="minCount is allowed in one pod set at most") @ListMap("name") @JsonInclude(JsonInclude.Include.ALWAYS) @JsonPropertyDescription("Groups of equal pods, at most one of them with minCount. They can't be " + "changed while the workload holds quota.") List<PodSet> podSets,
@Default("true") @JsonPropertyDescription("Whether the workload may be admitted. Set to false, a waiting workload is " + "passed over and an admitted one is evicted.") Boolean active,
@Min(1) @JsonPropertyDescription("Seconds the workload may be admitted in total, after which it is stopped " + "for good. It can't be changed while the workload is admitted.") @Nullable Integer maximumExecutionTimeSeconds,
@JsonPropertyDescription("Priority; larger goes first. Required when a priority class is named.") @Nullable Integer priority,
@Text(max = 253) @Pattern(Patterns.DNS_SUBDOMAIN) @JsonPropertyDescription("Local queue, in the namespace of the workload, that it waits in. It can't " + "be changed while the workload holds quota.") @Nullable String queueName,
@Text(max = 253) @Pattern(Patterns.DNS_SUBDOMAIN) @JsonPropertyDescription("Name of the class that the priority comes from.") @Nullable String priorityClassName,
@OneOf({"kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass", ""}) @JsonPropertyDescription("Kind of the class that the priority comes from: " + "kueue.x-k8s.io/workloadpriorityclass, scheduling.k8s.io/priorityclass, or " + "empty for none.") @Nullable String priorityClassSource) {

/** Takes what is absent for its default; lists and maps become immutable. */
public WorkloadSpec {
podSets = Absent.orEmpty(podSets);
active = Absent.or(active, true);
}
}
