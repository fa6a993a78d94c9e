package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The ProvisioningRequests and PodTemplates that the operator made, kept up to date. They are
 * watched while the API server serves ProvisioningRequests, and from the first moment on that
 * somebody needs them. Usable from any thread.
 */
final class RequestInformers implements AutoCloseable {

  private static final String DEFINITION =
      ProvisioningRequestResource.PLURAL + "." + ProvisioningRequestResource.GROUP;
  private static final long PAGE = 500;

  private final KubernetesClient client;
  private final InformerSupervisor supervisor;
  private final ServedDefinitions definitions;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();

  // Both are guarded by the lock.
  private boolean needed;
  private boolean closed;

  private volatile boolean definitionsListed;
  private volatile @Nullable Watches watches;

  /** Listener for changes of requests, called on the threads of the watches. */
  interface Listener {

    /** A request appeared ({@code before} is null), changed, or went ({@code after} is null). */
    void requestChanged(@Nullable CachedRequest before, @Nullable CachedRequest after);

    /** A PodTemplate is gone that was controlled by the request of this name. */
    void templateRemoved(String namespace, String request);

    /** The result of {@link #availability()} changed. */
    void availabilityChanged();
  }

  /** The watches of one time during which the kind is served. */
  private static final class Watches {

    private final ObservableItemStore<ProvisioningRequestResource> requests =
        new ObservableItemStore<>();
    private final ObservableItemStore<RequestTemplateResource> templates =
        new ObservableItemStore<>();
    private final OwnedRequests owned = new OwnedRequests();
    private final SharedIndexInformer<ProvisioningRequestResource> requestInformer;
    private final SharedIndexInformer<RequestTemplateResource> templateInformer;
    private volatile boolean listed;

    private Watches(KubernetesClient client, InformerSupervisor supervisor, Listener listener) {
      requests.observe(
          (before, after) -> {
            CachedRequest old = before == null ? null : before.request();
            CachedRequest now = after == null ? null : after.request();
            owned.changed(old, now);
            listener.requestChanged(old, now);
          });
      templates.observe(
          (before, after) -> {
            if (before != null && after == null) {
              listener.templateRemoved(before.getMetadata().getNamespace(), before.request());
            }
          });
      requestInformer = informer(client, supervisor, ProvisioningRequestResource.class, requests);
      templateInformer = informer(client, supervisor, RequestTemplateResource.class, templates);
    }

    private static <T extends HasMetadata> SharedIndexInformer<T> informer(
        KubernetesClient client,
        InformerSupervisor supervisor,
        Class<T> kind,
        ObservableItemStore<T> store) {
      client.getKubernetesSerialization().registerKubernetesResource(kind);
      SharedIndexInformer<T> informer =
          client
              .resources(kind)
              .inAnyNamespace()
              .withLabel(KueueConstants.MANAGED, "true")
              .withLimit(PAGE)
              .runnableInformer(0)
              .itemStore(store);
      return supervisor.keep(HasMetadata.getPlural(kind) + " of the operator", informer);
    }

    private CompletableFuture<Void> start() {
      return CompletableFuture.allOf(
              requestInformer.start().toCompletableFuture(),
              templateInformer.start().toCompletableFuture())
          .thenRun(() -> listed = true);
    }

    private void stop() {
      requestInformer.stop();
      templateInformer.stop();
    }
  }

  /** Watches nothing until {@link #need} is called. */
  RequestInformers(
      KubernetesClient client,
      InformerSupervisor supervisor,
      ServedDefinitions definitions,
      Listener listener) {
    this.client = client;
    this.supervisor = supervisor;
    this.definitions = definitions;
    this.listener = listener;
    definitions.observe(
        name -> {
          if (name.equals(DEFINITION)) {
            follow();
          }
        });
  }

  /** From now on requests are watched; calling it again does nothing. */
  void need() {
    lock.lock();
    try {
      if (needed || closed) {
        return;
      }
      needed = true;
    } finally {
      lock.unlock();
    }
    var unused =
        definitions
            .start()
            .thenRun(
                () -> {
                  definitionsListed = true;
                  follow();
                });
  }

  /** Starts or stops the watches by what is served now. */
  private void follow() {
    if (!definitionsListed) {
      return;
    }
    lock.lock();
    try {
      boolean served = definitions.serves(DEFINITION, ProvisioningRequestResource.VERSION);
      Watches present = watches;
      if (served && present == null && !closed) {
        Watches started = new Watches(client, supervisor, listener);
        watches = started;
        var unused = started.start().thenRun(listener::availabilityChanged);
      } else if (!served && present != null) {
        watches = null;
        present.stop();
      }
    } finally {
      lock.unlock();
    }
    listener.availabilityChanged();
  }

  /** Whether the cluster has requests. */
  RequestAvailability availability() {
    Watches present = watches;
    if (present != null) {
      return present.listed ? RequestAvailability.LISTED : RequestAvailability.LISTING;
    }
    return definitionsListed ? RequestAvailability.ABSENT : RequestAvailability.UNKNOWN;
  }

  /** The request of this name among those with the label of what the operator made. */
  Optional<CachedRequest> find(String namespace, String name) {
    Watches present = watches;
    return present == null
        ? Optional.empty()
        : present.requests.find(namespace, name).map(ProvisioningRequestResource::request);
  }

  /** The requests that the Workload of this UID controls. */
  Collection<CachedRequest> ownedBy(String workloadUid) {
    Watches present = watches;
    return present == null ? List.of() : present.owned.of(workloadUid);
  }

  /** Whether a request has a PodTemplate of this name. */
  boolean hasTemplate(CachedRequest request, String name) {
    Watches present = watches;
    return present != null
        && present
            .templates
            .find(request.namespace(), name)
            .filter(template -> template.controller().equals(request.uid()))
            .isPresent();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      Watches present = watches;
      if (present != null) {
        present.stop();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The requests by the UID of the Workload that controls them. Readable from any thread. */
  static final class OwnedRequests {

    private final Map<String, Map<String, CachedRequest>> byOwner = new ConcurrentHashMap<>();

    /** The requests that the Workload of this UID controls. */
    Collection<CachedRequest> of(String workloadUid) {
      Map<String, CachedRequest> owned = byOwner.get(workloadUid);
      return owned == null ? List.of() : List.copyOf(owned.values());
    }

    /** A request appeared ({@code before} is null), changed, or went ({@code after} is null). */
    void changed(@Nullable CachedRequest before, @Nullable CachedRequest after) {
      if (before != null && (after == null || !before.controller().equals(after.controller()))) {
        byOwner.computeIfPresent(
            before.controller(),
            (uid, owned) -> {
              owned.remove(key(before));
              return owned.isEmpty() ? null : owned;
            });
      }
      if (after != null && !after.controller().isEmpty()) {
        byOwner.compute(
            after.controller(),
            (uid, owned) -> {
              Map<String, CachedRequest> result = owned == null ? new ConcurrentHashMap<>() : owned;
              result.put(key(after), after);
              return result;
            });
      }
    }

    private static String key(CachedRequest request) {
      return Cache.namespaceKeyFunc(request.namespace(), request.name());
    }
  }

  /**
   * A PodTemplate in an informer: holds which request controls it. It is read-only and must never
   * be written back.
   */
  @Group("")
  @Version("v1")
  @Kind("PodTemplate")
  @Plural("podtemplates")
  @JsonDeserialize(using = RequestTemplateResource.Reader.class)
  public static final class RequestTemplateResource extends CachedResource implements Namespaced {

    private static final long serialVersionUID = 1L;

    private final transient String controller;
    private final transient String request;

    private RequestTemplateResource(String controller, String request, ObjectMeta metadata) {
      super(metadata);
      this.controller = controller;
      this.request = request;
    }

    private static RequestTemplateResource of(JsonNode object) {
      return new RequestTemplateResource(
          CachedRequest.controllerOf(object, "uid"),
          CachedRequest.controllerOf(object, "name"),
          identity(object));
    }

    /** The name of the object that controls it; empty if none does. */
    String request() {
      return request;
    }

    /** The UID of the object that controls it; empty if none does. */
    String controller() {
      return controller;
    }

    /** Reads a template, and keeps what is needed of it. */
    static final class Reader extends JsonDeserializer<RequestTemplateResource> {

      @Override
      public RequestTemplateResource deserialize(JsonParser parser, DeserializationContext context)
          throws IOException {
        return TolerantDeserializers.read(
            parser,
            context,
            RequestTemplateResource::of,
            (JsonNode object, UnreadableMetadata metadata) ->
                new RequestTemplateResource("", "", metadata));
      }
    }
  }
}
