package dev.sluice.workload.feed;

import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.VariantPolicy;
import dev.sluice.workload.status.Variants;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parents and variants of concurrent admission (docs/concurrent-admission.md) as the engine is told
 * of them: a variant is a nomination of its parent's request, and a parent is charged only while no
 * variant of it holds the quota of its flavors. Usable from any thread.
 */
public final class VariantFamilies {

  /** Without the gate ConcurrentAdmission: nothing is a parent or a variant. */
  public static final VariantFamilies NONE =
      new VariantFamilies(null, workload -> Optional.empty());

  private final @Nullable WorkloadLister lister;
  private final Function<CachedWorkload, Optional<VariantPolicy>> policies;

  /**
   * Families of listed Workloads.
   *
   * @param lister the Workloads; null if there are no families
   * @param policies the policy of the ClusterQueue that a Workload is queued in
   */
  public VariantFamilies(
      @Nullable WorkloadLister lister, Function<CachedWorkload, Optional<VariantPolicy>> policies) {
    this.lister = lister;
    this.policies = policies;
  }

  /** Whether a Workload is a parent, or becomes one: it is not queued. */
  public boolean isParent(CachedWorkload workload) {
    return lister != null
        && !Variants.isVariant(workload)
        && (Variants.isParent(workload)
            || (!workload.quotaReserved()
                && Variants.mayBeParent(workload)
                && policies.apply(workload).isPresent()));
  }

  /** Whether a Workload is a variant. */
  public boolean isVariant(CachedWorkload workload) {
    return lister != null && Variants.isVariant(workload);
  }

  /**
   * Whether a variant holds the quota of a parent, so that the parent itself isn't charged. One
   * that was given another flavor doesn't: the job runs on in its own until it is stopped.
   */
  boolean isChargedFor(CachedWorkload parent) {
    return variants(parent)
        .anyMatch(
            variant ->
                variant.quotaReserved()
                    && !variant.finished()
                    && Variants.isOf(variant, parent)
                    && Variants.hasFlavorsOf(variant, parent)
                    && variant.status().admission().isPresent());
  }

  /** The Workloads that have to be submitted again after this one changed. */
  List<CachedWorkload> relatives(CachedWorkload workload) {
    if (lister == null) {
      return List.of();
    }
    return Variants.isVariant(workload)
        ? parent(workload).stream().toList()
        : Variants.isParent(workload) ? variants(workload).toList() : List.of();
  }

  private Stream<CachedWorkload> variants(CachedWorkload parent) {
    return lister == null
        ? Stream.empty()
        : lister.ownedBy(parent.id().uid()).stream().filter(Variants::isVariant);
  }

  /** The parent of a variant, if it exists and may run. */
  Optional<CachedWorkload> parent(CachedWorkload workload) {
    return lister == null
        ? Optional.empty()
        : workload
            .owner()
            .flatMap(
                owner ->
                    lister
                        .get(workload.id().namespace(), owner.name())
                        .filter(found -> found.id().uid().equals(owner.uid())));
  }

  /** The parent of a variant; any other Workload itself. */
  public CachedWorkload first(CachedWorkload workload) {
    return isVariant(workload) ? parent(workload).orElse(workload) : workload;
  }

  /** Whether a variant may be queued: its parent waits for quota or runs, and has its spec. */
  boolean mayQueue(CachedWorkload workload) {
    return policies
            .apply(workload)
            .filter(policy -> policy.has(Variants.flavor(workload)))
            .isPresent()
        && parent(workload)
            .filter(parent -> !parent.deleting() && !parent.finished())
            .filter(parent -> parent.spec().active())
            .filter(Variants::isParent)
            .filter(parent -> Variants.isOf(workload, parent))
            .isPresent();
  }

  /** What makes a Workload a variant for the engine; empty for other Workloads. */
  Optional<JobSlice> nomination(CachedWorkload workload) {
    if (!isVariant(workload)) {
      return Optional.empty();
    }
    Optional<Variant> variant =
        policies.apply(workload).map(policy -> policy.nomination(Variants.flavor(workload)));
    return Optional.of(
        JobSlice.variant(
            Variants.parentUid(workload),
            workload.id().name(),
            variant.orElse(new Variant(Integer.MAX_VALUE, false))));
  }

  /** The flavors of its ClusterQueue that a variant may not use. */
  Set<String> excluded(CachedWorkload workload) {
    if (!isVariant(workload)) {
      return Set.of();
    }
    Set<String> others =
        new HashSet<>(policies.apply(workload).map(VariantPolicy::flavors).orElse(List.of()));
    others.remove(Variants.flavor(workload));
    return others;
  }
}
