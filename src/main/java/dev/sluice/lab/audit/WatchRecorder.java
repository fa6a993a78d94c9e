package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.AnyNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the audited kinds and keeps every change. A watch that breaks goes on from the last
 * change it saw; when the API server has forgotten what came after that, the recording says that it
 * is not whole. May be used by any thread.
 */
public final class WatchRecorder implements AutoCloseable {

  private static final Duration BREATH = Duration.ofMillis(100);

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Consumer<ObjectChange> told;
  private final Set<AuditedKind> kinds;
  private final ObjectMapper json = new ObjectMapper();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final NavigableMap<Long, ObjectChange> objectChanges = new TreeMap<>();
  private final Map<String, ObjectChange> current = new HashMap<>();
  private final List<Watch> watches = new ArrayList<>();
  private String gap = "";
  private long tellings;

  /** Records nothing before {@link #start}. */
  public WatchRecorder(KubernetesClient client, InstantSource clock) {
    this(client, clock, objectChange -> {});
  }

  /** The same; {@code told} is told of each change as it comes, on the threads of the watches. */
  public WatchRecorder(KubernetesClient client, InstantSource clock, Consumer<ObjectChange> told) {
    this(client, clock, told, AuditedKind.JUDGED);
  }

  /** The same for these kinds. */
  public WatchRecorder(
      KubernetesClient client,
      InstantSource clock,
      Consumer<ObjectChange> told,
      Set<AuditedKind> kinds) {
    this.client = client;
    this.clock = clock;
    this.told = told;
    this.kinds = Set.copyOf(kinds);
  }

  /** Records from now on; what exists already is the beginning of the history. */
  public WatchRecorder start() {
    for (AuditedKind kind : kinds) {
      GenericKubernetesResourceList list = collection(kind).list();
      list.getItems().forEach(object -> keep(kind, false, object));
      watches.add(
          collection(kind)
              .watch(
                  new ListOptionsBuilder()
                      .withResourceVersion(list.getMetadata().getResourceVersion())
                      .withAllowWatchBookmarks(true)
                      .build(),
                  new Keeper(kind)));
    }
    return this;
  }

  private AnyNamespaceOperation<
          GenericKubernetesResource,
          GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      collection(AuditedKind kind) {
    return client.genericKubernetesResources(kind.context()).inAnyNamespace();
  }

  /** All changes up to now, in the order of their revisions. */
  public List<ObjectChange> history() {
    lock.lock();
    try {
      return List.copyOf(objectChanges.values());
    } finally {
      lock.unlock();
    }
  }

  /** The history of one object. */
  public List<JsonNode> historyOf(AuditedKind kind, String uid) {
    return history().stream()
        .filter(
            objectChange ->
                objectChange.kind() == kind && ObjectReader.uid(objectChange.object()).equals(uid))
        .map(ObjectChange::object)
        .toList();
  }

  /** The objects of a kind as they are now. */
  public List<JsonNode> current(AuditedKind kind) {
    lock.lock();
    try {
      return current.values().stream()
          .filter(objectChange -> objectChange.kind() == kind && !objectChange.deleted())
          .map(ObjectChange::object)
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Why the history is not whole; empty when it is. */
  public Optional<String> gap() {
    lock.lock();
    try {
      return gap.isEmpty() ? Optional.empty() : Optional.of(gap);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is something; empty when there was nothing for so long. */
  public <T> Optional<T> await(Duration limit, Supplier<Optional<T>> sought) {
    Instant end = clock.instant().plus(limit);
    while (true) {
      Optional<T> found = sought.get();
      if (found.isPresent() || !clock.instant().isBefore(end)) {
        return found;
      }
      breathe();
    }
  }

  /** Waits until all that the API server has now was seen; false when it took longer. */
  public boolean catchUp(Duration limit) {
    List<ObjectChange> now = new ArrayList<>();
    for (AuditedKind kind : kinds) {
      collection(kind).list().getItems().forEach(object -> now.add(change(kind, false, object)));
    }
    return await(
            limit,
            () ->
                now.stream().allMatch(this::isKnown) ? Optional.of(Boolean.TRUE) : Optional.empty())
        .isPresent();
  }

  private boolean isKnown(ObjectChange objectChange) {
    lock.lock();
    try {
      return objectChanges.containsKey(objectChange.revision());
    } finally {
      lock.unlock();
    }
  }

  private void breathe() {
    lock.lock();
    try {
      long nanos = BREATH.toNanos();
      long before = tellings;
      while (tellings == before && nanos > 0) {
        nanos = changed.awaitNanos(nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the cluster", e);
    } finally {
      lock.unlock();
    }
  }

  private ObjectChange change(AuditedKind kind, boolean deleted, GenericKubernetesResource object) {
    object.getMetadata().setManagedFields(null);
    return new ObjectChange(
        Long.parseLong(object.getMetadata().getResourceVersion()),
        kind,
        deleted,
        json.valueToTree(object));
  }

  private void keep(AuditedKind kind, boolean deleted, GenericKubernetesResource object) {
    ObjectChange objectChange = change(kind, deleted, object);
    lock.lock();
    try {
      objectChanges.put(objectChange.revision(), objectChange);
      told.accept(objectChange);
      current.put(object.getMetadata().getUid(), objectChange);
      tellings++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void lost(String why) {
    lock.lock();
    try {
      gap = why;
      tellings++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all watches; what was recorded can still be read. */
  @Override
  public void close() {
    watches.forEach(Watch::close);
  }

  /** Keeps what one watch tells. */
  private final class Keeper implements Watcher<GenericKubernetesResource> {

    private final AuditedKind kind;

    private Keeper(AuditedKind kind) {
      this.kind = kind;
    }

    @Override
    public void eventReceived(Action action, @Nullable GenericKubernetesResource object) {
      if (object != null && action != Action.BOOKMARK && action != Action.ERROR) {
        keep(kind, action == Action.DELETED, object);
      }
    }

    @Override
    public boolean reconnecting() {
      return true;
    }

    @Override
    public void onClose(WatcherException cause) {
      lost("the watch of " + kind.plural() + " ended: " + cause.getMessage());
    }
  }
}
