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
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.reflect.InformerSupervisor;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
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
  private final Map<ReferencedKind, ObservableItemStore<JobObject>> stores = new LinkedHashMap<>();
  private final List<SharedIndexInformer<JobObject>> informers = new ArrayList<>();
  private final List<SharedIndexInformer<JobObject>> awaited = new ArrayList<>();

  /**
   * The objects that jobs of the integration's kind refer to; not watched yet.
   *
   * @param identifierAnnotations whether jobs name their prebuilt Workload by annotation
   *     (WorkloadIdentifierAnnotations)
   */
  ReferencedObjects(
      JobIntegration integration,
      KubernetesClient client,
      InformerSupervisor supervisor,
      boolean identifierAnnotations) {
    this.integration = integration;
    this.identifierAnnotations = identifierAnnotations;
    for (ReferencedKind referenced : integration.references()) {
      ObservableItemStore<JobObject> store = new ObservableItemStore<>();
      store.observe(
          (before, after) -> {
            if (after != null) {
              after.keep(referenced.kept());
            }
          });
      stores.put(referenced, store);
      SharedIndexInformer<JobObject> informer =
          supervisor.keep(
              referenced.kind().plural(),
              JobObject.informer(client, referenced.kind(), referenced.namespaced())
                  .itemStore(store));
      informers.add(informer);
      if (referenced.awaited()) {
        awaited.add(informer);
      }
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
                  JobObject either = after == null ? before : after;
                  boolean changed =
                      before == null
                          || after == null
                          || !before.tree().path("spec").equals(after.tree().path("spec"));
                  if (either != null && changed) {
                    String namespace = either.getMetadata().getNamespace();
                    observer.accept(it -> !referenced.namespaced() || it.equals(namespace));
                  }
                }));
  }

  /** Starts the watches; completes when all objects are known that are awaited. */
  CompletableFuture<Void> start() {
    List<CompletableFuture<Void>> listings = new ArrayList<>();
    for (SharedIndexInformer<JobObject> informer : informers) {
      CompletableFuture<Void> listing = informer.start().toCompletableFuture();
      if (awaited.contains(informer)) {
        listings.add(listing);
      }
    }
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
              JobReference.setSpec(result, object.tree().path("spec"));
              JobReference.setGeneration(result, generation(object));
            });
    return result;
  }

  private static long generation(JobObject object) {
    return object.tree().path("metadata").path("generation").asLong();
  }

  private Optional<JobObject> find(String namespace, JobReference reference) {
    return Optional.ofNullable(stores.get(reference.kind()))
        .flatMap(
            store ->
                reference.kind().namespaced()
                    ? store.find(namespace, reference.name())
                    : store.find(reference.name()))
        .filter(object -> object.tree().path("spec").isObject());
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
    informers.forEach(SharedIndexInformer::stop);
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
