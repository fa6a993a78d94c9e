package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.schema.ConvertedByWebhook;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.AdditionalSelectableField;
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
    "What a job asks for and what it was given. Usually made by the operator for each job; people read it to see why a job waits.")
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
