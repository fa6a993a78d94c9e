package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.WriteGate;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Worker clusters on paper: the test says what becomes of each session, and moves the time. All
 * runs on the test's own thread, so a session that lasts is played by staying connected until the
 * test breaks it.
 */
final class Stage implements RemoteConnections.Listener {

  private final Deque<Play> plays = new ArrayDeque<>();
  private final List<Delayed> delayed = new ArrayList<>();
  private final List<String> opened = new ArrayList<>();
  private final List<Duration> patience = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private Runnable opening = () -> {};
  private int closed;
  private Instant now = Instant.parse("2026-03-01T12:00:00Z");

  final RemoteConnections links =
      new RemoteConnections(
          new ConnectionContext(
              (workerCredentials, objects) -> open(workerCredentials),
              Runnable::run,
              (delay, task) -> delayed.add(new Delayed(now.plus(delay), task)),
              () -> now,
              WriteGate.open()),
          this);

  /** What becomes of one session. */
  interface Play {

    /** Runs it to its end. */
    void run(RemoteSession.Events events) throws IOException;
  }

  private record Delayed(Instant due, Runnable task) {}

  /** The next session does this. */
  void next(Play play) {
    plays.add(play);
  }

  /** From now on this happens whenever a client is made. */
  void opening(Runnable what) {
    opening = what;
  }

  /** Lets the time pass: what becomes due runs, in order. */
  void pass(Duration duration) {
    Instant end = now.plus(duration);
    Optional<Delayed> due = firstUntil(end);
    while (due.isPresent()) {
      delayed.remove(due.get());
      now = due.get().due();
      due.get().task().run();
      due = firstUntil(end);
    }
    now = end;
  }

  private Optional<Delayed> firstUntil(Instant end) {
    return delayed.stream()
        .filter(each -> !each.due().isAfter(end))
        .min(java.util.Comparator.comparing(Delayed::due));
  }

  Instant now() {
    return now;
  }

  /** Tokens of the credentials of all sessions so far. */
  List<String> opened() {
    return opened;
  }

  List<Duration> patience() {
    return patience;
  }

  List<String> told() {
    return told;
  }

  int closed() {
    return closed;
  }

  static WorkerCredentials credentials(String token) {
    return new WorkerCredentials(
        new WorkerEndpoint(URI.create("https://worker"), Optional.empty()),
        Optional.of(token),
        Optional.empty(),
        Optional.empty());
  }

  private RemoteSession open(WorkerCredentials workerCredentials) {
    opened.add(workerCredentials.token().orElse(""));
    opening.run();
    Play play = plays.remove();
    return new RemoteSession() {
      @Override
      public void run(Duration limit, Events events) throws IOException {
        patience.add(limit);
        play.run(events);
      }

      @Override
      public KubernetesClient client() {
        throw new IllegalStateException("nobody asks on this stage");
      }

      @Override
      public void probe() {
        told.add("probed");
      }

      @Override
      public void close() {
        closed++;
      }
    };
  }

  @Override
  public void stateChanged(String cluster) {
    told.add(
        cluster
            + " "
            + links.state(cluster).map(Object::getClass).map(Class::getSimpleName).orElse("?"));
  }

  @Override
  public void cutOff(String cluster) {
    told.add(cluster + " cut off");
  }

  @Override
  public void workloadChanged(
      String cluster, Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
    told.add(cluster + " " + key.name());
  }
}
