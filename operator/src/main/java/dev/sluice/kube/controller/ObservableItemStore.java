package dev.sluice.kube.controller;

import dev.sluice.kube.reflect.GuardedListeners;
import dev.sluice.kube.reflect.TolerantDeserializers.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one kind, as an informer keeps them. Whoever observes it is told of every change
 * on the informer's thread, after the store has it. An object that could not be read stays as it
 * was known. Objects are shared: nobody changes them.
 *
 * @param <R> the kind
 */
public final class ObservableItemStore<R extends HasMetadata> implements ItemStore<R> {

  private final Map<String, R> objects = new ConcurrentHashMap<>();
  private final GuardedListeners<Observer<? super R>> observers = new GuardedListeners<>();

  /**
   * Is told of changes.
   *
   * @param <R> the kind
   */
  public interface Observer<R> {

    /** An object appeared ({@code before} is null), changed, or went ({@code after} is null). */
    void changed(@Nullable R before, @Nullable R after);
  }

  /** Adds an observer; it is not told of what the store holds already. */
  public void observe(Observer<? super R> observer) {
    observers.add(observer);
  }

  /** The cluster-scoped object of this name, if it exists. */
  public Optional<R> find(String name) {
    return Optional.ofNullable(objects.get(name));
  }

  /** The object of this name in this namespace, if it exists. */
  public Optional<R> find(String namespace, String name) {
    return Optional.ofNullable(objects.get(Cache.namespaceKeyFunc(namespace, name)));
  }

  /** All objects; a moving target, without order. */
  public Collection<R> all() {
    return Collections.unmodifiableCollection(objects.values());
  }

  @Override
  public String getKey(R object) {
    return Cache.metaNamespaceKeyFunc(object);
  }

  @Override
  public @Nullable R put(String key, R object) {
    if (UnreadableMetadata.is(object)) {
      return objects.get(key);
    }
    R before = objects.put(key, object);
    if (before == null || !sameVersion(before, object)) {
      tell(key, before, object);
    }
    return before;
  }

  @Override
  public @Nullable R remove(String key) {
    R before = objects.remove(key);
    if (before != null) {
      tell(key, before, null);
    }
    return before;
  }

  /** A watch doesn't end because of what somebody makes of an object. */
  private void tell(String key, @Nullable R before, @Nullable R after) {
    observers.tell(key, observer -> observer.changed(before, after));
  }

  private static boolean sameVersion(HasMetadata one, HasMetadata other) {
    String version = one.getMetadata().getResourceVersion();
    return version != null
        && version.equals(other.getMetadata().getResourceVersion())
        && one.getMetadata().getUid() != null
        && one.getMetadata().getUid().equals(other.getMetadata().getUid());
  }

  @Override
  public Stream<String> keySet() {
    return objects.keySet().stream();
  }

  @Override
  public Stream<R> values() {
    return objects.values().stream();
  }

  @Override
  public int size() {
    return objects.size();
  }

  @Override
  public @Nullable R get(String key) {
    return objects.get(key);
  }
}
