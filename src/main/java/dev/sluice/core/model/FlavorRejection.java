package dev.sluice.core.model;

/** What stands between a pod set and a flavor. Amounts are in thousandths for cpu. */
public sealed interface FlavorRejection {

  /** The same without what is true only at the moment. */
  default FlavorRejection lasting() {
    return this;
  }

  /** The ResourceFlavor object doesn't exist. */
  record FlavorMissing() implements FlavorRejection {}

  /** The pods don't tolerate a taint of its nodes. */
  record UntoleratedTaint(Taint taint) implements FlavorRejection {}

  /** Node selector or affinity of the pods exclude its nodes. */
  record PlacementMismatch() implements FlavorRejection {}

  /** The queue has no quota for a resource at all. */
  record ResourceNotCovered(String resource, long requested) implements FlavorRejection {}

  /** More than the queue could ever get: it never fits. */
  record ExceedsMaximum(String resource, long requested, long maximum) implements FlavorRejection {}

  /** More than is free now. */
  record InsufficientQuota(String resource, long requested, long available, long maximum)
      implements FlavorRejection {
    @Override
    public FlavorRejection lasting() {
      return new InsufficientQuota(resource, requested, 0, maximum);
    }
  }
}
