package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.ReferencedKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.PrebuiltWorkloads;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kube.reflect.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The objects that jobs of one kind refer to: watches them, and hands their specs to the
 * integration. Does nothing for a kind whose jobs refer to no others. Readable from any thread.
 */
final class ReferencedObjects implements AutoCloseable {

  private final JobIntegration integration;
  private final boolean identifierAnnotations;
  private final Map<ReferencedKind, Store<ReferencedObject>> stores = new LinkedHashMap<>();
  private final Map<ReferencedKind, Reflector<?>> reflectors = new LinkedHashMap<>();

  /**
   * What is kept of an object.
   *
   * @param spec what the integration wants to see of it; no JSON object if the object has none
   */
  private record ReferencedObject(String namespace, long generation, JsonNode spec) {

    static ReferencedObject of(ReferencedKind kind, JsonNode object) {
      JsonNode metadata = object.path("metadata");
      JsonNode spec = object.path("spec");
      return new ReferencedObject(
          metadata.path("namespace").asText(),
          metadata.path("generation").asLong(),
          spec.isObject() ? kind.kept().apply(spec) : spec);
    }
  }

  /**
   * The objects that jobs of the integration's kind refer to; not watched yet.
   *
   * @param identifierAnnotations whether jobs name their prebuilt Workload by annotation
   *     (WorkloadIdentifierAnnotations)
   */
  ReferencedObjects(
      JobIntegration integration, Reflectors reflectors, boolean identifierAnnotations) {
    this.integration = integration;
    this.identifierAnnotations = identifierAnnotations;
    for (ReferencedKind referenced : integration.references()) {
      Store<ReferencedObject> store =
          new Store<>(object -> ReferencedObject.of(referenced, object));
      stores.put(referenced, store);
      JobKind kind = referenced.kind();
      this.reflectors.put(referenced, reflectors.of(kind.plural(), kind.collection(), store));
    }
  }

  /**
   * Adds an observer of changes: of objects that come and go, and of their specs.
   *
   * @param observer is given which jobs may be concerned, by their namespace
   */
  void observe(Consumer<Predicate<String>> observer) {
    stores.forEach(
        (referenced, store) ->
            store.observe(
                (before, after) -> {
                  ReferencedObject either = after == null ? before : after;
                  boolean changed =
                      before == null || after == null || !before.spec().equals(after.spec());
                  if (either != null && changed) {
                    String namespace = either.namespace();
                    observer.accept(it -> !referenced.namespaced() || it.equals(namespace));
                  }
                }));
  }

  /** Starts the watches; completes when all objects are known that are awaited. */
  CompletableFuture<Void> start() {
    List<CompletableFuture<Void>> listings = new ArrayList<>();
    reflectors.forEach(
        (referenced, reflector) -> {
          CompletableFuture<Void> listing = reflector.start();
          if (referenced.awaited()) {
            listings.add(listing);
          }
        });
    return CompletableFuture.allOf(listings.toArray(CompletableFuture[]::new));
  }

  /**
   * The job as it counts: with the spec of the object that it refers to, if that exists, and
   * without the name of a prebuilt Workload that isn't followed.
   */
  JsonNode resolved(JsonNode source) {
    JsonNode job = identifierAnnotations ? source : PrebuiltWorkloads.namedByLabel(source);
    if (stores.isEmpty() || !job.isObject()) {
      return job;
    }
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    job.properties().forEach(field -> result.set(field.getKey(), field.getValue()));
    JobReference.removeSpec(result);
    integration
        .reference(result)
        .flatMap(reference -> find(job.path("metadata").path("namespace").asText(), reference))
        .ifPresent(
            object -> {
              JobReference.setSpec(result, object.spec());
              JobReference.setGeneration(result, object.generation());
            });
    return result;
  }

  private Optional<ReferencedObject> find(String namespace, JobReference reference) {
    return Optional.ofNullable(stores.get(reference.kind()))
        .flatMap(
            store ->
                reference.kind().namespaced()
                    ? store.find(namespace, reference.name())
                    : store.find(reference.name()))
        .filter(object -> object.spec().isObject());
  }

  /** A job as it is with the objects that are known now. */
  CachedJob refreshed(CachedJob job) {
    return stores.isEmpty() || job.text().isEmpty()
        ? job
        : CachedJobParser.of(integration, resolved(job.object()));
  }

  /** Jobs at the API server, with the specs of what they refer to. */
  JobClient resolving(JobClient jobs) {
    return stores.isEmpty() && identifierAnnotations
        ? jobs
        : new ResolvingJobClient(jobs, this, integration.kind());
  }

  @Override
  public void close() {
    reflectors.values().forEach(Reflector::close);
  }

  /** Adds the spec of what it refers to, to each job that is read. */
  private record ResolvingJobClient(JobClient jobs, ReferencedObjects referenced, JobKind kind)
      implements JobClient {

    @Override
    public CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch) {
      return jobs.patch(job, version, patch);
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(JobRef job) {
      return jobs.delete(job);
    }

    @Override
    public CompletableFuture<ApiOutcome> create(String collection, ObjectNode object) {
      return jobs.create(collection, object);
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(String path, String uid) {
      return jobs.delete(path, uid);
    }

    @Override
    public void list(String path, Consumer<JsonNode> each) {
      jobs.list(path, each);
    }

    @Override
    public CompletableFuture<Optional<ObjectNode>> read(String path) {
      return jobs.read(path)
          .thenApply(
              found ->
                  found.map(
                      object ->
                          object.path("kind").asText().equals(kind.kind())
                              ? (ObjectNode) referenced.resolved(object)
                              : object));
    }
  }
}
