package dev.sluice.kube.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Set;

/**
 * Has objects reconciled because something beside them changed. A signal before the start is lost
 * without harm: at the start every object is reconciled.
 *
 * @param <P> the kind that is reconciled
 */
public final class ReconcileTrigger<P extends HasMetadata> extends AbstractEventSource<Object, P> {

  /** Signals of which nobody hears yet. */
  public ReconcileTrigger(String name) {
    super(Object.class, name);
  }

  /** Has the object reconciled, if it exists. */
  public void signal(ResourceID id) {
    if (isRunning()) {
      getEventHandler().handleEvent(new Event(id));
    }
  }

  /** Has the cluster-scoped object of this name reconciled, if it exists. */
  public void signal(String name) {
    signal(new ResourceID(name));
  }

  @Override
  public Set<Object> getSecondaryResources(P primary) {
    return Set.of();
  }
}
