package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;

/**
 * Where events are written. Both methods are called from one thread, one after the other, and may
 * take their time; what they throw costs only that event.
 */
public interface EventSink {

  /** Creates an event. */
  void create(Event event);

  /** Puts a new series on an event that was created before. */
  void update(Event event, EventSeries series);
}
