package dev.sluice.kube.reflect;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;

/**
 * The handler of an informer's events, called as {@link GuardedListeners} does: what it throws,
 * even an error, keeps neither the informer from going on nor later events from being handled. A
 * call that failed is repeated once; a second failure is logged and counted. Every handler is added
 * to its informer by {@link #add}.
 *
 * @param <T> the objects
 */
public final class GuardedEventHandler<T extends HasMetadata> implements ResourceEventHandler<T> {

  private final GuardedListeners<ResourceEventHandler<? super T>> guarded =
      new GuardedListeners<>();

  GuardedEventHandler(ResourceEventHandler<? super T> handler) {
    guarded.add(handler);
  }

  /**
   * Has an informer tell a handler of its events.
   *
   * @return the guard, which counts the calls that failed for good
   */
  public static <T extends HasMetadata> GuardedEventHandler<T> add(
      SharedIndexInformer<T> informer, ResourceEventHandler<? super T> handler) {
    GuardedEventHandler<T> guard = new GuardedEventHandler<>(handler);
    informer.addEventHandler(guard);
    return guard;
  }

  /** How many calls failed for good. */
  public long failures() {
    return guarded.failures();
  }

  @Override
  public void onAdd(T now) {
    guarded.tell(new About(now), handler -> handler.onAdd(now));
  }

  @Override
  public void onUpdate(T before, T now) {
    guarded.tell(new About(now), handler -> handler.onUpdate(before, now));
  }

  @Override
  public void onDelete(T last, boolean lastIsUnknown) {
    guarded.tell(new About(last), handler -> handler.onDelete(last, lastIsUnknown));
  }

  @Override
  public void onNothing() {
    guarded.tell("nothing", ResourceEventHandler::onNothing);
  }

  /** What the log says of an object; written only if a call fails. */
  private record About(HasMetadata object) {

    @Override
    public String toString() {
      return object.getMetadata() == null
          ? object.getKind() + " without metadata"
          : "%s %s/%s"
              .formatted(
                  object.getKind(),
                  object.getMetadata().getNamespace(),
                  object.getMetadata().getName());
    }
  }
}
