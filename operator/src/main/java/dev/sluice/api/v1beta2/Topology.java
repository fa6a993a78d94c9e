package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.Topology.TopologySpec;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;

/** The levels, such as block, rack and host, in which nodes stand close to each other. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("topologies")
public final class Topology extends EmptyResource<TopologySpec, Void> {

  /** Makes an object that has metadata and no spec. */
  public Topology() {}

  /** The levels of a topology. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TopologySpec(@JsonInclude(JsonInclude.Include.ALWAYS) List<TopologyLevel> levels) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public TopologySpec {
      levels = Defaults.orEmpty(levels);
    }
  }

  /** One level of a topology. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TopologyLevel(String nodeLabel) {}
}
