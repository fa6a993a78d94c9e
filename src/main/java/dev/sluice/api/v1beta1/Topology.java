package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.TopologySpec;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/** The levels, such as block, rack and host, in which nodes stand close to each other. */
@JsonClassDescription(
    "The levels, such as block, rack and host, in which nodes stand close to " + "each other.")
@Group(ApiVersions.GROUP)
@Version(
    value = ApiVersions.V1BETA1,
    storage = false,
    deprecated = true,
    deprecationWarning = "kueue.x-k8s.io/v1beta1 Topology is deprecated; use v1beta2")
@Kind("Topology")
@Plural("topologies")
@Singular("topology")
@ShortNames({"topo"})
@ValidationRule(
    value =
        "(has(self.spec) == has(oldSelf.spec)) && (!has(self.spec) || "
            + "self.spec.levels == oldSelf.spec.levels)",
    message = "spec.levels can not change")
public final class Topology extends CustomResource<TopologySpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public Topology() {}

  /** Nothing is said about a new object until its spec is set. */
  @Override
  protected @Nullable TopologySpec initSpec() {
    return null;
  }
}
