package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The ProvisioningRequests and PodTemplates that the operator made, kept up to date. They are
 * watched while the API server serves ProvisioningRequests, and from the first moment on that
 * somebody needs them. Usable from any thread.
 */
final class RequestInformers implements AutoCloseable {

  private static final String REQUESTS = RequestManifest.PLURAL;
  private static final String DEFINITION = REQUESTS + "." + RequestManifest.GROUP;
  private static final String TEMPLATES = "podtemplates";
  private static final String OF_THE_OPERATOR = " of the operator";
  private static final String REQUESTS_PATH =
      Reflectors.labeled(
          "apis/" + RequestManifest.GROUP + "/" + RequestManifest.VERSION + "/" + REQUESTS,
          KueueConstants.MANAGED,
          "true");
  private static final String TEMPLATES_PATH =
      Reflectors.labeled("api/v1/" + TEMPLATES, KueueConstants.MANAGED, "true");

  private final Reflectors reflectors;
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

    private final Store<CachedRequest> requests =
        new Store<>(CachedRequest::of, CachedRequest::controller);
    private final Store<RequestTemplate> templates = new Store<>(RequestTemplate::of);
    private final Reflector<Store.Item<CachedRequest>> requestReflector;
    private final Reflector<Store.Item<RequestTemplate>> templateReflector;
    private volatile boolean listed;

    private Watches(Reflectors reflectors, Listener listener) {
      requests.observe(listener::requestChanged);
      templates.observe(
          (before, after) -> {
            if (before != null && after == null) {
              listener.templateRemoved(before.namespace(), before.request());
            }
          });
      requestReflector = reflectors.of(REQUESTS + OF_THE_OPERATOR, REQUESTS_PATH, requests);
      templateReflector = reflectors.of(TEMPLATES + OF_THE_OPERATOR, TEMPLATES_PATH, templates);
    }

    private CompletableFuture<Void> start() {
      return CompletableFuture.allOf(requestReflector.start(), templateReflector.start())
          .thenRun(() -> listed = true);
    }

    private void stop() {
      requestReflector.close();
      templateReflector.close();
    }
  }

  /** Watches nothing until {@link #need} is called. */
  RequestInformers(Reflectors reflectors, ServedDefinitions definitions, Listener listener) {
    this.reflectors = reflectors;
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
      boolean served = definitions.serves(DEFINITION, RequestManifest.VERSION);
      Watches present = watches;
      if (served && present == null && !closed) {
        Watches started = new Watches(reflectors, listener);
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
    return present == null ? Optional.empty() : present.requests.find(namespace, name);
  }

  /** The requests that the Workload of this UID controls. */
  Collection<CachedRequest> ownedBy(String workloadUid) {
    Watches present = watches;
    return present == null ? List.of() : present.requests.with(workloadUid);
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

  /**
   * What is kept of a PodTemplate.
   *
   * @param controller the UID of the object that controls it; empty if none does
   * @param request the name of that object; empty if none does
   */
  private record RequestTemplate(String namespace, String controller, String request) {

    static RequestTemplate of(JsonNode object) {
      return new RequestTemplate(
          object.path("metadata").path("namespace").asText(),
          CachedRequest.controllerOf(object, "uid"),
          CachedRequest.controllerOf(object, "name"));
    }
  }

  /** Whether the cluster has ProvisioningRequests. */
  enum RequestAvailability {
    /** The definitions or configurations are not listed yet, or nobody needs to know. */
    UNKNOWN,
    /** The API server doesn't serve the kind. */
    ABSENT,
    /** The API server serves the kind, and its objects are being listed. */
    LISTING,
    /** All objects are known. */
    LISTED
  }
}
