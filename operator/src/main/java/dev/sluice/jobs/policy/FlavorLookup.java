package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The ResourceFlavors, as far as pods are concerned. Readable from any thread. */
public interface FlavorLookup {

  /** What pods get that were admitted in this flavor; empty when there is no such flavor. */
  Optional<FlavorPods> find(String flavor);

  /**
   * What pods of a flavor get.
   *
   * @param nodeLabels becomes their node selector
   * @param tolerations is added to theirs, in the API's form
   */
  record FlavorPods(Map<String, String> nodeLabels, List<ObjectNode> tolerations) {
    public FlavorPods {
      nodeLabels = Map.copyOf(nodeLabels);
      tolerations = List.copyOf(tolerations);
    }
  }
}
