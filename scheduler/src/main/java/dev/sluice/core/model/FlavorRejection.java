package dev.sluice.core.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;

/**
 * Why a flavor was rejected for a pod set. Amounts are in thousandths for cpu and in whole units
 * otherwise.
 */
public sealed interface FlavorRejection {

  /** This rejection without the values that are valid only at the moment. */
  default FlavorRejection lasting() {
    return this;
  }

  /** The ResourceFlavor object doesn't exist. */
  record FlavorMissing() implements FlavorRejection {}

  /** The pods don't tolerate a taint of the flavor's nodes. */
  record UntoleratedTaint(Taint taint) implements FlavorRejection {}

  /** The node selector or the node affinity of the pods excludes the flavor's nodes. */
  record PlacementMismatch() implements FlavorRejection {}

  /** Nodes of the flavor were asked for and didn't come: it is left out for a while. */
  record NodesRefused() implements FlavorRejection {}

  /** Another variant of the same request tries the flavor. */
  record OfAnotherVariant() implements FlavorRejection {}

  /** The slice that the Workload replaces has another flavor. */
  record ReplacedSliceFlavor(String flavor) implements FlavorRejection {}

  /**
   * With the flavor the Workload would cost more for an hour than it may.
   *
   * @param perHour what its pod sets would cost up to this one
   * @param max what all of them may cost
   */
  record DearerThanMax(BigDecimal perHour, BigDecimal max) implements FlavorRejection {}

  /** A cheaper flavor fits, so that this one needn't be tried. */
  record CheaperFits() implements FlavorRejection {}

  /**
   * The request fits, and waits for a cheaper flavor.
   *
   * @param flavor the cheaper one
   * @param expected when it is expected to be free
   * @param until the end of the wait, whatever happens
   */
  record WaitsForCheaper(String flavor, Instant expected, Instant until)
      implements FlavorRejection {

    /** When the Workload is looked at again, although nothing has happened. */
    public Instant lookedAtAgain() {
      return expected.isBefore(until) ? expected : until;
    }

    @Override
    public FlavorRejection lasting() {
      return new WaitsForCheaper(flavor, until, until);
    }
  }

  /** No resource group of the queue covers the resource. */
  record ResourceNotCovered(String resource, long requested) implements FlavorRejection {}

  /** The request exceeds the most that the queue could ever get: the request never fits. */
  record ExceedsMaximum(String resource, long requested, long maximum) implements FlavorRejection {}

  /**
   * The request of a guaranteed Workload exceeds what other guaranteed Workloads leave of the
   * nominal quota of the queue or of a cohort above it.
   */
  record InsufficientGuarantee(String resource, long requested, long available, long maximum)
      implements FlavorRejection {
    @Override
    public FlavorRejection lasting() {
      return new InsufficientGuarantee(resource, requested, 0, maximum);
    }
  }

  /** The request exceeds the quota that is available now. */
  record InsufficientQuota(String resource, long requested, long available, long maximum)
      implements FlavorRejection {
    @Override
    public FlavorRejection lasting() {
      return new InsufficientQuota(resource, requested, 0, maximum);
    }
  }

  /** The pod set asks for a topology, and the flavor has none. */
  record NoTopology() implements FlavorRejection {}

  /** The pod set asks for no topology, and the flavor's nodes are only assigned by topology. */
  record OnlyByTopology() implements FlavorRejection {}

  /**
   * The pod set belongs to a slice that grows, and its additional pods can't be placed beside those
   * that run.
   */
  record GrowsByTopology() implements FlavorRejection {}

  /** The pod set has places in another flavor already. */
  record OtherTopologyFlavor(String flavor) implements FlavorRejection {}

  /**
   * The flavor's topology doesn't exist, or lacks the level.
   *
   * @param level empty if the topology doesn't exist
   * @param levels those that the topology has, from the top
   */
  record TopologyLevelMissing(String topology, String level, List<String> levels)
      implements FlavorRejection {

    public TopologyLevelMissing {
      levels = List.copyOf(levels);
    }
  }

  /** The pods can't be cut into slices of this size, since it doesn't divide their number. */
  record UnevenSlices(int pods, int sliceSize) implements FlavorRejection {}

  /**
   * The quota is there, and the nodes have no room for the pods as they are asked for.
   *
   * @param everEmpty whether there would be no room on empty nodes either
   * @param crowding the rules that keep the pods from domains with room; empty without
   */
  record NoPlacement(TopologyShortage shortage, boolean everEmpty, List<Crowding> crowding)
      implements FlavorRejection {

    public NoPlacement {
      crowding = List.copyOf(crowding);
    }
  }

  /**
   * Why pods can't be placed, in numbers: "needs 16 pods in one rack; the best rack r3 has room for
   * 12; 31 in the block".
   *
   * @param level the label key of the level at which one domain was to have room; empty if several
   *     domains together were
   * @param needed the pods to place
   * @param sliceSize the pods that must be within one domain of {@code sliceLevel}; 1 without
   *     slices
   * @param sliceLevel the label key of the slices' level
   * @param best the name of the domain with most room; empty if there is no domain
   * @param bestRoom the pods that it has room for, in whole slices
   * @param around the label key of the level above that domain; empty at the top
   * @param aroundRoom the pods that the domain around it has room for
   * @param total the pods that all domains have room for
   * @param domains the number of domains at the level
   * @param excluded the nodes that the pods can't run on, because of taints, node selector or node
   *     affinity
   * @param leader whether a leader had to find room in the same domain
   */
  public record TopologyShortage(
      String level,
      long needed,
      int sliceSize,
      String sliceLevel,
      String best,
      long bestRoom,
      String around,
      long aroundRoom,
      long total,
      int domains,
      int excluded,
      boolean leader) {}

  /**
   * Domains that have more groups than a rule allows for another one to be placed there.
   *
   * @param groups the number of groups that count for the rule
   * @param domains names of the first such domains
   * @param count the number of such domains
   */
  record Crowding(
      TopologyRequest.Spreading.ShareRule rule, int groups, List<String> domains, int count) {

    public Crowding {
      domains = List.copyOf(domains);
    }
  }
}
