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
 * Watches the audited kinds and records every change. A broken watch continues from the last
 * change; if the API server has expired that version, the recording is marked as incomplete.
 * Thread-safe.
 */
public final class WatchRecorder implements AutoCloseable {

  private static final Duration RECONNECT_PAUSE = Duration.ofMillis(100);

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Consumer<ObjectChange> listener;
  private final Set<AuditedKind> kinds;
  private final ObjectMapper json = new ObjectMapper();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final NavigableMap<Long, ObjectChange> objectChanges = new TreeMap<>();
  private final Map<String, ObjectChange> current = new HashMap<>();
  private final List<Watch> watches = new ArrayList<>();
  private String gap = "";
  private long changeCount;

  /** Creates a recorder that records nothing before {@link #start}. */
  public WatchRecorder(KubernetesClient client, InstantSource clock) {
    this(client, clock, objectChange -> {});
  }

  /**
   * Creates a recorder that also passes each change to {@code listener}, on the threads of the
   * watches.
   */
  public WatchRecorder(
      KubernetesClient client, InstantSource clock, Consumer<ObjectChange> listener) {
    this(client, clock, listener, AuditedKind.JUDGED);
  }

  /** Creates a recorder for these kinds. */
  public WatchRecorder(
      KubernetesClient client,
      InstantSource clock,
      Consumer<ObjectChange> listener,
      Set<AuditedKind> kinds) {
    this.client = client;
    this.clock = clock;
    this.listener = listener;
    this.kinds = Set.copyOf(kinds);
  }

  /** Starts recording; existing objects are the beginning of the history. */
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
                  new RecordingWatcher(kind)));
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

  /** All changes so far, ordered by revision. */
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

  /** The present objects of a kind. */
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

  /** Why the history is incomplete; empty if it is complete. */
  public Optional<String> gap() {
    lock.lock();
    try {
      return gap.isEmpty() ? Optional.empty() : Optional.of(gap);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the supplier returns a value; empty after the time limit. */
  public <T> Optional<T> await(Duration limit, Supplier<Optional<T>> supplier) {
    Instant end = clock.instant().plus(limit);
    while (true) {
      Optional<T> found = supplier.get();
      if (found.isPresent() || !clock.instant().isBefore(end)) {
        return found;
      }
      breathe();
    }
  }

  /**
   * Waits until every present change of the API server was recorded; false after the time limit.
   */
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
      long nanos = RECONNECT_PAUSE.toNanos();
      long before = changeCount;
      while (changeCount == before && nanos > 0) {
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
      listener.accept(objectChange);
      current.put(object.getMetadata().getUid(), objectChange);
      changeCount++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void lost(String why) {
    lock.lock();
    try {
      gap = why;
      changeCount++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all watches; the recording stays readable. */
  @Override
  public void close() {
    watches.forEach(Watch::close);
  }

  /** Records the events of one watch. */
  private final class RecordingWatcher implements Watcher<GenericKubernetesResource> {

    private final AuditedKind kind;

    private RecordingWatcher(AuditedKind kind) {
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
