package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.Topology.TopologyLevel;
import dev.sluice.core.model.TopologySpec;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Maps Topologies to the scheduler's model. */
public final class TopologyMapper {

  private TopologyMapper() {}

  /**
   * Maps a Topology; empty if it has no levels, or one without a label, which the API server does
   * not accept.
   */
  public static Optional<TopologySpec> translate(Topology topology) {
    if (topology.getSpec() == null) {
      return Optional.empty();
    }
    List<String> levels =
        topology.getSpec().levels().stream().map(TopologyLevel::nodeLabel).toList();
    return levels.isEmpty() || levels.stream().anyMatch(Objects::isNull)
        ? Optional.empty()
        : Optional.of(new TopologySpec(topology.getMetadata().getName(), levels));
  }
}
