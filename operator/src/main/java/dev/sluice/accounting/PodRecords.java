package dev.sluice.accounting;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The pods that have not ended, by UID and by controller, and which objects control others. A
 * controller that was seen once stays one: of a pod for the pod's life, of another object as long
 * as anything below it is known. Usable from any thread.
 */
public final class PodRecords {

  private final Consumer<PodRecord> listener;
  private final Predicate<String> roots;
  private final ReentrantLock lock = new ReentrantLock();

  // All of these are guarded by the lock.
  private final Map<UUID, PodRecord> byUid = new HashMap<>();
  private final Map<String, Map<UUID, PodRecord>> byOwner = new HashMap<>();
  private final Map<String, Link> links = new HashMap<>();
  private final Map<String, Set<String>> children = new HashMap<>();

  /** What controls an object that is no pod. */
  private static final class Link {
    private final SequencedSet<String> parents = new LinkedHashSet<>(2);
    private boolean gone;
  }

  /**
   * Without pods.
   *
   * @param listener called after a pod appeared, changed or went, in its last version; not while
   *     the records are locked
   * @param roots whether the object with a UID has a Workload of its own: then what is below it
   *     doesn't belong to what is above it
   */
  public PodRecords(Consumer<PodRecord> listener, Predicate<String> roots) {
    this.listener = listener;
    this.roots = roots;
  }

  /** A pod exists in this version. */
  public void seen(PodRecord version) {
    PodRecord pod;
    lock.lock();
    try {
      PodRecord before = byUid.get(version.uid());
      pod = before == null ? version : version.after(before);
      if (pod.equals(before)) {
        return;
      }
      byUid.put(pod.uid(), pod);
      List<String> parents = pod.parents();
      if (before != null) {
        before.parents().stream()
            .filter(parent -> !parents.contains(parent))
            .forEach(parent -> dropOwner(parent, pod.uid()));
      }
      for (String parent : parents) {
        byOwner.computeIfAbsent(parent, any -> new LinkedHashMap<>(4)).put(pod.uid(), pod);
      }
    } finally {
      lock.unlock();
    }
    listener.accept(pod);
  }

  /** A pod has ended, or doesn't exist any more. */
  public void gone(UUID uid) {
    PodRecord before;
    lock.lock();
    try {
      before = byUid.remove(uid);
      if (before == null) {
        return;
      }
      before.parents().forEach(parent -> dropOwner(parent, uid));
    } finally {
      lock.unlock();
    }
    // The listener finds the accounts of the pod by links, which are forgotten after it only.
    listener.accept(before);
    lock.lock();
    try {
      before.parents().forEach(this::forgetIfUnused);
    } finally {
      lock.unlock();
    }
  }

  private void dropOwner(String owner, UUID pod) {
    byOwner.computeIfPresent(
        owner,
        (same, pods) -> {
          pods.remove(pod);
          return pods.isEmpty() ? null : pods;
        });
  }

  /**
   * An object that is no pod is controlled by another one. A UID longer than any is that of none,
   * and not remembered: people write it.
   *
   * @return whether this was not known
   */
  public boolean linked(String uid, String parent) {
    if (parent.length() > PodRecordParser.LONGEST_NAME) {
      return false;
    }
    lock.lock();
    try {
      SequencedSet<String> parents = links.computeIfAbsent(uid, any -> new Link()).parents;
      if (parents.contains(parent)) {
        return false;
      }
      if (parents.size() == PodRecord.MOST_OWNERS) {
        String last = parents.removeLast();
        dropChild(last, uid);
        forgetIfUnused(last);
      }
      parents.add(parent);
      children.computeIfAbsent(parent, any -> new LinkedHashSet<>(2)).add(uid);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** An object that is no pod doesn't exist any more; its pods may. */
  public void ownerGone(String uid) {
    lock.lock();
    try {
      Link link = links.get(uid);
      if (link != null) {
        link.gone = true;
        forgetIfUnused(uid);
      }
    } finally {
      lock.unlock();
    }
  }

  private void forgetIfUnused(String uid) {
    Link link = links.get(uid);
    if (link == null || !link.gone || byOwner.containsKey(uid) || children.containsKey(uid)) {
      return;
    }
    links.remove(uid);
    for (String parent : link.parents) {
      dropChild(parent, uid);
      forgetIfUnused(parent);
    }
  }

  private void dropChild(String parent, String uid) {
    children.computeIfPresent(
        parent,
        (same, below) -> {
          below.remove(uid);
          return below.isEmpty() ? null : below;
        });
  }

  /** The pod of this UID, if it has not ended. */
  public Optional<PodRecord> find(UUID uid) {
    lock.lock();
    try {
      return Optional.ofNullable(byUid.get(uid));
    } finally {
      lock.unlock();
    }
  }

  /** A pod with what was seen of it before; as this version says if it was never seen. */
  PodRecord known(PodRecord version) {
    return find(version.uid()).map(version::after).orElse(version);
  }

  /** The pods that are bound to a node. */
  public List<PodRecord> on(String node) {
    lock.lock();
    try {
      return byUid.values().stream().filter(pod -> pod.node().equals(node)).toList();
    } finally {
      lock.unlock();
    }
  }

  /** All pods that have not ended. */
  List<PodRecord> all() {
    lock.lock();
    try {
      return List.copyOf(byUid.values());
    } finally {
      lock.unlock();
    }
  }

  /** The pods that are bound to a node. */
  List<PodRecord> bound() {
    lock.lock();
    try {
      return byUid.values().stream().filter(pod -> !pod.node().isEmpty()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** The UIDs of the pods that are not among these. */
  public List<UUID> others(Set<UUID> these) {
    lock.lock();
    try {
      return byUid.keySet().stream().filter(uid -> !these.contains(uid)).toList();
    } finally {
      lock.unlock();
    }
  }

  /** The number of pods. */
  public int size() {
    lock.lock();
    try {
      return byUid.size();
    } finally {
      lock.unlock();
    }
  }

  /** The UIDs of a pod and of what controls it, up to what has a Workload. */
  Set<String> above(PodRecord pod) {
    Set<String> found = new LinkedHashSet<>();
    Deque<String> next = new ArrayDeque<>();
    next.add(pod.uid().toString());
    next.addAll(pod.parents());
    lock.lock();
    try {
      climb(found, next);
    } finally {
      lock.unlock();
    }
    return found;
  }

  /** An object that is no pod, and what controls it, up to what has a Workload. */
  Set<String> above(String uid) {
    Set<String> found = new LinkedHashSet<>();
    lock.lock();
    try {
      climb(found, new ArrayDeque<>(List.of(uid)));
    } finally {
      lock.unlock();
    }
    return found;
  }

  private void climb(Set<String> found, Deque<String> next) {
    for (String uid = next.poll(); uid != null; uid = next.poll()) {
      if (found.add(uid) && !roots.test(uid)) {
        Link link = links.get(uid);
        if (link != null) {
          next.addAll(link.parents);
        }
        PodRecord pod = podOf(uid);
        if (pod != null) {
          next.addAll(pod.parents());
        }
      }
    }
  }

  private @Nullable PodRecord podOf(String uid) {
    try {
      return uid.length() == 36 ? byUid.get(UUID.fromString(uid)) : null;
    } catch (IllegalArgumentException notAUuid) {
      return null;
    }
  }

  /** The pods with one of these UIDs, and those that an object with one of them controls. */
  Collection<PodRecord> below(Set<String> from) {
    Map<UUID, PodRecord> found = new LinkedHashMap<>();
    descend(
        from,
        pod -> {
          found.put(pod.uid(), pod);
          return true;
        });
    return new ArrayList<>(found.values());
  }

  /** Whether there are any such pods. */
  boolean hasBelow(Set<String> from) {
    return !descend(from, pod -> false);
  }

  /**
   * Tells of each pod below these UIDs.
   *
   * @param visitor whether to go on after a pod
   * @return whether it went on to the end
   */
  private boolean descend(Set<String> from, Predicate<PodRecord> visitor) {
    Set<String> visited = new HashSet<>();
    Deque<String> next = new ArrayDeque<>(from);
    lock.lock();
    try {
      for (String uid = next.poll(); uid != null; uid = next.poll()) {
        if (!visited.add(uid) || (!from.contains(uid) && roots.test(uid))) {
          continue;
        }
        PodRecord itself = podOf(uid);
        if (itself != null && !visitor.test(itself)) {
          return false;
        }
        byOwner.getOrDefault(uid, Map.of()).keySet().forEach(pod -> next.add(pod.toString()));
        next.addAll(children.getOrDefault(uid, Set.of()));
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
