package dev.sluice.core.engine;

import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The slices of elastic jobs and which replaces which
 * (docs/elastic-jobs.md#what-the-engine-charges). While a slice and its replacement both have
 * quota, they share it: the replacement is charged for what the replaced slice doesn't hold. A
 * slice shares with one replacement only. Variants of one request are related in the same way, and
 * share nothing: one of them has quota at any time (docs/concurrent-admission.md).
 */
final class JobSlices {

  private static final Comparator<WorkloadEntry> BY_UID =
      Comparator.comparing(entry -> entry.id.uid());

  private record Key(String namespace, String job, String name) {}

  private final Map<Key, WorkloadEntry> slices = new HashMap<>();
  private final Map<Key, WorkloadEntry> replacements = new HashMap<>();

  /** The variants of each request that has some, by UID of the parent. */
  private final Map<String, Set<WorkloadEntry>> families = new HashMap<>();

  /** The slices as values. */
  List<EngineState.SliceExport> export() {
    return export(slices);
  }

  /** The first Workload that names each slice as replaced, as values. */
  List<EngineState.SliceExport> exportReplacements() {
    return export(replacements);
  }

  private static List<EngineState.SliceExport> export(Map<Key, WorkloadEntry> entries) {
    List<EngineState.SliceExport> exported = new ArrayList<>(entries.size());
    entries.forEach(
        (key, entry) ->
            exported.add(
                new EngineState.SliceExport(key.namespace, key.job, key.name, entry.id.uid())));
    exported.sort(
        Comparator.comparing(EngineState.SliceExport::namespace)
            .thenComparing(EngineState.SliceExport::job)
            .thenComparing(EngineState.SliceExport::name));
    return exported;
  }

  /** Takes slices over; the entries say already what makes them slices. */
  void restore(
      List<EngineState.SliceExport> exported,
      List<EngineState.SliceExport> exportedReplacements,
      Function<String, WorkloadEntry> entries) {
    exported.forEach(
        each -> {
          WorkloadEntry entry = entries.apply(each.uid());
          slices.put(key(each), entry);
          joinFamily(entry);
        });
    exportedReplacements.forEach(each -> replacements.put(key(each), entries.apply(each.uid())));
  }

  private static Key key(EngineState.SliceExport exported) {
    return new Key(exported.namespace(), exported.job(), exported.name());
  }

  /** Whether a Workload says of itself what it said before. */
  boolean isKnown(WorkloadEntry entry, Optional<JobSlice> slice) {
    return Optional.ofNullable(entry.slice).equals(slice);
  }

  /** Records what a Workload without quota says of itself. */
  void known(WorkloadEntry entry, Optional<JobSlice> slice) {
    forget(entry);
    JobSlice now = slice.orElse(null);
    entry.slice = now;
    if (now != null) {
      slices.put(key(entry, now.name()), entry);
      joinFamily(entry);
      if (!now.replaces().isEmpty() && !now.replaces().equals(now.name())) {
        replacements.putIfAbsent(key(entry, now.replaces()), entry);
      }
    }
  }

  /** Forgets a Workload that has no quota and is not pending. */
  void forget(WorkloadEntry entry) {
    JobSlice slice = entry.slice;
    if (slice != null) {
      slices.remove(key(entry, slice.name()), entry);
      replacements.remove(key(entry, slice.replaces()), entry);
      if (slice.variant().isPresent()) {
        families.computeIfPresent(
            family(entry, slice),
            (family, members) -> members.remove(entry) && members.isEmpty() ? null : members);
      }
      entry.slice = null;
    }
  }

  private void joinFamily(WorkloadEntry entry) {
    JobSlice slice = entry.slice;
    if (slice != null && slice.variant().isPresent()) {
      families.computeIfAbsent(family(entry, slice), family -> new TreeSet<>(BY_UID)).add(entry);
    }
  }

  private static String family(WorkloadEntry entry, JobSlice slice) {
    return entry.id.namespace() + "/" + slice.job();
  }

  /** The other variants of the request that a variant is one of; none for other Workloads. */
  List<WorkloadEntry> siblings(WorkloadEntry entry) {
    JobSlice slice = entry.slice;
    return slice == null || slice.variant().isEmpty()
        ? List.of()
        : families.getOrDefault(family(entry, slice), Set.of()).stream()
            .filter(other -> other != entry)
            .toList();
  }

  /** The variants with quota that a variant takes the place of when it fits. */
  List<WorkloadEntry> movesFrom(WorkloadEntry entry) {
    return siblings(entry).stream().filter(other -> other.reservation != null).toList();
  }

  /** Whether a variant has quota that this one may not take the place of. */
  private boolean isOutdone(WorkloadEntry entry) {
    Variant own = entry.slice == null ? null : entry.slice.variant().orElse(null);
    if (own == null) {
      return false;
    }
    for (WorkloadEntry other : siblings(entry)) {
      Variant held = other.slice == null ? null : other.slice.variant().orElse(null);
      if (other.reservation != null
          && !(held != null && own.attracts() && own.place() < held.place())) {
        return true;
      }
    }
    return false;
  }

  private static Key key(WorkloadEntry entry, String name) {
    JobSlice slice = entry.slice;
    return new Key(entry.id.namespace(), slice == null ? "" : slice.job(), name);
  }

  /** The first Workload that names this one as replaced; null if none does. */
  @Nullable WorkloadEntry replacementOf(WorkloadEntry entry) {
    return entry.slice == null ? null : replacements.get(key(entry, entry.slice.name()));
  }

  /** The replacement of a Workload, the replacement of that one, and so on; each once. */
  List<WorkloadEntry> laterThan(WorkloadEntry entry) {
    List<WorkloadEntry> later = new ArrayList<>(1);
    for (WorkloadEntry next = replacementOf(entry);
        next != null && next != entry && !later.contains(next);
        next = replacementOf(next)) {
      later.add(next);
    }
    return later;
  }

  /** The slice that a Workload replaces and shares quota with; null if there is none. */
  @Nullable WorkloadEntry replacedBy(WorkloadEntry entry) {
    WorkloadEntry found = named(entry);
    return found != null && found.localQueue == entry.localQueue && !isInCircle(entry)
        ? found
        : null;
  }

  /** The slice that a Workload names and that it was the first to name. */
  @Nullable WorkloadEntry named(WorkloadEntry entry) {
    return entry.slice != null && replacements.get(key(entry, entry.slice.replaces())) == entry
        ? slices.get(key(entry, entry.slice.replaces()))
        : null;
  }

  /** Slices that replace each other in a circle share nothing: each would count for the others. */
  private boolean isInCircle(WorkloadEntry entry) {
    Set<WorkloadEntry> seen = new HashSet<>();
    for (WorkloadEntry slice = named(entry); slice != null; slice = named(slice)) {
      if (slice == entry) {
        return true;
      }
      if (!seen.add(slice)) {
        return false;
      }
    }
    return false;
  }

  /** The reservation of a Workload with what is charged for it. */
  Reservation charged(WorkloadEntry entry, Reservation reservation) {
    if (entry.slice == null) {
      return reservation;
    }
    WorkloadEntry replaced = replacedBy(entry);
    WorkloadEntry replacement = replacementOf(entry);
    return reservation.charged(
        replaced == null ? null : replaced.reservation,
        replacement != null
            && replacedBy(replacement) == entry
            && replacement.reservation != null
            && replacement.reservation.admitted());
  }

  /** The Workload as it waits in a ClusterQueue: in place of the slice that it replaces. */
  PendingWorkload queued(WorkloadEntry entry, PendingWorkload workload, String clusterQueue) {
    return workload.withShape(
        workload.shape().replacing(Optional.ofNullable(replaced(entry, clusterQueue))));
  }

  /** Whether a Workload is queued as {@link #queued} has it. */
  boolean isQueuedAs(WorkloadEntry entry, PendingWorkload workload, QueuedWorkload item) {
    RequestShape shape = item.equivalenceClass().shape();
    return queued(entry, workload, entry.localQueue.clusterQueue()).shape().equals(shape);
  }

  private @Nullable ReplacedSlice replaced(WorkloadEntry entry, String clusterQueue) {
    WorkloadEntry replaced = replacedBy(entry);
    Reservation held = replaced == null ? null : replaced.reservation;
    JobSlice slice = entry.slice;
    return slice == null
            || replaced == null
            || held == null
            || !held.clusterQueue().equals(clusterQueue)
        ? null
        : new ReplacedSlice(replaced.id.uid(), slice.binding(held.podSets()));
  }

  /**
   * What is reserved for the slice that a Workload with quota replaces and shares it with; empty if
   * there is none.
   */
  List<PodSetAssignment> sharedBy(WorkloadEntry entry) {
    Reservation own = entry.reservation;
    return own == null
        ? List.of()
        : Optional.ofNullable(replaced(entry, own.clusterQueue()))
            .map(ReplacedSlice::podSets)
            .orElse(List.of());
  }

  /** Whether the replacement of a Workload has quota, and keeps its places. */
  boolean passesPlacesOn(WorkloadEntry entry) {
    WorkloadEntry replacement = replacementOf(entry);
    return replacement != null
        && replacement.reservation != null
        && replacedBy(replacement) == entry
        && replacement.reservation.podSets().stream()
            .anyMatch(podSet -> podSet.topology().assignment().isPresent());
  }

  /**
   * Whether a replacement has to wait because the slice that it replaces is pending, or is being
   * evicted: its job stops then, and continues with that slice. A variant has to wait while another
   * one has the quota of the request.
   */
  boolean mustWait(WorkloadEntry entry) {
    if (isOutdone(entry)) {
      return true;
    }
    WorkloadEntry replaced = replacedBy(entry);
    return replaced != null
        && (replaced.reservation == null
            || replaced.stage != WorkloadEntry.Stage.RESERVING
            || replaced.reservation.quotaHolder().evicted());
  }
}
