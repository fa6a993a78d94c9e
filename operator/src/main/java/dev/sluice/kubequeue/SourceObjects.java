package dev.sluice.kubequeue;

import dev.sluice.api.config.KubeQueue.Source;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.reflect.InformerSupervisor;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The objects in which quotas are declared, kept up to date. A kind that the API server doesn't
 * serve has none; it is watched from the moment that its definition is installed.
 */
public final class SourceObjects implements AutoCloseable {

  private static final String TREES = "kube-system";
  private static final long PAGE = 500;

  /** A kind of objects that is read. */
  enum Kind {
    /** Trees. */
    TREE("scheduling.sigs.k8s.io", "v1beta1", "ElasticQuotaTree", "elasticquotatrees"),
    /** Quotas of Koordinator. */
    KOORDINATOR_QUOTA("scheduling.sigs.k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas"),
    /** Quotas of the scheduler plugins. */
    PLUGIN_QUOTA("scheduling.x-k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas"),
    /** Quotas of Kubernetes itself. */
    RESOURCE_QUOTA("", "v1", "ResourceQuota", "resourcequotas"),
    /** Queues, which say how a quota is served. */
    QUEUE("scheduling.x-k8s.io", "v1alpha1", "Queue", "queues");

    private final String group;
    private final String version;
    private final String kind;
    private final String plural;

    Kind(String group, String version, String kind, String plural) {
      this.group = group;
      this.version = version;
      this.kind = kind;
      this.plural = plural;
    }

    String kind() {
      return kind;
    }

    String apiVersion() {
      return group.isEmpty() ? version : group + "/" + version;
    }

    String plural() {
      return plural;
    }

    private String definition() {
      return plural + "." + group;
    }
  }

  private final KubernetesClient client;
  private final InformerSupervisor supervisor;
  private final ServedDefinitions definitions;
  private final Set<Kind> kinds;
  private final Runnable changed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Kind, ObservableItemStore<GenericKubernetesResource>> stores =
      new EnumMap<>(Kind.class);
  private final Map<Kind, SharedIndexInformer<GenericKubernetesResource>> running =
      new EnumMap<>(Kind.class);
  private final Set<Kind> listed = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /**
   * Nothing is read yet.
   *
   * @param sources what quotas are read from
   * @param changed called after every change, from any thread
   */
  public SourceObjects(
      KubernetesClient client,
      InformerSupervisor supervisor,
      ServedDefinitions definitions,
      Set<Source> sources,
      Runnable changed) {
    this.client = client;
    this.supervisor = supervisor;
    this.definitions = definitions;
    this.changed = changed;
    kinds = kinds(sources);
    definitions.observe(
        name -> {
          if (kinds.stream().anyMatch(kind -> kind.definition().equals(name))) {
            var unused = follow();
            changed.run();
          }
        });
  }

  private static Set<Kind> kinds(Set<Source> sources) {
    Set<Kind> result = EnumSet.of(Kind.QUEUE);
    for (Source source : sources) {
      switch (source) {
        case ELASTIC_QUOTA_TREE -> result.add(Kind.TREE);
        case ELASTIC_QUOTA -> result.addAll(Set.of(Kind.KOORDINATOR_QUOTA, Kind.PLUGIN_QUOTA));
        case RESOURCE_QUOTA, PLAIN_RESOURCE_QUOTA -> result.add(Kind.RESOURCE_QUOTA);
      }
    }
    return result;
  }

  /**
   * Begins to watch the kinds that are served; the definitions are known.
   *
   * @return completes when all objects of these kinds are known
   */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(follow().toArray(CompletableFuture[]::new));
  }

  /** Starts and stops watches by what is served now. */
  private List<CompletableFuture<Void>> follow() {
    List<CompletableFuture<Void>> listings = new ArrayList<>();
    lock.lock();
    try {
      for (Kind kind : kinds) {
        boolean served =
            kind.group.isEmpty() || definitions.serves(kind.definition(), kind.version);
        SharedIndexInformer<GenericKubernetesResource> informer = running.get(kind);
        if (served && informer == null && !closed) {
          listings.add(begin(kind));
        } else if (!served && informer != null) {
          running.remove(kind);
          stores.remove(kind);
          listed.remove(kind);
          informer.stop();
        }
      }
    } finally {
      lock.unlock();
    }
    return listings;
  }

  private CompletableFuture<Void> begin(Kind kind) {
    ObservableItemStore<GenericKubernetesResource> store = new ObservableItemStore<>();
    store.observe((before, after) -> changed.run());
    ResourceDefinitionContext context =
        new ResourceDefinitionContext.Builder()
            .withGroup(kind.group)
            .withVersion(kind.version)
            .withKind(kind.kind)
            .withPlural(kind.plural)
            .withNamespaced(true)
            .build();
    var all = client.genericKubernetesResources(context);
    SharedIndexInformer<GenericKubernetesResource> informer =
        (kind == Kind.TREE ? all.inNamespace(TREES) : all.inAnyNamespace())
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(store);
    stores.put(kind, store);
    running.put(kind, informer);
    return supervisor
        .keep(kind.plural + " for kube-queue", informer)
        .start()
        .toCompletableFuture()
        .thenRun(
            () -> {
              listed.add(kind);
              changed.run();
            });
  }

  /** The kinds of sources that are read, as marks name them. */
  Set<String> sources() {
    Set<String> result = new HashSet<>();
    for (Kind kind : kinds) {
      switch (kind) {
        case TREE -> result.add(QuotaTreeReader.KIND);
        case KOORDINATOR_QUOTA -> result.add(ElasticQuotaReader.KOORDINATOR);
        case PLUGIN_QUOTA -> result.add(ElasticQuotaReader.PLUGIN);
        case RESOURCE_QUOTA -> result.add(ResourceQuotaReader.KIND);
        case QUEUE -> {}
      }
    }
    return result;
  }

  /** Whether a kind is watched whose objects are not all known yet. */
  boolean isListing() {
    lock.lock();
    try {
      return !listed.containsAll(running.keySet());
    } finally {
      lock.unlock();
    }
  }

  /** Whether the API server has the kind. */
  boolean isServed(Kind kind) {
    lock.lock();
    try {
      return running.containsKey(kind);
    } finally {
      lock.unlock();
    }
  }

  /** The objects of a kind. */
  Collection<GenericKubernetesResource> all(Kind kind) {
    lock.lock();
    try {
      ObservableItemStore<GenericKubernetesResource> store = stores.get(kind);
      return store == null ? List.of() : List.copyOf(store.all());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      running.values().forEach(SharedIndexInformer::stop);
    } finally {
      lock.unlock();
    }
  }
}
