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

/** What a cluster queue holds at present. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueueStatus(
@JsonPropertyDescription("Workloads that are admitted and not finished.") @Nullable Integer admittedWorkloads,
@ListMap("type") @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Latest observations. Active tells whether workloads can be admitted, and if " + "not, why.") List<Condition> conditions,
@JsonPropertyDescription("Place of the queue in fair sharing. Present only while fair sharing is on.") @Nullable FairSharingStatus fairSharing,
@Size(max = 64) @ListMap("name") @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Quota that is reserved by workloads, admitted or still in admission checks, " + "by flavor.") List<FlavorUsage> flavorsReservation,
@Size(max = 64) @ListMap("name") @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Quota that is used by admitted workloads, by flavor.") List<FlavorUsage> flavorsUsage,
@JsonPropertyDescription("Workloads that wait: those about to be tried and those set aside until " + "something changes.") @Nullable Integer pendingWorkloads,
@JsonPropertyDescription("Workloads that hold quota and are not finished.") @Nullable Integer reservingWorkloads,
@JsonPropertyDescription("The first waiting workloads. Kept so that old clients can read it; no " + "longer written.") @Nullable ClusterQueuePendingWorkloadsStatus pendingWorkloadsStatus) {

/** Takes what is absent for its default; lists and maps become immutable. */
public ClusterQueueStatus {
conditions = Absent.orEmpty(conditions);
flavorsReservation = Absent.orEmpty(flavorsReservation);
flavorsUsage = Absent.orEmpty(flavorsUsage);
}
}
