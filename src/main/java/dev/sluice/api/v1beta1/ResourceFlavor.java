package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.ResourceFlavorSpec;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** A kind of nodes, told by labels and taints, that quota is given for. */
@JsonClassDescription("A kind of nodes, told by labels and taints, that quota is given for.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 ResourceFlavor is deprecated; use v1beta2")
@Kind("ResourceFlavor")
@Plural("resourceflavors")
@Singular("resourceflavor")
@ShortNames({"flavor", "flavors", "rf"})
@ValidationRule(
    value =
        "!has(oldSelf.spec) || !has(oldSelf.spec.topologyName) || has(self.spec) && "
            + "has(self.spec.topologyName) && self.spec.topologyName == "
            + "oldSelf.spec.topologyName",
    messageExpression =
        "'spec.topologyName can not change or be removed, it is ' + " + "oldSelf.spec.topologyName")
public final class ResourceFlavor extends CustomResource<ResourceFlavorSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ResourceFlavor() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable ResourceFlavorSpec initSpec() {
    return null;
  }
}
