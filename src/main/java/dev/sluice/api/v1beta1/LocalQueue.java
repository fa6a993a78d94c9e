package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.LocalQueueSpec;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
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

/** The queue that the jobs of a namespace are sent to; it leads to a cluster queue. */
@JsonClassDescription(
    "The queue that the jobs of a namespace are sent to; it leads to a cluster " + "queue.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 LocalQueue is deprecated; use v1beta2")
@Kind("LocalQueue")
@Plural("localqueues")
@Singular("localqueue")
@ShortNames({"queue", "queues", "lq"})
@AdditionalPrinterColumn(
    name = "ClusterQueue",
    jsonPath = ".spec.clusterQueue",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Cluster queue behind the queue.")
@AdditionalPrinterColumn(
    name = "Pending Workloads",
    jsonPath = ".status.pendingWorkloads",
    type = AdditionalPrinterColumn.Type.INTEGER,
    getDescription = "Workloads that wait.")
@AdditionalPrinterColumn(
    name = "Admitted Workloads",
    jsonPath = ".status.admittedWorkloads",
    type = AdditionalPrinterColumn.Type.INTEGER,
    getDescription = "Workloads that are admitted and not finished.")
@ValidationRule(
    value =
        "!has(oldSelf.spec) || !has(oldSelf.spec.clusterQueue) || has(self.spec) && "
            + "has(self.spec.clusterQueue) && self.spec.clusterQueue == "
            + "oldSelf.spec.clusterQueue",
    messageExpression = "'spec.clusterQueue can not change, it is ' + oldSelf.spec.clusterQueue")
public final class LocalQueue extends CustomResource<LocalQueueSpec, LocalQueueStatus>
    implements Namespaced {

  /** Makes an object that has metadata and no spec or status. */
  public LocalQueue() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable LocalQueueSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable LocalQueueStatus initStatus() {
    return null;
  }
}
