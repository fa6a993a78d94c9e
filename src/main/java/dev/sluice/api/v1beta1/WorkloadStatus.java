package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.v1beta2.PodSetRequest;
import dev.sluice.api.v1beta2.ReclaimablePod;
import dev.sluice.api.v1beta2.RequeueState;
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
    @JsonPropertyDescription("The quota the workload holds. Absent while it holds none.")
        @Nullable Admission admission,
    @Size(max = 8)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Answers of the admission checks the workload has to pass.")
        List<AdmissionCheckState> admissionChecks,
    @JsonPropertyDescription("Worker cluster that the workload runs on.")
        @Nullable String clusterName,
    @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations: QuotaReserved, Admitted, PodsReady, Evicted, "
                + "Preempted, Requeued, Finished and others.")
        List<Condition> conditions,
    @Size(max = 20)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Worker clusters that are being tried. Empty once clusterName is set.")
        List<String> nominatedClusterNames,
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
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Nodes of the workload's topology assignment that failed.")
        List<UnhealthyNode> unhealthyNodes,
    @JsonPropertyDescription("Seconds the workload was admitted before its present admission.")
        @Nullable Integer accumulatedPastExexcutionTimeSeconds) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public WorkloadStatus {
    admissionChecks = Defaults.orEmpty(admissionChecks);
    conditions = Defaults.orEmpty(conditions);
    nominatedClusterNames = Defaults.orEmpty(nominatedClusterNames);
    reclaimablePods = Defaults.orEmpty(reclaimablePods);
    resourceRequests = Defaults.orEmpty(resourceRequests);
    unhealthyNodes = Defaults.orEmpty(unhealthyNodes);
  }
}
