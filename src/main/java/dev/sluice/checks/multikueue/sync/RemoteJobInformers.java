package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.ConnectionScope;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
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
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the jobs that were made in workers, as long as each is connected: of the kinds that there
 * are jobs of, here or left there, and that the worker serves. A kind that a worker doesn't serve
 * holds up no other, and is asked for again as long as it is wanted.
 */
final class RemoteJobInformers implements PodStatusSync.RemotePods, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteJobInformers.class);
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(32);
  private static final long PAGE = 500;
  private static final String BY_WORKLOAD = "workload";

  private final OriginLabel originLabel;
  private final MultiKueueKinds kinds;
  private final RemoteClients remoteClients;
  private final ConnectionContext connectionContext;
  private final Listener listener;
  private final ObjectMapper mapper = new ObjectMapper();
  private final Set<MultiKueueKind> wanted = ConcurrentHashMap.newKeySet();
  private final ConnectionScope<Watched> watched =
      new ConnectionScope<>(this::begin, Watched::stop);

  /** Is told of jobs in workers. */
  interface Listener {

    /** A job that names this Workload changed. */
    void changed(Key workload);

    /** A worker serves a kind that it didn't before. */
    void served();
  }

  /** One worker, by one connection. */
  private static final class Watched {
    private final KubernetesClient client;
    private final Map<MultiKueueKind, SharedIndexInformer<GenericKubernetesResource>> informers =
        new ConcurrentHashMap<>();
    private final Set<MultiKueueKind> lacking = ConcurrentHashMap.newKeySet();
    private final Set<MultiKueueKind> refused = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicBoolean waiting = new AtomicBoolean();
    private volatile Duration pause = SHORTEST;
    private volatile boolean over;

    Watched(KubernetesClient client) {
      this.client = client;
    }

    void stop() {
      lock.lock();
      try {
        over = true;
        informers.values().forEach(SharedIndexInformer::stop);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Watches nothing yet. */
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

  /** Watches by this client from now on; by none if it is empty. */
  void follow(String cluster, Optional<KubernetesClient> client) {
    watched.follow(cluster, client);
  }

  private Watched begin(String cluster, KubernetesClient client) {
    Watched begun = new Watched(client);
    connectionContext.io().execute(() -> refresh(cluster, begun, kinds.all()));
    return begun;
  }

  /** There are jobs of this kind: they are watched in all workers from now on. */
  void want(MultiKueueKind kind) {
    if (wanted.add(kind)) {
      watched
          .now()
          .forEach(
              (cluster, each) -> {
                each.pause = SHORTEST;
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

  private void refresh(String cluster, Watched worker, List<MultiKueueKind> which) {
    for (MultiKueueKind kind : which) {
      if (!worker.over && !worker.informers.containsKey(kind)) {
        refresh(cluster, worker, kind);
      }
    }
    refreshLater(cluster, worker);
  }

  private void refresh(String cluster, Watched worker, MultiKueueKind kind) {
    try {
      Optional<ObjectNode> some = remoteClients.of(cluster).get(kind.everywhere() + "?" + one());
      worker.refused.remove(kind);
      if (some.isEmpty()) {
        boolean news = worker.lacking.add(kind);
        if (news && wanted.contains(kind)) {
          LOG.warn("cluster={} kind={} served=false", cluster, kind.name());
        }
        return;
      }
      boolean news = worker.lacking.remove(kind);
      if (wanted.contains(kind) || !some.get().path("items").isEmpty()) {
        watch(worker, kind);
      }
      if (news) {
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
    String selector = KueueConstants.MULTIKUEUE_ORIGIN + "=" + originLabel.origin();
    return "labelSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8);
  }

  private void refreshLater(String cluster, Watched worker) {
    boolean complete = worker.informers.keySet().containsAll(wanted);
    if (!complete && !worker.over && worker.waiting.compareAndSet(false, true)) {
      Duration pause = worker.pause;
      worker.pause = pause.compareTo(LONGEST) < 0 ? pause.multipliedBy(2) : LONGEST;
      connectionContext
          .delays()
          .after(
              pause,
              () -> {
                worker.waiting.set(false);
                if (!worker.over) {
                  List<MultiKueueKind> left = new ArrayList<>(wanted);
                  left.removeAll(worker.informers.keySet());
                  connectionContext.io().execute(() -> refresh(cluster, worker, left));
                }
              });
    }
  }

  private void watch(Watched worker, MultiKueueKind kind) {
    worker.lock.lock();
    try {
      if (worker.over || worker.informers.containsKey(kind)) {
        return;
      }
      SharedIndexInformer<GenericKubernetesResource> informer =
          worker
              .client
              .genericKubernetesResources(
                  new ResourceDefinitionContext.Builder()
                      .withGroup(kind.group())
                      .withVersion(kind.version())
                      .withKind(kind.kind())
                      .withPlural(kind.plural())
                      .withNamespaced(true)
                      .build())
              .inAnyNamespace()
              .withLabel(KueueConstants.MULTIKUEUE_ORIGIN, originLabel.origin())
              .withLimit(PAGE)
              .runnableInformer(0);
      informer.exceptionHandler((started, failure) -> true);
      informer.addIndexers(
          Map.of(
              BY_WORKLOAD, job -> workload(job).map(RemoteJobInformers::index).stream().toList()));
      informer.addEventHandler(new Waking());
      var unused = informer.start();
      worker.informers.put(kind, informer);
    } finally {
      worker.lock.unlock();
    }
  }

  /** Is shown jobs. */
  @FunctionalInterface
  interface Visitor {

    /** A job of this kind is in this cluster, for the Workload of the key. */
    void visit(String cluster, MultiKueueKind kind, GenericKubernetesResource job, Key workload);
  }

  /** Shows all jobs that are known now. */
  void visit(Visitor visitor) {
    watched
        .now()
        .forEach(
            (cluster, worker) ->
                worker.informers.forEach(
                    (kind, informer) -> {
                      for (GenericKubernetesResource job : informer.getStore().list()) {
                        workload(job).ifPresent(key -> visitor.visit(cluster, kind, job, key));
                      }
                    }));
  }

  private Optional<Key> workload(GenericKubernetesResource job) {
    String name = OriginLabel.workload(job.getMetadata());
    return name.isEmpty()
        ? Optional.empty()
        : Optional.of(new Key(job.getMetadata().getNamespace(), name));
  }

  private static String index(Key workload) {
    return workload.namespace() + "/" + workload.name();
  }

  @Override
  public Set<String> clusters() {
    return watched.now().keySet();
  }

  /** By the watch; where there is none yet, the worker is asked. */
  @Override
  public List<ObjectNode> of(String cluster, Key workload) throws IOException {
    SharedIndexInformer<GenericKubernetesResource> informer =
        Optional.ofNullable(watched.now().get(cluster))
            .map(worker -> worker.informers.get(MultiKueueKinds.POD))
            .orElse(null);
    return informer != null && informer.hasSynced()
        ? informer.getIndexer().byIndex(BY_WORKLOAD, index(workload)).stream()
            .<ObjectNode>map(mapper::valueToTree)
            .toList()
        : asked(cluster, workload);
  }

  private List<ObjectNode> asked(String cluster, Key workload) throws IOException {
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

  private final class Waking implements ResourceEventHandler<GenericKubernetesResource> {

    @Override
    public void onAdd(GenericKubernetesResource job) {
      tell(job);
    }

    @Override
    public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource after) {
      tell(after);
    }

    @Override
    public void onDelete(GenericKubernetesResource job, boolean unknown) {
      tell(job);
    }

    private void tell(GenericKubernetesResource job) {
      workload(job).ifPresent(listener::changed);
    }
  }
}
