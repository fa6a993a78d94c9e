package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.schema.Atomic;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A kind of nodes, told by the labels of this object and by taints, that quota is given for. */
@JsonClassDescription(
    "A kind of nodes that quota is given for. Labels of this object, under metadata, tell its nodes "
        + "unless nodeSelector is given.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1ALPHA2,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1alpha2 ResourceFlavor is deprecated; use v1beta2")
@Kind("ResourceFlavor")
@Plural("resourceflavors")
@Singular("resourceflavor")
@ShortNames({"flavor", "flavors", "rf"})
public final class ResourceFlavor extends CustomResource<Void, Void> {

  @Size(max = 8)
  @Atomic
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyDescription(
      "Labels of the nodes, when they are not those of this object. An empty map means that the "
          + "labels of this object don't tell nodes.")
  private @Nullable Map<String, String> nodeSelector;

  @Size(max = 8)
  @Atomic
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  @JsonPropertyDescription(
      "Taints of the nodes. Only workloads that tolerate all of them are put on this flavor. The "
          + "pair of key and effect is unique.")
  private List<Taint> taints = List.of();

  /** Makes an object without metadata, labels and taints. */
  public ResourceFlavor() {}

  /** Labels of the nodes; null when they are those of the object itself. */
  public @Nullable Map<String, String> getNodeSelector() {
    return nodeSelector;
  }

  /** Sets the labels of the nodes; null for those of the object itself. */
  public void setNodeSelector(@Nullable Map<String, String> nodeSelector) {
    this.nodeSelector = nodeSelector;
  }

  /** Taints of the nodes. */
  public List<Taint> getTaints() {
    return taints;
  }

  /** Sets the taints of the nodes. */
  public void setTaints(List<Taint> taints) {
    this.taints = taints;
  }
}
