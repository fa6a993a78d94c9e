package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;

/** Writes events to the API server. */
public final class KubernetesEventSink implements EventSink {

  private final KubernetesClient client;

  /** With the client to write with. */
  public KubernetesEventSink(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public void create(Event event) {
    client.resource(event).create();
  }

  @Override
  public void update(Event event, EventSeries series) {
    String patch =
        "{\"series\":{\"count\":%d,\"lastObservedTime\":\"%s\"}}"
            .formatted(series.getCount(), series.getLastObservedTime().getTime());
    client.resource(event).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }
}
