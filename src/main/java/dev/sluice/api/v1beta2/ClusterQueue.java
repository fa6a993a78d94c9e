package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.schema.ConvertedByWebhook;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** A pool of quota, with the rules by which it is handed out. */
@JsonClassDescription("A pool of quota, with the rules by which it is handed out.")
@Group(ApiVersions.GROUP)
@Version(value = ApiVersions.V1BETA2)
@Kind("ClusterQueue")
@Plural("clusterqueues")
@Singular("clusterqueue")
@ShortNames({"cq"})
@ConvertedByWebhook
@AdditionalPrinterColumn(
    name = "Cohort",
    jsonPath = ".spec.cohortName",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Cohort the queue belongs to.")
@AdditionalPrinterColumn(
    name = "Strategy",
    jsonPath = ".spec.queueingStrategy",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1,
    getDescription = "Order of admission.")
@AdditionalPrinterColumn(
    name = "Pending Workloads",
    jsonPath = ".status.pendingWorkloads",
    type = AdditionalPrinterColumn.Type.INTEGER,
    getDescription = "Workloads that wait.")
@AdditionalPrinterColumn(
    name = "Admitted Workloads",
    jsonPath = ".status.admittedWorkloads",
    type = AdditionalPrinterColumn.Type.INTEGER,
    priority = 1,
    getDescription = "Workloads that are admitted and not finished.")
public final class ClusterQueue extends CustomResource<ClusterQueueSpec, ClusterQueueStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public ClusterQueue() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable ClusterQueueSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable ClusterQueueStatus initStatus() {
    return null;
  }
}
