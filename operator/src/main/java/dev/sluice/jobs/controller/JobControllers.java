package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.kube.controller.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controllers of all kinds that are turned on. Those of the API server's own kinds run from the
 * start. Any other kind has a controller only while the API server serves it: the controller is
 * made when the definition of the kind is installed, and closed when it is removed.
 */
public final class JobControllers {

  private static final Logger LOG = LoggerFactory.getLogger(JobControllers.class);

  private final Map<JobKind, Function<JobControllerContext, JobKindController>> factories =
      new LinkedHashMap<>();
  private final JobControllerContext context;
  private final BiPredicate<String, String> served;
  private final Runnable withdrawn;
  private final Map<JobKind, JobKindController> running = new ConcurrentHashMap<>();
  private final WorkQueue<JobKind> changes;
  private volatile boolean started;
  private volatile boolean leading;

  /**
   * Controllers of the kinds that the context's registry turns on; none of them is made yet.
   *
   * @param served whether the API server serves the definition of this name in this version
   * @param withdrawn called after a controller was closed because its kind is gone
   */
  public JobControllers(
      JobControllerContext context, BiPredicate<String, String> served, Runnable withdrawn) {
    this.context = context;
    this.served = served;
    this.withdrawn = withdrawn;
    this.changes = new WorkQueue<>(this::sync, context.queue());
    for (Integration entry : context.registry().enabled()) {
      entry.controller().ifPresent(factory -> factories.put(entry.kind(), factory));
    }
  }

  /** Whether kinds are turned on that the API server does not have by itself. */
  public boolean dependOnDefinitions() {
    return factories.keySet().stream().anyMatch(kind -> !kind.isBuiltIn());
  }

  /** The kinds that are turned on and not served; none of them is waited for. */
  public List<JobKind> absent() {
    return factories.keySet().stream().filter(kind -> !isServed(kind)).toList();
  }

  /**
   * Makes and starts the controllers of all kinds that are served.
   *
   * @return the first listing of each kind, by the controller's name
   */
  public Map<String, CompletableFuture<Void>> start() {
    Map<String, CompletableFuture<Void>> listings = new LinkedHashMap<>();
    for (JobKind kind : factories.keySet()) {
      if (isServed(kind)) {
        JobKindController controller = make(kind);
        listings.put(controller.name(), controller.start());
      }
    }
    started = true;
    factories.keySet().forEach(this::enqueue);
    return listings;
  }

  /** A definition appeared, changed or went. */
  public void definitionChanged(String name) {
    if (started) {
      factories.keySet().stream()
          .filter(kind -> kind.definition().equals(name))
          .forEach(this::enqueue);
    }
  }

  private void enqueue(JobKind kind) {
    if (!kind.isBuiltIn()) {
      changes.enqueue(kind);
    }
  }

  /** Of several versions of a definition that are known and served, only the first counts. */
  private boolean isServed(JobKind kind) {
    return kind.isBuiltIn()
        || factories.keySet().stream()
            .filter(other -> other.definition().equals(kind.definition()))
            .filter(other -> served.test(other.definition(), other.version()))
            .findFirst()
            .filter(kind::equals)
            .isPresent();
  }

  private JobKindController make(JobKind kind) {
    JobKindController controller = Objects.requireNonNull(factories.get(kind)).apply(context);
    running.put(kind, controller);
    return controller;
  }

  /** Starts or closes the controller of a kind, by what the API server serves now. */
  private Optional<Duration> sync(JobKind kind) {
    boolean wanted = isServed(kind);
    JobKindController controller = running.get(kind);
    if (wanted && controller == null) {
      begin(kind);
    } else if (!wanted && controller != null) {
      end(kind, controller);
    }
    return Optional.empty();
  }

  private void begin(JobKind kind) {
    JobKindController controller = make(kind);
    var unused =
        controller
            .start()
            .whenComplete(
                (listed, failure) -> {
                  if (failure == null) {
                    LOG.info("kind={} managed=true", kind.definition());
                  } else {
                    LOG.error("kind={} managed=false", kind.definition(), failure);
                  }
                });
    if (leading) {
      controller.leadershipStarted();
    }
  }

  private void end(JobKind kind, JobKindController controller) {
    running.remove(kind);
    context.registry().unregister(kind);
    controller.close();
    LOG.info("kind={} managed=false reason=\"its definition was removed\"", kind.definition());
    withdrawn.run();
  }

  /** This process leads; controllers that are made later lead from their start. */
  public void leadershipStarted() {
    leading = true;
    running.values().forEach(JobKindController::leadershipStarted);
  }

  /** Has an object reconciled soon, if its kind has a controller. */
  public void enqueue(String apiVersion, String kind, ObjectKey object) {
    running.forEach(
        (each, controller) -> {
          if (each.is(apiVersion, kind)) {
            controller.enqueue(object);
          }
        });
  }

  /** For how long the object that is handled longest is being handled; zero if none is. */
  public Duration longestHandling() {
    return running.values().stream()
        .map(JobKindController::longestHandling)
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  /**
   * Closes all controllers at once: each waits for its writes for a limited time.
   *
   * @param executor runs the closing of each
   */
  public void close(Executor executor) {
    changes.close();
    List<CompletableFuture<Void>> closing = new ArrayList<>();
    for (JobKindController controller : running.values()) {
      closing.add(CompletableFuture.runAsync(controller::close, executor));
    }
    CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new)).join();
  }

  /**
   * The running controller of one kind of job: its watches, its caches and its work queue. The
   * operator holds a list of these controllers and treats all kinds alike.
   */
  public interface JobKindController extends AutoCloseable {

    /** The plural name of the kind, as messages name what is watched. */
    String name();

    /**
     * Starts the watches. Objects are cached from now on and nothing is written before this process
     * leads.
     *
     * @return completes when every existing object is in the cache; fails when a watch can't start
     */
    CompletableFuture<Void> start();

    /** Reconciles every object once; called each time this process becomes the leader. */
    void leadershipStarted();

    /** Has the object of this name reconciled soon; does nothing if the kind doesn't have it. */
    void enqueue(ObjectKey object);

    /** For how long the object that is handled longest is being handled; zero if none is. */
    Duration longestHandling();

    /**
     * Ends the watches, drops what is queued, and waits for writes for a limited time. The
     * controller is not started again; a kind that comes back gets a new one.
     */
    @Override
    void close();
  }
}
