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

/** The events about Jobs, Workloads and Budgets in the scenario's namespace, as lines. */
final class EventLog implements AutoCloseable, Watcher<Event> {

  private static final Set<String> KINDS = Set.of("Job", "Workload", "Budget");

  /** Reason of the Job controller's event for each pod, which is not shown. */
  private static final String POD_MADE = "SuccessfulCreate";

  private final List<String> lines = new ArrayList<>();
  private final Watch watch;

  EventLog(KubernetesClient client, String namespace) {
    this.watch = client.v1().events().inNamespace(namespace).watch(this);
  }

  /** All lines so far. */
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

  /** The scenario does not depend on events: without the watch, fewer lines are shown. */
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
