package dev.sluice.core.queue;

import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import java.util.Arrays;
import java.util.List;

/**
 * The least amounts that any of some classes asks a queue for.
 *
 * @param fixed the least amount of each pair of which all ask for some
 */
record LeastRequest(ClusterQueueCache queue, ResourceDemand.Fixed fixed) {

  private static final ResourceDemand.Fixed NOTHING =
      new ResourceDemand.Fixed(0, new int[0], new long[0]);

  /**
   * The least that these classes ask for; nothing, if they ask for different pairs, or any of them
   * has a choice.
   */
  static LeastRequest of(ClusterQueueCache queue, List<EquivalenceClass> classes) {
    ResourceDemand.Fixed least = null;
    for (EquivalenceClass each : classes) {
      ResourceDemand.Fixed request = each.demand(queue).fixed();
      if (request == null || (least != null && !Arrays.equals(least.pairs(), request.pairs()))) {
        return new LeastRequest(queue, NOTHING);
      }
      if (least == null) {
        least =
            new ResourceDemand.Fixed(request.group(), request.pairs(), request.amounts().clone());
      } else {
        for (int i = 0; i < request.amounts().length; i++) {
          least.amounts()[i] = Math.min(least.amounts()[i], request.amounts()[i]);
        }
      }
    }
    return new LeastRequest(queue, least == null ? NOTHING : least);
  }

  /** Whether all ask for more of a pair than is available to the queue. */
  boolean exceeds() {
    return fixed.exceeds(queue.node());
  }
}
