package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a workload stands. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "!has(oldSelf.clusterName) || oldSelf.clusterName == '' || "
            + "!has(self.clusterName) || self.clusterName == '' || self.clusterName == "
            + "oldSelf.clusterName",
    messageExpression =
        "'clusterName can be cleared but not changed from ' + oldSelf.clusterName + "
            + "' to ' + self.clusterName",
    fieldPath = ".clusterName")
@ValidationRule(
    value =
        "!has(self.clusterName) || self.clusterName == '' || "
            + "!has(self.nominatedClusterNames) || size(self.nominatedClusterNames) == 0",
    messageExpression =
        "'nominatedClusterNames must be empty, because clusterName is ' + " + "self.clusterName",
    fieldPath = ".nominatedClusterNames")
@ValidationRule(
    value =
        "!has(oldSelf.admission) || !has(self.admission) || "
            + "!has(oldSelf.admission.clusterQueue) || has(self.admission.clusterQueue) && "
            + "self.admission.clusterQueue == oldSelf.admission.clusterQueue",
    messageExpression =
        "'admission can be set or cleared, but its clusterQueue can not change from "
            + "' + oldSelf.admission.clusterQueue",
    fieldPath = ".admission")
public record WorkloadStatus(
    @JsonPropertyDescription("Seconds the workload was admitted before its present admission.")
        @Nullable Integer accumulatedPastExecutionTimeSeconds,
    @JsonPropertyDescription("The quota the workload holds. Absent while it holds none.")
        @Nullable Admission admission,
    @Size(max = 8)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Answers of the admission checks the workload has to pass.")
        List<AdmissionCheckState> admissionChecks,
    @Text(max = 256) @JsonPropertyDescription("Worker cluster that the workload runs on.")
        @Nullable String clusterName,
    @Size(max = 16)
        @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations: QuotaReserved, Admitted, PodsReady, Evicted, "
                + "Preempted, Requeued, Finished and others.")
        List<Condition> conditions,
    @Size(max = 20)
        @Items(maxLength = 256)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Worker clusters that are being tried. Empty once clusterName is set.")
        List<String> nominatedClusterNames,
    @Size(max = 8)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("State of the gates named in the spec.")
        List<PreemptionGateState> preemptionGates,
    @Size(max = 18)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Pods that are no longer needed, by pod set; their quota is given back while "
                + "the others run on.")
        List<ReclaimablePod> reclaimablePods,
    @JsonPropertyDescription(
            "How often and until when the workload is held back after it was evicted.")
        @Nullable RequeueState requeueState,
    @Size(max = 18)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("What each pod set asks for in total while no quota is held.")
        List<PodSetRequest> resourceRequests,
    @JsonPropertyDescription("How often the workload was evicted, and why.")
        @Nullable SchedulingStats schedulingStats,
    @Size(max = 8)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Nodes of the workload's topology assignment that failed.")
        List<UnhealthyNode> unhealthyNodes) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public WorkloadStatus {
    admissionChecks = Defaults.orEmpty(admissionChecks);
    conditions = Defaults.orEmpty(conditions);
    nominatedClusterNames = Defaults.orEmpty(nominatedClusterNames);
    preemptionGates = Defaults.orEmpty(preemptionGates);
    reclaimablePods = Defaults.orEmpty(reclaimablePods);
    resourceRequests = Defaults.orEmpty(resourceRequests);
    unhealthyNodes = Defaults.orEmpty(unhealthyNodes);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .accumulatedPastExecutionTimeSeconds(accumulatedPastExecutionTimeSeconds)
        .admission(admission)
        .admissionChecks(admissionChecks)
        .clusterName(clusterName)
        .conditions(conditions)
        .nominatedClusterNames(nominatedClusterNames)
        .preemptionGates(preemptionGates)
        .reclaimablePods(reclaimablePods)
        .requeueState(requeueState)
        .resourceRequests(resourceRequests)
        .schedulingStats(schedulingStats)
        .unhealthyNodes(unhealthyNodes);
  }

  /**
   * Collects the parts of a {@link WorkloadStatus}; each method is named after the field it sets.
   */
  public static final class Builder {
    private @Nullable Integer accumulatedPastExecutionTimeSeconds;
    private @Nullable Admission admission;
    private List<AdmissionCheckState> admissionChecks = List.of();
    private @Nullable String clusterName;
    private List<Condition> conditions = List.of();
    private List<String> nominatedClusterNames = List.of();
    private List<PreemptionGateState> preemptionGates = List.of();
    private List<ReclaimablePod> reclaimablePods = List.of();
    private @Nullable RequeueState requeueState;
    private List<PodSetRequest> resourceRequests = List.of();
    private @Nullable SchedulingStats schedulingStats;
    private List<UnhealthyNode> unhealthyNodes = List.of();

    private Builder() {}

    /** Sets the field of this name; null for absent. */
    public Builder accumulatedPastExecutionTimeSeconds(
        @Nullable Integer accumulatedPastExecutionTimeSeconds) {
      this.accumulatedPastExecutionTimeSeconds = accumulatedPastExecutionTimeSeconds;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder admission(@Nullable Admission admission) {
      this.admission = admission;
      return this;
    }

    /** Sets the field of this name. */
    public Builder admissionChecks(List<AdmissionCheckState> admissionChecks) {
      this.admissionChecks = admissionChecks;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder clusterName(@Nullable String clusterName) {
      this.clusterName = clusterName;
      return this;
    }

    /** Sets the field of this name. */
    public Builder conditions(List<Condition> conditions) {
      this.conditions = conditions;
      return this;
    }

    /** Sets the field of this name. */
    public Builder nominatedClusterNames(List<String> nominatedClusterNames) {
      this.nominatedClusterNames = nominatedClusterNames;
      return this;
    }

    /** Sets the field of this name. */
    public Builder preemptionGates(List<PreemptionGateState> preemptionGates) {
      this.preemptionGates = preemptionGates;
      return this;
    }

    /** Sets the field of this name. */
    public Builder reclaimablePods(List<ReclaimablePod> reclaimablePods) {
      this.reclaimablePods = reclaimablePods;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder requeueState(@Nullable RequeueState requeueState) {
      this.requeueState = requeueState;
      return this;
    }

    /** Sets the field of this name. */
    public Builder resourceRequests(List<PodSetRequest> resourceRequests) {
      this.resourceRequests = resourceRequests;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder schedulingStats(@Nullable SchedulingStats schedulingStats) {
      this.schedulingStats = schedulingStats;
      return this;
    }

    /** Sets the field of this name. */
    public Builder unhealthyNodes(List<UnhealthyNode> unhealthyNodes) {
      this.unhealthyNodes = unhealthyNodes;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public WorkloadStatus build() {
      return new WorkloadStatus(
          accumulatedPastExecutionTimeSeconds,
          admission,
          admissionChecks,
          clusterName,
          conditions,
          nominatedClusterNames,
          preemptionGates,
          reclaimablePods,
          requeueState,
          resourceRequests,
          schedulingStats,
          unhealthyNodes);
    }
  }
}
