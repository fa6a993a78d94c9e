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

/** Counters of a workload's past. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SchedulingStats(
@ListMap({"reason", "underlyingCause"}) @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("How often the workload was evicted, by reason.") List<SchedulingStatsEviction> evictions) {

/** Takes what is absent for its default; lists and maps become immutable. */
public SchedulingStats {
evictions = Absent.orEmpty(evictions);
}
}
