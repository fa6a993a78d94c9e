package dev.sluice.kube.events;

import dev.sluice.kube.events.EventRecorder.Type;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** Notices as events, written as all others are. */
public final class RecordedEventNotifier implements EventNotifier {

  private static final String ACTION = "Reconcile";

  private final EventRecorder recorder;

  /** Notices told through {@code recorder}. */
  public RecordedEventNotifier(EventRecorder recorder) {
    this.recorder = recorder;
  }

  @Override
  public void warn(HasMetadata object, String reason, String note) {
    String namespace = object.getMetadata().getNamespace();
    recorder.record(
        new ObjectReference(
            object.getApiVersion(),
            object.getKind(),
            namespace == null ? "" : namespace,
            object.getMetadata().getName(),
            object.getMetadata().getUid()),
        Type.WARNING,
        reason,
        ACTION,
        note);
  }
}
