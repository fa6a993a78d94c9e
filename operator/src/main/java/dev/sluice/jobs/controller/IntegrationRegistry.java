package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.GuardedListeners;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of jobs that the configuration turns on: makes their controllers, and finds their jobs
 * for the walk along owner references. Readable from any thread.
 */
public final class IntegrationRegistry {

  private final List<Integration> enabled;
  private final Map<JobKind, Finder> finders = new ConcurrentHashMap<>();

  private final GuardedListeners<JobListener> listeners = new GuardedListeners<>();

  /** Is told of jobs that the controllers of their kinds see. */
  @FunctionalInterface
  public interface JobListener {

    /** A job appeared ({@code before} is null), changed, or went ({@code after} is null). */
    void changed(@Nullable CachedJob before, @Nullable CachedJob after);
  }

  /** Looks up jobs of one kind by name. */
  @FunctionalInterface
  public interface Finder {

    /** The job of this name, if it exists. */
    Optional<CachedJob> find(String namespace, String name);

    /** A job with the specs of the objects that it refers to, as far as they are known. */
    default JsonNode resolved(JsonNode job) {
      return job;
    }
  }

  /**
   * The registry of a configuration.
   *
   * @param integrations all kinds that this program has
   * @param frameworks the frameworks that the configuration lists
   * @param gates whether a feature gate is on
   */
  public IntegrationRegistry(
      List<Integration> integrations, Collection<String> frameworks, Predicate<FeatureGate> gates) {
    Set<JobKind> wanted =
        integrations.stream()
            .filter(entry -> entry.isEnabled(frameworks, gates))
            .flatMap(
                entry ->
                    Stream.concat(Stream.of(entry.kind()), entry.description().watches().stream()))
            .collect(Collectors.toSet());
    this.enabled = integrations.stream().filter(entry -> wanted.contains(entry.kind())).toList();
  }

  /**
   * The registry of a configuration that also names kinds which other controllers queue. Such a
   * kind isn't handled here even if this program has it.
   *
   * @param external those kinds
   */
  public static IntegrationRegistry of(
      List<Integration> integrations,
      Collection<String> frameworks,
      Collection<JobKind> external,
      Predicate<FeatureGate> gates) {
    Predicate<JobKind> isExternal =
        kind -> external.stream().anyMatch(it -> it.is(kind.apiVersion(), kind.kind()));
    return new IntegrationRegistry(
        Stream.concat(
                integrations.stream().filter(entry -> !isExternal.test(entry.kind())),
                external.stream().map(Integration::external))
            .toList(),
        Stream.concat(frameworks.stream(), external.stream().map(JobKind::framework)).toList(),
        gates);
  }

  /**
   * The entries that are turned on, in the order of the registry: those of the frameworks, and
   * those whose kinds these watch.
   */
  public List<Integration> enabled() {
    return enabled;
  }

  /** The entry of the kind that these fields of an object or an owner reference name. */
  public Optional<Integration> enabled(String apiVersion, String kind) {
    return enabled.stream().filter(entry -> entry.kind().is(apiVersion, kind)).findFirst();
  }

  /** From now on jobs of this kind are found by {@code finder}. */
  public void register(JobKind kind, Finder finder) {
    finders.put(kind, finder);
  }

  /** Adds a listener, called on the threads of informers. */
  public void observe(JobListener listener) {
    listeners.add(listener);
  }

  /** Tells the listeners; called by the controller of the kind after its store has the change. */
  void changed(@Nullable CachedJob before, @Nullable CachedJob after) {
    CachedJob job = Objects.requireNonNull(after == null ? before : after);
    listeners.tell(job.ref(), listener -> listener.changed(before, after));
  }

  /** The job of this name, if its kind is known and the job exists. */
  public Optional<CachedJob> find(JobKind kind, String namespace, String name) {
    return Optional.ofNullable(finders.get(kind)).flatMap(finder -> finder.find(namespace, name));
  }

  /** A job with the specs of the objects that it refers to, as far as they are known. */
  public JsonNode resolved(JobKind kind, JsonNode job) {
    Finder finder = finders.get(kind);
    return finder == null ? job : finder.resolved(job);
  }

  /** From now on no jobs of this kind are found: the API server doesn't serve it any more. */
  public void unregister(JobKind kind) {
    finders.remove(kind);
  }

  /** Whether an owner reference with these fields names a kind whose jobs can be found. */
  public boolean knows(String apiVersion, String kind) {
    return kindOf(apiVersion, kind).isPresent();
  }

  /**
   * Whether an owner reference with these fields names a kind that is turned on, whose jobs can be
   * found now or as soon as the API server serves the kind.
   */
  public boolean covers(String apiVersion, String kind) {
    return knows(apiVersion, kind) || enabled(apiVersion, kind).isPresent();
  }

  /** Whether this kind is turned on. */
  public boolean covers(JobKind kind) {
    return enabled.stream().anyMatch(entry -> entry.kind().equals(kind));
  }

  /**
   * The job that an owner reference names, if its kind is known and the job exists. An owner
   * without UID, which no reference in the API is, is found by its name alone.
   */
  public Optional<CachedJob> find(String namespace, CachedJob.Controller owner) {
    return kindOf(owner.apiVersion(), owner.kind())
        .flatMap(kind -> Optional.ofNullable(finders.get(kind)))
        .flatMap(finder -> finder.find(namespace, owner.name()))
        .filter(job -> owner.uid().isEmpty() || job.ref().uid().equals(owner.uid()));
  }

  private Optional<JobKind> kindOf(String apiVersion, String kind) {
    return finders.keySet().stream().filter(known -> known.is(apiVersion, kind)).findFirst();
  }
}
