package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.queues.capacity.CapacityControllers;
import dev.sluice.queues.capacity.CapacityControllers.CapacityNodes;
import dev.sluice.topology.NodeState;
import dev.sluice.topology.NodeStore;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Quotas that follow capacity, if that is turned on and the cluster has the kinds
 * (docs/dynamic-quota.md). Starts after the definitions are installed, and before the reconcilers.
 */
public final class CapacityModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(CapacityModule.class);
  private static final List<String> PLURALS =
      List.of("capacityproviders", "dynamicquotaorchestrators");
  private static final int WRITES_AT_A_TIME = 4;

  private final OperatorContext context;
  private final InformerModule informers;
  private final QueueModule queues;
  private final AccountingModule accounting;
  private final LocalNodes nodes;
  private final Optional<MultiKueueControllers> workers;
  private final Operator operator;
  private volatile Optional<CapacityControllers> controllers = Optional.empty();

  /**
   * Connected to the queues whose quota may follow capacity, to the pods that take from it, and to
   * the workers that may be the capacity; {@code operator} isn't started.
   */
  public CapacityModule(
      OperatorContext context,
      InformerModule informers,
      QueueModule queues,
      MultiKueueModule multiKueue,
      AccountingModule accounting,
      Operator operator) {
    this.accounting = accounting;
    workers = multiKueue.controllers();
    this.operator = operator;
    this.context = context;
    this.informers = informers;
    this.queues = queues;
    nodes = new LocalNodes();
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    if (!context.isEnabled(FeatureGate.DYNAMIC_QUOTA_ORCHESTRATION)) {
      return;
    }
    Optional<String> missing = missing(cacheSync);
    if (missing.isPresent()) {
      LOG.warn("dynamicQuota=off reason=\"{}\"", missing.get());
      return;
    }
    CapacityControllers made =
        new CapacityControllers(
            new CapacityControllers.Dependencies(
                context.leadership(),
                informers.caches(),
                context.requests(WRITES_AT_A_TIME),
                JsonMappers.JSON,
                context.clock(),
                context::schedule,
                queues.controllers()::again,
                new CapacityControllers.Sources(
                    context.isEnabled(FeatureGate.NODE_CAPACITY_PROVIDER)
                        ? Optional.of(nodes)
                        : Optional.empty(),
                    workers.flatMap(MultiKueueControllers::workerCapacity))));
    workers.ifPresent(it -> it.whenCapacityChanges(made::capacityChanged));
    made.register(operator);
    queues.controllers().follow(made);
    controllers = Optional.of(made);
  }

  /**
   * Which kinds the API server doesn't have. It is asked until it answers: quota that was written
   * by the process before would count for ever, if nobody followed it.
   */
  private Optional<String> missing(CacheSyncWaiter cacheSync) throws IOException {
    Set<String> absent = new HashSet<>(PLURALS);
    cacheSync.await("kinds of " + CapacityControllers.API, () -> removesServed(absent));
    return absent.isEmpty()
        ? Optional.empty()
        : Optional.of(
            CapacityControllers.API
                + " has no "
                + String.join(", ", absent.stream().sorted().toList())
                + ": install their definitions and start again");
  }

  /** Removes the kinds that the API server has; false if it couldn't be asked. */
  private boolean removesServed(Set<String> plurals) {
    try {
      String served = context.client().raw(CapacityControllers.API);
      if (served != null) {
        for (JsonNode resource : JsonMappers.JSON.readTree(served).path("resources")) {
          plurals.remove(resource.path("name").asText());
        }
      }
      return true;
    } catch (IOException | KubernetesClientException e) {
      LOG.warn("dynamicQuota=unknown reason=\"{}\"", e.getMessage());
      return false;
    }
  }

  @Override
  public void leadershipStarted() {
    controllers.ifPresent(CapacityControllers::leadershipStarted);
  }

  @Override
  public void stop() {
    controllers.ifPresent(CapacityControllers::close);
  }

  @Override
  public void close() {
    nodes.use(false);
  }

  /** The nodes, which nothing but a provider that counts them has read for it. */
  private final class LocalNodes implements CapacityNodes {

    private final NodeStore store = new NodeStore(event -> {}, (before, after) -> changed());
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Reflector<NodeState> reflector;
    private volatile boolean listed;

    private void changed() {
      controllers.ifPresent(CapacityControllers::capacityChanged);
    }

    @Override
    public void use(boolean used) {
      lock.lock();
      try {
        if (used && reflector == null) {
          reflector = context.reflectors().of("nodes", "api/v1/nodes", store);
          CompletableFuture<Void> listing = reflector.start();
          var unused = listing.thenRun(this::listed);
        } else if (!used && reflector != null) {
          listed = false;
          reflector.close();
          reflector = null;
          store.clear();
        }
      } finally {
        lock.unlock();
      }
    }

    private void listed() {
      listed = true;
      changed();
    }

    @Override
    public boolean isListed() {
      return listed;
    }

    @Override
    public Collection<ClusterNode> all() {
      return store.all().stream().map(NodeState::node).toList();
    }

    @Override
    public boolean countsPods() {
      return accounting.enabled();
    }

    @Override
    public Optional<Map<String, SortedMap<String, Long>>> foreignRequests() {
      return accounting.areCounted()
          ? Optional.of(accounting.accounts().foreignRequests())
          : Optional.empty();
    }
  }
}
