package dev.sluice.core.model;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import java.util.List;

/**
 * Preferred node affinity: nodes that meet all requirements are better by a weight.
 *
 * @param weight the weight, from 1 to 100
 * @param requirements requirements on the labels of nodes
 */
public record PreferredNodes(int weight, List<LabelRequirement> requirements) {

  public PreferredNodes {
    requirements = List.copyOf(requirements);
  }
}
