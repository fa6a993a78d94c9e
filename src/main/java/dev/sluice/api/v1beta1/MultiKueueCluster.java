package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** A worker cluster that jobs can be sent to. */
@JsonClassDescription("A worker cluster that jobs can be sent to.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 MultiKueueCluster is deprecated; use v1beta2")
@Kind("MultiKueueCluster")
@Plural("multikueueclusters")
@Singular("multikueuecluster")
@ShortNames({"mkc"})
@AdditionalPrinterColumn(
    name = "Connected",
    jsonPath = ".status.conditions[?(@.type=='Active')].status",
    type = AdditionalPrinterColumn.Type.STRING,
    getDescription = "Whether the cluster is connected.")
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE,
    getDescription = "Time since creation.")
public final class MultiKueueCluster
    extends CustomResource<MultiKueueClusterSpec, MultiKueueClusterStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public MultiKueueCluster() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable MultiKueueClusterSpec initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable MultiKueueClusterStatus initStatus() {
    return null;
  }
}
