package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.ConnectionScope;
import dev.sluice.checks.multikueue.remote.RemoteCollection;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.remote.WorkerReader;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the jobs that this manager created in workers, for the lifetime of each connection.
 * Watches the kinds of which jobs exist, in the manager or left over in a worker, and which the
 * worker serves. A kind that a worker does not serve does not delay other kinds; it is retried as
 * long as it is wanted.
 */
final class RemoteJobInformers
    implements PodStatusSync.RemotePods, ObjectAdapter.RemoteJobs, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteJobInformers.class);
  private static final Duration MIN_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(32);

  private final OriginLabel originLabel;
  private final MultiKueueKinds kinds;
  private final RemoteClients remoteClients;
  private final ConnectionContext connectionContext;
  private final Listener listener;
  private final Set<MultiKueueKind> wanted = ConcurrentHashMap.newKeySet();
  private final ConnectionScope<WorkerInformers> watched =
      new ConnectionScope<>(this::begin, WorkerInformers::stop);

  /** Listener for events of jobs in workers. */
  interface Listener {

    /** A job that names this Workload changed. */
    void changed(Key workload);

    /** A worker started to serve a kind. */
    void served();
  }

  /** The informers of one worker, for one connection. */
  private static final class WorkerInformers {
    private final WorkerReader reader;
    private final Map<MultiKueueKind, RemoteCollection> informers = new ConcurrentHashMap<>();
    private final Set<MultiKueueKind> lacking = ConcurrentHashMap.newKeySet();
    private final Set<MultiKueueKind> refused = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicBoolean waiting = new AtomicBoolean();
    private volatile Duration pause = MIN_PAUSE;
    private volatile boolean closed;

    WorkerInformers(WorkerReader reader) {
      this.reader = reader;
    }

    void stop() {
      lock.lock();
      try {
        closed = true;
        informers.values().forEach(RemoteCollection::close);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Creates informers that watch nothing yet. */
  RemoteJobInformers(
      OriginLabel originLabel,
      MultiKueueKinds kinds,
      RemoteClients remoteClients,
      ConnectionContext connectionContext,
      Listener listener) {
    this.originLabel = originLabel;
    this.kinds = kinds;
    this.remoteClients = remoteClients;
    this.connectionContext = connectionContext;
    this.listener = listener;
  }

  /** Watches over this connection from now on; stops if there is none. */
  void follow(String cluster, Supplier<Optional<WorkerReader>> reader) {
    watched.follow(cluster, reader);
  }

  private WorkerInformers begin(WorkerReader reader) {
    WorkerInformers begun = new WorkerInformers(reader);
    connectionContext.io().execute(() -> refresh(reader.cluster(), begun, kinds.all()));
    return begun;
  }

  /** Requests that jobs of this kind are watched in all workers. */
  void want(MultiKueueKind kind) {
    if (wanted.add(kind)) {
      watched
          .now()
          .forEach(
              (cluster, each) -> {
                each.pause = MIN_PAUSE;
                connectionContext.io().execute(() -> refresh(cluster, each, List.of(kind)));
              });
    }
  }

  /** The connected workers that are known not to serve this kind. */
  Set<String> lacking(MultiKueueKind kind) {
    return watched.now().entrySet().stream()
        .filter(each -> each.getValue().lacking.contains(kind))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private void refresh(String cluster, WorkerInformers worker, List<MultiKueueKind> which) {
    for (MultiKueueKind kind : which) {
      if (!worker.closed && !worker.informers.containsKey(kind)) {
        refresh(cluster, worker, kind);
      }
    }
    refreshLater(cluster, worker);
  }

  private void refresh(String cluster, WorkerInformers worker, MultiKueueKind kind) {
    try {
      Optional<ObjectNode> some = remoteClients.of(cluster).get(kind.everywhere() + "?" + one());
      worker.refused.remove(kind);
      if (some.isEmpty()) {
        boolean changed = worker.lacking.add(kind);
        if (changed && wanted.contains(kind)) {
          LOG.warn("cluster={} kind={} served=false", cluster, kind.name());
        }
        return;
      }
      boolean changed = worker.lacking.remove(kind);
      if (wanted.contains(kind) || !some.get().path("items").isEmpty()) {
        watch(worker, kind);
      }
      if (changed) {
        LOG.info("cluster={} kind={} served=true", cluster, kind.name());
        listener.served();
      }
    } catch (RemoteClient.RefusedException e) {
      if (worker.refused.add(kind) && wanted.contains(kind)) {
        LOG.warn(
            "cluster={} kind={} watched=false reason=\"{}\"", cluster, kind.name(), e.getMessage());
      }
    } catch (IOException e) {
      LOG.debug("cluster={} kind={} watched=unknown", cluster, kind.name(), e);
    }
  }

  private String one() {
    return "limit=1&" + ours();
  }

  private String ours() {
    return "labelSelector=" + URLEncoder.encode(selector(), StandardCharsets.UTF_8);
  }

  private String selector() {
    return KueueConstants.MULTIKUEUE_ORIGIN + "=" + originLabel.origin();
  }

  private void refreshLater(String cluster, WorkerInformers worker) {
    boolean complete = worker.informers.keySet().containsAll(wanted);
    if (!complete && !worker.closed && worker.waiting.compareAndSet(false, true)) {
      Duration pause = worker.pause;
      worker.pause = pause.compareTo(MAX_PAUSE) < 0 ? pause.multipliedBy(2) : MAX_PAUSE;
      connectionContext
          .delays()
          .after(
              pause,
              () -> {
                worker.waiting.set(false);
                if (!worker.closed) {
                  List<MultiKueueKind> left = new ArrayList<>(wanted);
                  left.removeAll(worker.informers.keySet());
                  connectionContext.io().execute(() -> refresh(cluster, worker, left));
                }
              });
    }
  }

  private void watch(WorkerInformers worker, MultiKueueKind kind) {
    worker.lock.lock();
    try {
      if (worker.closed || worker.informers.containsKey(kind)) {
        return;
      }
      RemoteCollection informer =
          worker.reader.read(
              kind.everywhere(), selector(), OriginLabel::workload, new JobChanges());
      worker.informers.put(kind, informer);
    } finally {
      worker.lock.unlock();
    }
  }

  /** Visitor of jobs. */
  @FunctionalInterface
  interface Visitor {

    /**
     * Called for a job of this kind in this cluster, with the key of its Workload; of a job with
     * several Workloads with its own key.
     */
    void visit(String cluster, MultiKueueKind kind, Key job, Key workload);
  }

  /** Visits all known jobs. */
  void visit(Visitor visitor) {
    watched
        .now()
        .forEach(
            (cluster, worker) ->
                worker.informers.forEach(
                    (kind, informer) -> {
                      for (Key job : informer.objects().keys()) {
                        workload(kind, informer.objects(), job)
                            .ifPresent(key -> visitor.visit(cluster, kind, job, key));
                      }
                    }));
  }

  /** The Workload of a job; of a job with several Workloads its own key. */
  private static Optional<Key> workload(MultiKueueKind kind, RemoteObjects jobs, Key job) {
    return kind.hasWorkloadPerGroup()
        ? Optional.of(job)
        : Optional.of(jobs.indexOf(job))
            .filter(name -> !name.isEmpty())
            .map(name -> new Key(job.namespace(), name));
  }

  @Override
  public Set<String> clusters() {
    return watched.now().keySet();
  }

  @Override
  public Optional<ObjectNode> lastSeen(String cluster, MultiKueueKind kind, Key job) {
    return informer(cluster, kind)
        .flatMap(informer -> informer.objects().find(job))
        .map(ObjectNode.class::cast);
  }

  /** The informer of a kind in a worker, if it has listed the worker's jobs. */
  private Optional<RemoteCollection> informer(String cluster, MultiKueueKind kind) {
    return Optional.ofNullable(watched.now().get(cluster))
        .map(worker -> worker.informers.get(kind))
        .filter(RemoteCollection::isListed);
  }

  /** Reads from the informer; if there is none yet, from the worker's API server. */
  @Override
  public List<ObjectNode> of(String cluster, Key workload) throws IOException {
    Optional<RemoteCollection> informer = informer(cluster, MultiKueueKinds.POD);
    return informer.isPresent()
        ? informer
            .get()
            .objects()
            .objectsWith(workload.name())
            .filter(pod -> Key.of(pod).namespace().equals(workload.namespace()))
            .map(ObjectNode.class::cast)
            .toList()
        : listFromServer(cluster, workload);
  }

  private List<ObjectNode> listFromServer(String cluster, Key workload) throws IOException {
    String path = MultiKueueKinds.POD.path(workload.namespace()) + "?" + ours();
    List<ObjectNode> found = new ArrayList<>();
    for (JsonNode pod :
        remoteClients
            .of(cluster)
            .get(path)
            .<JsonNode>map(list -> list.path("items"))
            .orElseThrow()) {
      if (OriginLabel.workload(pod).equals(workload.name()) && pod instanceof ObjectNode object) {
        found.add(object);
      }
    }
    return found;
  }

  @Override
  public void close() {
    watched.close();
  }

  private final class JobChanges implements RemoteCollection.Listener {

    @Override
    public void stateChanged() {
      // Whoever needs the jobs asks whether they are listed.
    }

    @Override
    public void changed(Key job, @Nullable JsonNode before, @Nullable JsonNode after) {
      JsonNode either = after == null ? before : after;
      String workload = either == null ? "" : OriginLabel.workload(either);
      if (!workload.isEmpty()) {
        listener.changed(new Key(job.namespace(), workload));
      }
    }
  }
}
