package dev.sluice.kube.definitions;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The CustomResourceDefinitions of the cluster, kept up to date by one watch. Readable from any
 * thread.
 */
public final class ServedDefinitions implements AutoCloseable {

  private static final String PATH = "apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  private final Store<Definition> definitions = new Store<>(Definition::of);
  private final Reflector<Store.Item<Definition>> reflector;
  private final ReentrantLock lock = new ReentrantLock();

  // Both are guarded by the lock.
  private @Nullable CompletableFuture<Void> listed;
  private boolean closed;

  /** Knows of no definition until it is started. */
  public ServedDefinitions(Reflectors reflectors) {
    this.reflector = reflectors.of("customresourcedefinitions", PATH, definitions);
  }

  /**
   * Adds an observer of changes.
   *
   * @param observer gets the name of a definition that appeared, changed or went, on the thread of
   *     the watch
   */
  public void observe(Consumer<String> observer) {
    definitions.observe(
        (before, after) -> {
          Definition either = after == null ? before : after;
          if (either != null) {
            observer.accept(either.name());
          }
        });
  }

  /**
   * Starts the watch, if it isn't started yet.
   *
   * @return completes when every definition is known; never if this was closed before
   */
  public CompletableFuture<Void> start() {
    lock.lock();
    try {
      if (closed) {
        return new CompletableFuture<>();
      }
      CompletableFuture<Void> begun = listed == null ? reflector.start() : listed;
      listed = begun;
      return begun.copy();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether the API server serves a version of a kind.
   *
   * @param name of the definition: plural and group, with a dot between them
   */
  public boolean serves(String name, String version) {
    return definitions
        .find(name)
        .filter(definition -> definition.served().contains(version))
        .isPresent();
  }

  /**
   * Waits until the API server serves kinds, in any version. Starts the watch, if it isn't started
   * yet.
   *
   * @param names of the definitions: plural and group, with a dot between them
   * @throws IOException if one of them isn't served in time; names it
   */
  public void awaitServed(List<String> names, Duration patience) throws IOException {
    Set<String> missing = ConcurrentHashMap.newKeySet();
    missing.addAll(names);
    CompletableFuture<Void> served = new CompletableFuture<>();
    Runnable look =
        () -> {
          missing.removeIf(name -> definitions.find(name).filter(Definition::isServed).isPresent());
          if (missing.isEmpty()) {
            served.complete(null);
          }
        };
    definitions.observe((before, after) -> look.run());
    var unused = start().thenRun(look);
    try {
      served.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException(
          "the API server doesn't serve %s after %d s"
              .formatted(String.join(", ", new TreeSet<>(missing)), patience.toSeconds()),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the API server serves definitions");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      reflector.close();
    } finally {
      lock.unlock();
    }
  }

  /**
   * What is kept of a CustomResourceDefinition.
   *
   * @param name plural and group, with a dot between them
   * @param served the versions that the API server serves; none before the definition is
   *     established
   */
  record Definition(String name, Set<String> served) {

    /** Reads a definition from its JSON. */
    static Definition of(JsonNode object) {
      return new Definition(
          object.path("metadata").path("name").asText(),
          isEstablished(object) ? servedVersions(object) : Set.of());
    }

    private boolean isServed() {
      return !served.isEmpty();
    }

    private static boolean isEstablished(JsonNode object) {
      for (JsonNode condition : object.path("status").path("conditions")) {
        if (condition.path("type").asText().equals("Established")) {
          return condition.path("status").asText().equals("True");
        }
      }
      return false;
    }

    private static Set<String> servedVersions(JsonNode object) {
      Set<String> names = new HashSet<>();
      for (JsonNode version : object.path("spec").path("versions")) {
        if (version.path("served").asBoolean()) {
          names.add(version.path("name").asText());
        }
      }
      return Set.copyOf(names);
    }
  }
}
