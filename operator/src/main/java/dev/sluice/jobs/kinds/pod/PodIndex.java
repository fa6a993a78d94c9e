package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.CachedJob;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * The managed pods as far as the watch has told of them, by name and by group. Readable from any
 * thread; written by the watch alone.
 */
public final class PodIndex {

  private record Place(String namespace, String name) {}

  private final Map<Place, CachedPod> pods = new ConcurrentHashMap<>();
  private final Map<Place, Map<String, CachedPod>> groups = new ConcurrentHashMap<>();
  private final Map<String, Map<String, CachedPod>> parents = new ConcurrentHashMap<>();
  private final List<BiConsumer<String, String>> observers = new CopyOnWriteArrayList<>();
  private final List<Predicate<CachedPod>> rollouts = new CopyOnWriteArrayList<>();

  /**
   * Has this told of every group whose pods come, go, or begin to be deleted: its namespace, and
   * its name. It is told on the thread of the watch, after the directory has it.
   */
  public void observe(BiConsumer<String, String> observer) {
    observers.add(observer);
  }

  /** Adds a kind of sets of pods: whether a rollout of a set is about to replace a pod. */
  void addRollouts(Predicate<CachedPod> replaced) {
    rollouts.add(replaced);
  }

  /** Takes out what {@link #addRollouts} added: the kind isn't followed any more. */
  void removeRollouts(Predicate<CachedPod> replaced) {
    rollouts.remove(replaced);
  }

  /** Whether a rollout is about to replace a pod, and waits for it to run until then. */
  boolean isReplaced(CachedPod pod) {
    return rollouts.stream().anyMatch(rollout -> rollout.test(pod));
  }

  private void notifyObservers(CachedPod pod) {
    pod.group()
        .ifPresent(
            group -> observers.forEach(observer -> observer.accept(pod.namespace(), group.name())));
  }

  private static boolean hasSameState(CachedPod one, CachedPod other) {
    return sameGroup(one, other)
        && one.job().ref().uid().equals(other.job().ref().uid())
        && one.job().deletionTime().isPresent() == other.job().deletionTime().isPresent();
  }

  /** The pod of this name, if it is there. */
  public Optional<CachedPod> find(String namespace, String name) {
    return Optional.ofNullable(pods.get(new Place(namespace, name)));
  }

  /** The pods that name this group, ordered by name; none when there is no such group. */
  public List<CachedPod> group(String namespace, String group) {
    Place place = new Place(namespace, group);
    Map<String, CachedPod> members = new TreeMap<>();
    groups.computeIfPresent(
        place,
        (same, known) -> {
          members.putAll(known);
          return known;
        });
    return List.copyOf(members.values());
  }

  /** The pods that the object with this UID controls and holds back. */
  public List<CachedPod> controlledBy(String uid) {
    return List.copyOf(parents.getOrDefault(uid, Map.of()).values());
  }

  /** The UID of the object that controls a pod and holds it back. */
  private static Optional<String> parent(CachedPod pod) {
    return pod.job()
        .controller()
        .filter(owner -> pod.job().annotations().containsKey(KueueConstants.POD_SUSPENDING_PARENT))
        .map(CachedJob.Controller::uid);
  }

  private void leaveParent(CachedPod pod) {
    parent(pod)
        .ifPresent(
            uid ->
                parents.computeIfPresent(
                    uid,
                    (same, known) -> {
                      known.remove(pod.name());
                      return known.isEmpty() ? null : known;
                    }));
  }

  /** Whether any pod names this group. */
  boolean hasGroup(String namespace, String group) {
    return groups.containsKey(new Place(namespace, group));
  }

  /** The names of the pods of a group, in order; none when there is no such group. */
  public List<String> namesOf(String namespace, String group) {
    return group(namespace, group).stream().map(CachedPod::name).toList();
  }

  /** All pods; a moving target, without order. */
  Iterable<CachedPod> all() {
    return pods.values();
  }

  /** Holds a pod as it is now; returns what was known of it before. */
  Optional<CachedPod> put(CachedPod pod) {
    Place place = new Place(pod.namespace(), pod.name());
    Optional<CachedPod> before = Optional.ofNullable(pods.put(place, pod));
    before.filter(known -> !sameGroup(known, pod)).ifPresent(this::leaveGroup);
    before.filter(known -> !parent(known).equals(parent(pod))).ifPresent(this::leaveParent);
    parent(pod)
        .ifPresent(
            uid ->
                parents.compute(
                    uid,
                    (same, known) -> {
                      Map<String, CachedPod> pods =
                          known == null ? new ConcurrentHashMap<>() : known;
                      pods.put(pod.name(), pod);
                      return pods;
                    }));
    pod.group()
        .ifPresent(
            group ->
                groups.compute(
                    new Place(pod.namespace(), group.name()),
                    (same, known) -> {
                      Map<String, CachedPod> members = known == null ? new TreeMap<>() : known;
                      members.put(pod.name(), pod);
                      return members;
                    }));
    if (before.filter(known -> hasSameState(known, pod)).isEmpty()) {
      before.filter(known -> !sameGroup(known, pod)).ifPresent(this::notifyObservers);
      notifyObservers(pod);
    }
    return before;
  }

  private static boolean sameGroup(CachedPod one, CachedPod other) {
    return one.group().map(CachedPod.Group::name).equals(other.group().map(CachedPod.Group::name));
  }

  /** A pod is gone. */
  void remove(CachedPod pod) {
    CachedPod known = pods.remove(new Place(pod.namespace(), pod.name()));
    if (known != null) {
      leaveGroup(known);
      leaveParent(known);
      notifyObservers(known);
    }
  }

  private void leaveGroup(CachedPod pod) {
    pod.group()
        .ifPresent(
            group ->
                groups.computeIfPresent(
                    new Place(pod.namespace(), group.name()),
                    (same, members) -> {
                      members.remove(pod.name());
                      return members.isEmpty() ? null : members;
                    }));
  }
}
