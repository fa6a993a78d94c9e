package dev.sluice.visibility;

import dev.sluice.core.model.TopologyShortage;

/** Renders shortages of places as text. */
final class TopologyText {

  private TopologyText() {}

  /** Why pods found no place, in one clause with the numbers. */
  static String of(TopologyShortage shortage, boolean everEmpty) {
    StringBuilder text = new StringBuilder("needs ");
    text.append(pods(shortage.needed()));
    if (shortage.leader()) {
      text.append(" and a leader");
    }
    if (shortage.sliceSize() > 1) {
      text.append(" in slices of ").append(shortage.sliceSize());
      text.append(", each in one ").append(shortage.sliceLevel());
    }
    if (!shortage.level().isEmpty()) {
      text.append(shortage.sliceSize() > 1 ? ", all" : "").append(" in one ");
      text.append(shortage.level());
    }
    text.append(everEmpty ? ", more than empty nodes have room for" : "");
    if (shortage.domains() == 0) {
      return text.append("; no usable node has the labels of the flavor and the topology")
          .toString();
    }
    if (!shortage.level().isEmpty()) {
      text.append("; the best, ").append(shortage.best()).append(", has room for ");
      text.append(shortage.bestRoom());
      if (!shortage.around().isEmpty()) {
        text.append("; ").append(shortage.aroundRoom());
        text.append(" in the ").append(shortage.around()).append(" around it");
      }
    }
    text.append("; ").append(shortage.total()).append(" in all of ");
    text.append(shortage.domains()).append(shortage.domains() == 1 ? " domain" : " domains");
    if (shortage.excluded() > 0) {
      text.append("; ").append(shortage.excluded());
      text.append(shortage.excluded() == 1 ? " node is" : " nodes are");
      text.append(" excluded by taints, node selector or affinity");
    }
    return text.toString();
  }

  private static String pods(long count) {
    return count == 1 ? "1 pod" : count + " pods";
  }
}
