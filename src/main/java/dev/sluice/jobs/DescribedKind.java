package dev.sluice.jobs;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A kind of job that no controller of this program handles. Its Workloads come from elsewhere, its
 * objects pass the webhooks unchanged, and MultiKueue can send them where there are rules for that.
 *
 * @param kind the kind
 * @param webhooks what the webhooks do with its objects
 * @param multiKueue how a job is mirrored in a worker cluster; empty if it can't be sent
 * @param watches other kinds that are watched where this kind is turned on
 */
public record DescribedKind(
    JobKind kind, WebhookRules webhooks, Optional<MultiKueueRules> multiKueue, Set<JobKind> watches)
    implements JobKindDescription {

  /** Copies the set. */
  public DescribedKind {
    watches = Set.copyOf(watches);
  }

  /** A kind that MultiKueue can send. */
  public static DescribedKind dispatched(JobKind kind, MultiKueueRules rules) {
    return new DescribedKind(
        kind,
        WebhookRules.atCreation(new WebhookRules.Review.Unreviewed()),
        Optional.of(rules),
        Set.of());
  }

  /** A kind that is known by its name only. */
  public static DescribedKind named(JobKind kind) {
    return new DescribedKind(
        kind,
        WebhookRules.atCreation(new WebhookRules.Review.Unreviewed()),
        Optional.empty(),
        Set.of());
  }

  @Override
  public List<RbacRule> roles() {
    return multiKueue.isPresent() ? RbacRule.ofDispatch(kind) : List.of();
  }
}
