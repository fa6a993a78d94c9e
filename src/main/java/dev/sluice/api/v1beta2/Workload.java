package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.schema.ConvertedByWebhook;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.AdditionalSelectableField;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * What a job asks for and what it was given. Usually made by the operator for each job; people read
 * it to see why a job waits.
 */
@JsonClassDescription(
    "What a job asks for and what it was given. Usually made by the operator for "
        + "each job; people read it to see why a job waits.")
@Group(ApiVersions.GROUP)
@Version(value = ApiVersions.V1BETA2)
@Kind("Workload")
@Plural("workloads")
@Singular("workload")
@ShortNames({"kwl", "kueueworkload", "kueueworkloads"})
@ConvertedByWebhook
@AdditionalPrinterColumn(
    name = "Queue",
    jsonPath = ".spec.queueName",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Local queue the workload waits in.")
@AdditionalPrinterColumn(
    name = "Reserved in",
    jsonPath = ".status.admission.clusterQueue",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Cluster queue whose quota the workload holds.")
@AdditionalPrinterColumn(
    name = "Admitted",
    jsonPath = ".status.conditions[?(@.type=='Admitted')].status",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Whether the workload is admitted.")
@AdditionalPrinterColumn(
    name = "Finished",
    jsonPath = ".status.conditions[?(@.type=='Finished')].status",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Whether the workload is finished.")
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE,
    getDescription = "Time since creation.")
@AdditionalSelectableField(jsonPath = ".status.admission.clusterQueue")
@ValidationRule(
    value =
        "!has(self.status) || !has(self.status.admission) || !(has(self.status) && "
            + "has(self.status.conditions) && self.status.conditions.exists(c, c.type == "
            + "'QuotaReserved' && c.status == 'True')) || "
            + "size(has(self.status.admission.podSetAssignments) ? "
            + "self.status.admission.podSetAssignments : []) == size(has(self.spec) && "
            + "has(self.spec.podSets) ? self.spec.podSets : [])",
    message =
        "status.admission.podSetAssignments must have one entry for each of "
            + "spec.podSets while QuotaReserved is True")
@ValidationRule(
    value =
        "!(has(oldSelf.status) && has(oldSelf.status.conditions) && "
            + "oldSelf.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status "
            + "== 'True')) || (has(self.spec) && has(self.spec.priorityClassRef)) == "
            + "(has(oldSelf.spec) && has(oldSelf.spec.priorityClassRef))",
    message = "spec.priorityClassRef can't be added or removed while QuotaReserved is True")
@ValidationRule(
    value =
        "!(has(oldSelf.status) && has(oldSelf.status.conditions) && "
            + "oldSelf.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status "
            + "== 'True')) || !has(self.spec) || !has(oldSelf.spec) || "
            + "!has(self.spec.priorityClassRef) || !has(oldSelf.spec.priorityClassRef) || "
            + "self.spec.priorityClassRef.group == oldSelf.spec.priorityClassRef.group && "
            + "self.spec.priorityClassRef.kind == oldSelf.spec.priorityClassRef.kind",
    messageExpression =
        "'spec.priorityClassRef: group and kind are fixed while QuotaReserved is "
            + "True: ' + oldSelf.spec.priorityClassRef.group + ' ' + "
            + "oldSelf.spec.priorityClassRef.kind")
@ValidationRule(
    value =
        "!(has(oldSelf.status) && has(oldSelf.status.conditions) && "
            + "oldSelf.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status "
            + "== 'True')) || !has(self.spec) || !has(oldSelf.spec) || "
            + "!has(self.spec.priorityClassRef) || !has(oldSelf.spec.priorityClassRef) || "
            + "oldSelf.spec.priorityClassRef.kind != 'PriorityClass' || "
            + "self.spec.priorityClassRef.name == oldSelf.spec.priorityClassRef.name",
    messageExpression =
        "'spec.priorityClassRef.name of a PriorityClass is fixed while QuotaReserved "
            + "is True: ' + oldSelf.spec.priorityClassRef.name")
@ValidationRule(
    value =
        "!(has(oldSelf.status) && has(oldSelf.status.conditions) && "
            + "oldSelf.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status "
            + "== 'True')) || !(has(self.status) && has(self.status.conditions) && "
            + "self.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status == "
            + "'True')) || (has(self.spec) && has(self.spec.queueName) ? "
            + "self.spec.queueName : '') == (has(oldSelf.spec) && "
            + "has(oldSelf.spec.queueName) ? oldSelf.spec.queueName : '')",
    messageExpression =
        "'spec.queueName is fixed while QuotaReserved is True: ' + "
            + "(has(oldSelf.spec) && has(oldSelf.spec.queueName) ? oldSelf.spec.queueName "
            + ": 'none')")
@ValidationRule(
    value =
        "!(has(oldSelf.status) && has(oldSelf.status.conditions) && "
            + "oldSelf.status.conditions.exists(c, c.type == 'Admitted' && c.status == "
            + "'True')) || !(has(self.status) && has(self.status.conditions) && "
            + "self.status.conditions.exists(c, c.type == 'Admitted' && c.status == "
            + "'True')) || (has(self.spec) && has(self.spec.maximumExecutionTimeSeconds) ? "
            + "self.spec.maximumExecutionTimeSeconds : 0) == (has(oldSelf.spec) && "
            + "has(oldSelf.spec.maximumExecutionTimeSeconds) ? "
            + "oldSelf.spec.maximumExecutionTimeSeconds : 0)",
    messageExpression =
        "'spec.maximumExecutionTimeSeconds is fixed while Admitted is True: "
            + "%d'.format([has(oldSelf.spec) && "
            + "has(oldSelf.spec.maximumExecutionTimeSeconds) ? "
            + "oldSelf.spec.maximumExecutionTimeSeconds : 0])")
public final class Workload extends CustomResource<WorkloadSpec, WorkloadStatus>
    implements Namespaced {

  /** Makes an object that has metadata and no spec or status. */
  public Workload() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable WorkloadSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable WorkloadStatus initStatus() {
    return null;
  }
}
