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
    recorder.record(ObjectReference.of(object), Type.WARNING, reason, ACTION, note);
  }
}
