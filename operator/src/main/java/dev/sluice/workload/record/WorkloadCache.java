package dev.sluice.workload.record;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.reflect.GuardedListeners;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Caches the newest known version of every Workload, by name, owner and queue, and notifies
 * listeners of every change. An older version never replaces a newer one, whatever its source: the
 * watch, a listing, or the response to a write.
 *
 * <p>Reads are allowed from any thread. Changes are allowed from any thread and are applied one at
 * a time.
 */
public final class WorkloadCache implements WorkloadLister {

  private final Map<String, Map<String, Slot>> byName = new ConcurrentHashMap<>();
  private final Map<String, Slot[]> byOwner = new ConcurrentHashMap<>();
  private final Map<LocalQueueId, Set<Slot>> byQueue = new ConcurrentHashMap<>();
  private final Map<String, Set<Slot>> byClusterQueue = new ConcurrentHashMap<>();
  private final GuardedListeners<WorkloadListener> listeners = new GuardedListeners<>();
  private final Object change = new Object();
  private int size;
  private int listing;
  private boolean synced;
  private long position;

  /** The entry of one Workload; its record is replaced, the entry stays. */
  private static final class Slot {
    volatile CachedWorkload current;
    int listing;

    Slot(CachedWorkload current) {
      this.current = current;
    }
  }

  /**
   * Adds a listener for later changes. One that is added after the first listing is told at once
   * that the cache contains all Workloads.
   */
  public void listen(WorkloadListener listener) {
    boolean complete;
    synchronized (change) {
      listeners.add(listener);
      complete = synced;
    }
    if (complete) {
      listener.synced();
    }
  }

  /** Takes a listener out. */
  public void unlisten(WorkloadListener listener) {
    listeners.remove(listener);
  }

  @Override
  public Optional<CachedWorkload> get(String namespace, String name) {
    Slot slot = byName.getOrDefault(namespace, Map.of()).get(name);
    return slot == null ? Optional.empty() : Optional.of(slot.current);
  }

  @Override
  public Collection<CachedWorkload> ownedBy(String ownerUid) {
    Slot[] slots = byOwner.get(ownerUid);
    return slots == null ? List.of() : records(Arrays.asList(slots));
  }

  @Override
  public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
    return records(byQueue.getOrDefault(new LocalQueueId(namespace, queueName), Set.of()));
  }

  @Override
  public Collection<CachedWorkload> reservingIn(String clusterQueue) {
    return records(byClusterQueue.getOrDefault(clusterQueue, Set.of()));
  }

  private static List<CachedWorkload> records(Collection<Slot> slots) {
    List<CachedWorkload> result = new ArrayList<>(slots.size());
    slots.forEach(slot -> result.add(slot.current));
    return result;
  }

  @Override
  public Iterable<CachedWorkload> all() {
    return () ->
        byName.values().stream()
            .flatMap(names -> names.values().stream())
            .map(slot -> slot.current)
            .iterator();
  }

  @Override
  public Iterable<CachedWorkload> inNamespace(String namespace) {
    return () ->
        byName.getOrDefault(namespace, Map.of()).values().stream()
            .map(slot -> slot.current)
            .iterator();
  }

  @Override
  public int size() {
    synchronized (change) {
      return size;
    }
  }

  /** The version up to which the reader has seen everything; 0 before the first listing. */
  public long position() {
    synchronized (change) {
      return position;
    }
  }

  /** Begins a listing: Workloads that it doesn't contain are removed at its end. */
  public void listingBegins() {
    synchronized (change) {
      listing++;
    }
  }

  /** Applies a Workload from the watch or a listing. */
  public void seen(CachedWorkload workload) {
    synchronized (change) {
      put(workload);
      touch(workload.id());
    }
  }

  private void touch(WorkloadId id) {
    Slot slot = slot(id);
    if (slot != null) {
      slot.listing = listing;
    }
  }

  /**
   * A Workload exists, or was deleted, of which nothing else can be read: while it exists it stays
   * as it was known, with its quota, since its job may run.
   */
  public void unreadable(WorkloadId id, boolean deleted) {
    synchronized (change) {
      Slot slot = slot(id);
      if (slot == null || !slot.current.id().equals(id)) {
        return;
      }
      if (deleted) {
        drop(slot.current);
      } else {
        touch(id);
      }
    }
  }

  /** Ends the listing of the given version. */
  public void listingEnds(long version) {
    synchronized (change) {
      List<CachedWorkload> gone = new ArrayList<>();
      for (Map<String, Slot> names : byName.values()) {
        for (Slot slot : names.values()) {
          if (slot.listing != listing && slot.current.version() <= version) {
            gone.add(slot.current);
          }
        }
      }
      gone.forEach(this::drop);
      position = Math.max(position, version);
    }
  }

  /** Removes a Workload that the watch reported deleted, in the version of the event. */
  public void deleted(CachedWorkload last) {
    synchronized (change) {
      Slot slot = slot(last.id());
      if (slot != null
          && slot.current.id().equals(last.id())
          && slot.current.version() <= last.version()) {
        drop(slot.current);
      }
    }
  }

  /** Records that all changes up to this version have been seen. */
  public void reached(long version) {
    synchronized (change) {
      position = Math.max(position, version);
    }
  }

  /**
   * Applies a Workload from the response to a write, before the watch reports it. Versions that the
   * watch has seen already, and responses before the first listing, are ignored: the object may
   * have been deleted since.
   */
  public void answered(CachedWorkload workload) {
    synchronized (change) {
      if (position > 0 && workload.version() > position) {
        put(workload);
      }
    }
  }

  private @Nullable Slot slot(WorkloadId id) {
    return byName.getOrDefault(id.namespace(), Map.of()).get(id.name());
  }

  private void put(CachedWorkload next) {
    Slot slot = slot(next.id());
    if (slot == null) {
      add(next);
      return;
    }
    CachedWorkload before = slot.current;
    if (before.version() >= next.version()) {
      return;
    }
    if (!before.id().equals(next.id())) {
      drop(before);
      add(next);
      return;
    }
    slot.current = next;
    reindex(slot, before, next);
    notifyListeners(before, next);
  }

  private void add(CachedWorkload workload) {
    Slot slot = new Slot(workload);
    byName
        .computeIfAbsent(workload.id().namespace(), namespace -> new ConcurrentHashMap<>())
        .put(workload.id().name(), slot);
    size++;
    reindex(slot, null, workload);
    notifyListeners(null, workload);
  }

  private void drop(CachedWorkload workload) {
    Map<String, Slot> names = byName.getOrDefault(workload.id().namespace(), Map.of());
    Slot slot = names.remove(workload.id().name());
    if (slot == null) {
      return;
    }
    if (names.isEmpty()) {
      byName.remove(workload.id().namespace());
    }
    size--;
    reindex(slot, workload, null);
    notifyListeners(workload, null);
  }

  private void notifyListeners(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? before : after;
    Object about = either == null ? "" : either.id();
    listeners.tell(about, listener -> listener.changed(before, after));
  }

  private void reindex(Slot slot, @Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    moveOwner(slot, key(before, WorkloadCache::owner), key(after, WorkloadCache::owner));
    move(byQueue, slot, key(before, WorkloadCache::queue), key(after, WorkloadCache::queue));
    move(
        byClusterQueue,
        slot,
        key(before, WorkloadCache::reservedIn),
        key(after, WorkloadCache::reservedIn));
  }

  private static <K> Optional<K> key(
      @Nullable CachedWorkload workload, Function<CachedWorkload, Optional<K>> of) {
    return workload == null ? Optional.empty() : of.apply(workload);
  }

  private static Optional<String> owner(CachedWorkload workload) {
    return workload.owner().map(CachedWorkload.Owner::uid);
  }

  private static Optional<LocalQueueId> queue(CachedWorkload workload) {
    String queue = workload.spec().queueName();
    return queue.isEmpty()
        ? Optional.empty()
        : Optional.of(new LocalQueueId(workload.id().namespace(), queue));
  }

  private static Optional<String> reservedIn(CachedWorkload workload) {
    return workload.quotaReserved() && !workload.finished()
        ? workload.status().admission().map(CachedWorkload.Admission::clusterQueue)
        : Optional.empty();
  }

  private static <K> void move(
      Map<K, Set<Slot>> index, Slot slot, Optional<K> from, Optional<K> to) {
    if (from.equals(to)) {
      return;
    }
    from.ifPresent(
        key ->
            index.computeIfPresent(
                key,
                (same, slots) -> {
                  slots.remove(slot);
                  return slots.isEmpty() ? null : slots;
                }));
    to.ifPresent(
        key -> index.computeIfAbsent(key, same -> ConcurrentHashMap.newKeySet()).add(slot));
  }

  /** Nearly every owner has one Workload, so that an array is the smallest set. */
  private void moveOwner(Slot slot, Optional<String> from, Optional<String> to) {
    if (from.equals(to)) {
      return;
    }
    from.ifPresent(key -> byOwner.computeIfPresent(key, (same, slots) -> without(slots, slot)));
    to.ifPresent(
        key ->
            byOwner.merge(
                key,
                new Slot[] {slot},
                (slots, one) -> {
                  Slot[] more = Arrays.copyOf(slots, slots.length + 1);
                  more[slots.length] = slot;
                  return more;
                }));
  }

  private static Slot @Nullable [] without(Slot[] slots, Slot slot) {
    Slot[] rest = Arrays.stream(slots).filter(other -> other != slot).toArray(Slot[]::new);
    return rest.length == 0 ? null : rest;
  }

  /** Notifies listeners that the first listing is complete. */
  public void synced() {
    synchronized (change) {
      synced = true;
      listeners.tell("all", WorkloadListener::synced);
    }
  }
}
