package dev.sluice.jobs;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The kinds that are handled, and where their jobs are found. Readable from any thread. */
public final class IntegrationRegistry {

  private final Map<JobKind, Finder> finders = new ConcurrentHashMap<>();

  /** Looks jobs of one kind up. */
  @FunctionalInterface
  public interface Finder {

    /** The job of this name, if it exists. */
    Optional<CachedJob> find(String namespace, String name);
  }

  /** Jobs of this kind are found by {@code finder} from now on. */
  public void register(JobKind kind, Finder finder) {
    finders.put(kind, finder);
  }

  /** Whether an owner reference with these fields names a kind that is handled. */
  public boolean knows(String apiVersion, String kind) {
    return kindOf(apiVersion, kind).isPresent();
  }

  /** The job that an owner reference names, if its kind is handled and it exists. */
  public Optional<CachedJob> find(String namespace, CachedJob.Controller owner) {
    return kindOf(owner.apiVersion(), owner.kind())
        .flatMap(kind -> Optional.ofNullable(finders.get(kind)))
        .flatMap(finder -> finder.find(namespace, owner.name()))
        .filter(job -> job.ref().uid().equals(owner.uid()));
  }

  private Optional<JobKind> kindOf(String apiVersion, String kind) {
    return finders.keySet().stream().filter(known -> known.is(apiVersion, kind)).findFirst();
  }
}
