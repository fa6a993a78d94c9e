package dev.sluice.checks.multikueue.link;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.Credentials;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.workloads.LateAnswerException;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one worker cluster by one set of credentials. It is tried again, with growing
 * pauses, until it is closed.
 */
final class ClusterLink implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterLink.class);
  private static final Duration PROBES = Duration.ofSeconds(15);

  private final String cluster;
  private final Credentials credentials;
  private final RemoteObjects objects;
  private final Around around;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private LinkState state;
  private Retries retries = Retries.none();
  private Optional<Session> session = Optional.empty();
  private boolean closed;

  /** Is told of one link. */
  interface Listener {

    /** Its state is another one. */
    void stateChanged();

    /** An object of the cluster changed. */
    void objectChanged(Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  /**
   * A link that isn't started.
   *
   * @param lostSince since when the cluster is lost by earlier credentials
   */
  ClusterLink(
      String cluster,
      Credentials credentials,
      RemoteObjects objects,
      Optional<Instant> lostSince,
      Around around,
      Listener listener) {
    this.cluster = cluster;
    this.credentials = credentials;
    this.objects = objects;
    this.around = around;
    this.listener = listener;
    this.state = new LinkState.Connecting(lostSince);
  }

  void start() {
    around.io().execute(this::attempt);
  }

  boolean uses(Credentials others) {
    return credentials.equals(others);
  }

  LinkState state() {
    lock.lock();
    try {
      return state;
    } finally {
      lock.unlock();
    }
  }

  /** The client, while the cluster is connected. */
  Optional<KubernetesClient> client() {
    lock.lock();
    try {
      return state instanceof LinkState.Connected ? session.map(Session::client) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private void attempt() {
    Session opened;
    try {
      opened = around.connector().open(credentials, objects);
    } catch (IOException e) {
      failed(e);
      return;
    } catch (RuntimeException e) {
      move(new LinkState.Unbuildable(said(e), lostSince()));
      LOG.warn("cluster={} connected=false cause=\"{}\"", cluster, said(e));
      return;
    }
    if (!began(opened)) {
      opened.close();
      return;
    }
    try (opened) {
      opened.run(patience(), new Seen(opened));
    } catch (IOException | RuntimeException e) {
      failed(e);
    }
  }

  private boolean began(Session opened) {
    lock.lock();
    try {
      session = Optional.of(opened);
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private Duration patience() {
    lock.lock();
    try {
      return retries.patience();
    } finally {
      lock.unlock();
    }
  }

  private Optional<Instant> lostSince() {
    return Optional.of(state().lostSince().orElseGet(around.clock()::instant));
  }

  private void established() {
    lock.lock();
    try {
      retries = Retries.none();
    } finally {
      lock.unlock();
    }
    if (move(new LinkState.Connected(around.clock().instant()))) {
      LOG.info("cluster={} connected=true server={}", cluster, credentials.server());
    }
  }

  private void failed(Exception failure) {
    Duration pause;
    LinkState.Failing failing;
    Optional<Instant> lostSince = lostSince();
    lock.lock();
    try {
      session = Optional.empty();
      retries = retries.failed(failure instanceof LateAnswerException);
      pause = retries.pause();
      Instant next = around.clock().instant().plus(pause);
      failing = new LinkState.Failing(retries.failures(), next, said(failure), lostSince);
    } finally {
      lock.unlock();
    }
    if (move(failing)) {
      LOG.warn(
          "cluster={} connected=false attempts={} next={}s cause=\"{}\"",
          cluster,
          failing.attempts(),
          pause.toSeconds(),
          failing.cause());
      around.delays().after(pause, () -> around.io().execute(this::attemptIfOpen));
    }
  }

  private void attemptIfOpen() {
    if (!isClosed()) {
      attempt();
    }
  }

  /** Takes a new state; false if the link was closed meanwhile. */
  private boolean move(LinkState next) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      state = next;
    } finally {
      lock.unlock();
    }
    listener.stateChanged();
    return true;
  }

  /** What a failure says, without secrets. */
  private String said(Exception failure) {
    return Causes.text(credentials.redact(Causes.message(failure)));
  }

  private void probe(Session probed) {
    if (!isClosed() && session().filter(current -> current == probed).isPresent()) {
      probed.probe();
      around.delays().after(PROBES, () -> probe(probed));
    }
  }

  private Optional<Session> session() {
    lock.lock();
    try {
      return session;
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Ends it for good; nobody is told any more. */
  @Override
  public void close() {
    Optional<Session> last;
    lock.lock();
    try {
      closed = true;
      last = session;
      session = Optional.empty();
    } finally {
      lock.unlock();
    }
    last.ifPresent(Session::close);
  }

  private final class Seen implements Session.Events {

    private final Session watched;

    Seen(Session watched) {
      this.watched = watched;
    }

    @Override
    public void established() {
      ClusterLink.this.established();
      around.delays().after(PROBES, () -> probe(watched));
    }

    @Override
    public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      listener.objectChanged(key, before, after);
    }
  }
}
