package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A kind of nodes, told by labels and taints, that quota is given for. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("resourceflavors")
public final class ResourceFlavor extends EmptyResource<ResourceFlavorSpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public ResourceFlavor() {}

  /** Which nodes make up a flavor, and what pods need to run there. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ResourceFlavorSpec(
      @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> nodeLabels,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Taint> nodeTaints,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Toleration> tolerations,
      @Nullable String topologyName) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public ResourceFlavorSpec {
      nodeLabels = Defaults.orEmpty(nodeLabels);
      nodeTaints = Defaults.orEmpty(nodeTaints);
      tolerations = Defaults.orEmpty(tolerations);
    }
  }
}
