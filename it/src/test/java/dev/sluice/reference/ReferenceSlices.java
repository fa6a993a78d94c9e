package dev.sluice.reference;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.reference.ReferenceEntry.Holding;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Slices of elastic jobs that replace one another (docs/elastic-jobs.md#what-the-engine-charges),
 * and variants of one request, of which one has quota (docs/concurrent-admission.md).
 */
final class ReferenceSlices {

  private final ReferenceQueues world;

  /** Who named a slice first, by namespace, job and name. */
  private final Map<String, String> first = new TreeMap<>();

  ReferenceSlices(ReferenceQueues world) {
    this.world = world;
  }

  /**
   * Finds out anew what everybody shares.
   *
   * @param charged is told of whoever is charged another amount, or can be evicted or not, after it
   *     changed
   * @param requeued is told of whoever asks for another amount, or has to wait or not, after it
   *     changed
   */
  void share(Consumer<ReferenceEntry> charged, Consumer<ReferenceEntry> requeued) {
    first.values().removeIf(uid -> !world.workloads.containsKey(uid));
    world.workloads.values().forEach(this::name);
    for (ReferenceEntry entry : world.workloads.values()) {
      ReferenceEntry replaced = replaced(entry).orElse(null);
      if (entry.holding != null) {
        Map<FlavorResource, Long> shared = shared(entry.holding, replaced);
        boolean succeeded =
            world.workloads.values().stream()
                .filter(other -> replaced(other).filter(it -> it == entry).isPresent())
                .anyMatch(other -> other.holding != null && other.holding.admitted());
        List<PodSetAssignment> places =
            isSharedBy(entry.holding, replaced) ? known(replaced).placed() : List.of();
        if (!shared.equals(entry.shared)
            || !places.equals(entry.sharedPlaces)
            || succeeded != entry.succeeded) {
          ReferenceHolder before = entry.holder();
          entry.sharedPlaces = places;
          entry.shared = shared;
          entry.succeeded = succeeded;
          // Who has quota only since then was never charged for what it shares.
          if (entry.sharedKnown && !before.equals(entry.holder())) {
            charged.accept(entry);
          }
        }
        entry.sharedKnown = true;
      } else {
        entry.sharedKnown = false;
        entry.shared = Map.of();
        entry.sharedPlaces = List.of();
        entry.succeeded = false;
      }
      if (entry.waits()) {
        Optional<ReplacedSlice> slice = slice(entry, replaced);
        boolean waits =
            (replaced != null && (!isSettled(replaced) || replaced.holder().evicted()))
                || othersWithQuota(world, entry).anyMatch(other -> !mayReplace(entry, other));
        if (!slice.equals(entry.replaced) || waits != entry.waitsForSlice) {
          entry.replaced = slice;
          entry.waitsForSlice = waits;
          requeued.accept(entry);
        }
      }
    }
  }

  /** The variants of the same request that have quota. */
  static Stream<ReferenceEntry> othersWithQuota(ReferenceQueues world, ReferenceEntry entry) {
    return entry.slice.filter(own -> own.variant().isPresent()).stream()
        .flatMap(
            own ->
                world.workloads.values().stream()
                    .filter(other -> other != entry && other.holding != null)
                    .filter(other -> other.id.namespace().equals(entry.id.namespace()))
                    .filter(
                        other ->
                            other
                                .slice
                                .filter(slice -> slice.variant().isPresent())
                                .filter(slice -> slice.job().equals(own.job()))
                                .isPresent()));
  }

  private static boolean mayReplace(ReferenceEntry entry, ReferenceEntry other) {
    Variant own = entry.slice.orElseThrow().variant().orElseThrow();
    Variant held = other.slice.orElseThrow().variant().orElseThrow();
    return own.attracts() && own.place() < held.place();
  }

  private static boolean isSettled(ReferenceEntry entry) {
    return entry.holding != null && !entry.assumed();
  }

  private static @Nullable LocalQueueId queue(ReferenceEntry entry) {
    return entry.holding != null
        ? entry.holding.localQueue()
        : entry.pending == null ? null : entry.pending.localQueue();
  }

  private void name(ReferenceEntry entry) {
    Optional<JobSlice> says =
        entry.holding != null
            ? entry.holding.slice()
            : Optional.ofNullable(entry.pending).flatMap(pending -> pending.shape().slice());
    if (says.equals(entry.slice) && Objects.equals(queue(entry), entry.sliceQueue)) {
      return;
    }
    first.values().removeIf(entry.id.uid()::equals);
    entry.slice = says;
    entry.sliceQueue = queue(entry);
    says.filter(slice -> !slice.replaces().isEmpty() && !slice.replaces().equals(slice.name()))
        .ifPresent(slice -> first.putIfAbsent(key(entry, slice, slice.replaces()), entry.id.uid()));
  }

  private static String key(ReferenceEntry entry, JobSlice slice, String name) {
    return entry.id.namespace() + " " + slice.job() + " " + name;
  }

  /** The slice that one names and was the first to name. */
  private Optional<ReferenceEntry> named(ReferenceEntry entry) {
    if (entry.slice.isEmpty()) {
      return Optional.empty();
    }
    String key = key(entry, entry.slice.get(), entry.slice.get().replaces());
    if (!entry.id.uid().equals(first.get(key))) {
      return Optional.empty();
    }
    return world.workloads.values().stream()
        .filter(
            other ->
                other
                    .slice
                    .filter(slice -> key(other, slice, slice.name()).equals(key))
                    .isPresent())
        .findFirst();
  }

  /** The slice that one shares with: both are of one queue, and not of a circle. */
  private Optional<ReferenceEntry> replaced(ReferenceEntry entry) {
    Set<ReferenceEntry> seen = new HashSet<>();
    Optional<ReferenceEntry> next = named(entry);
    while (next.isPresent() && seen.add(next.get())) {
      next = named(next.get());
    }
    return seen.contains(entry)
        ? Optional.empty()
        : named(entry).filter(other -> Objects.equals(other.sliceQueue, entry.sliceQueue));
  }

  private static Map<FlavorResource, Long> shared(
      Holding holding, @Nullable ReferenceEntry replaced) {
    return isSharedBy(holding, replaced) ? known(replaced).usage() : Map.of();
  }

  private static boolean isSharedBy(Holding holding, @Nullable ReferenceEntry replaced) {
    return replaced != null
        && replaced.holding != null
        && replaced.holding.slice().isPresent()
        && replaced.holding.clusterQueue().equals(holding.clusterQueue());
  }

  private static Holding known(@Nullable ReferenceEntry replaced) {
    return Objects.requireNonNull(Objects.requireNonNull(replaced).holding);
  }

  private Optional<ReplacedSlice> slice(ReferenceEntry entry, @Nullable ReferenceEntry replaced) {
    Holding held = replaced == null ? null : replaced.holding;
    return replaced == null
            || held == null
            || !world.queueOf(entry).equals(Optional.of(held.clusterQueue()))
        ? Optional.empty()
        : Optional.of(
            new ReplacedSlice(
                replaced.id.uid(),
                held.podSets().stream()
                    .filter(
                        podSet ->
                            podSet.count() > 0 || !entry.slice.orElseThrow().choosesFromZero())
                    .toList()));
  }
}
