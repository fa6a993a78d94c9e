package dev.sluice.queues.cache;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionPolicy;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.VariantPolicy;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks up what ClusterQueues say about concurrent admission. Thread-safe. */
public final class CachedVariantPolicies {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedVariantPolicies(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  /**
   * The policy of the ClusterQueue that a Workload's LocalQueue feeds, if it has one; empty while
   * one of both doesn't exist.
   */
  public Optional<Optional<VariantPolicy>> of(CachedWorkload workload) {
    return informerCaches
        .localQueues()
        .find(workload.id().namespace(), workload.spec().queueName())
        .map(CachedQueues::clusterQueue)
        .flatMap(name -> informerCaches.clusterQueues().find(name))
        .map(CachedVariantPolicies::policy);
  }

  /** Whether families may be decided on otherwise after a ClusterQueue has changed. */
  public static boolean differ(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    Optional<ConcurrentAdmissionPolicy> was = declared(before);
    Optional<ConcurrentAdmissionPolicy> is = declared(after);
    return (was.isPresent() || is.isPresent())
        && (!was.equals(is) || !Objects.equals(flavors(before), flavors(after)));
  }

  private static Optional<ConcurrentAdmissionPolicy> declared(@Nullable ClusterQueue queue) {
    return queue == null || queue.getSpec() == null
        ? Optional.empty()
        : Optional.ofNullable(queue.getSpec().concurrentAdmissionPolicy());
  }

  private static List<String> flavors(@Nullable ClusterQueue queue) {
    return queue == null || queue.getSpec() == null
        ? List.of()
        : queue.getSpec().resourceGroups().stream()
            .flatMap(group -> group.flavors().stream())
            .map(FlavorQuotas::name)
            .toList();
  }

  private static Optional<VariantPolicy> policy(ClusterQueue queue) {
    return declared(queue)
        .map(ConcurrentAdmissionPolicy::migration)
        .map(
            migration ->
                new VariantPolicy(
                    flavors(queue),
                    migration.mode(),
                    Optional.ofNullable(migration.constraints())
                        .map(constraints -> constraints.lastAcceptableFlavorName())));
  }
}
