package dev.sluice.lab.demo;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The events of the story's namespace that tell of Jobs and Workloads, as lines. */
final class EventLog implements AutoCloseable, Watcher<Event> {

  private static final Set<String> KINDS = Set.of("Job", "Workload");

  /** Told by the Job controller for each pod: too much to show. */
  private static final String POD_MADE = "SuccessfulCreate";

  private final List<String> lines = new ArrayList<>();
  private final Watch watch;

  EventLog(KubernetesClient client, String namespace) {
    this.watch = client.v1().events().inNamespace(namespace).watch(this);
  }

  /** All lines up to now. */
  List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  @Override
  public void eventReceived(Action action, @Nullable Event event) {
    if (action != Action.ADDED
        || event == null
        || POD_MADE.equals(event.getReason())
        || !KINDS.contains(event.getInvolvedObject().getKind())) {
      return;
    }
    synchronized (lines) {
      lines.add(
          "%s %s/%s: %s"
              .formatted(
                  event.getReason(),
                  event.getInvolvedObject().getKind(),
                  event.getInvolvedObject().getName(),
                  event.getMessage()));
    }
  }

  /** The story doesn't depend on events: without them, fewer lines are shown. */
  @Override
  public void onClose(WatcherException cause) {
    synchronized (lines) {
      lines.add("(no more events: " + cause.getMessage() + ")");
    }
  }

  @Override
  public void close() {
    watch.close();
  }
}
