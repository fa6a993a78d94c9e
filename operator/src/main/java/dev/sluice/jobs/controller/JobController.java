package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.JobControllers.JobKindController;
import dev.sluice.jobs.controller.OwnerlessWorkloads.WorkloadReleaser;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.ReferencedKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.PrebuiltWorkloads;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The controller of any kind whose objects are suspended and started by a field of their own. It
 * watches the objects of the kind, and reconciles a job when the job or its Workload changes. All
 * that is particular to the kind is in its {@link JobIntegration}.
 */
public final class JobController implements JobKindController, WorkloadListener {

  private final JobKind kind;
  private final JobReconciler reconciler;
  private final OwnerChainResolver ownerChainResolver;
  private final WorkloadLister workloads;
  private final IntegrationRegistry registry;
  private final BooleanSupplier leading;
  private final ReferencedObjects referenced;
  private final Store<CachedJob> jobs;
  private final Reflector<Store.Item<CachedJob>> reflector;
  private final OrphanedWorkloads orphanedWorkloads;
  private final WorkQueue<ObjectKey> queue;
  private final WorkQueue<ObjectKey> finalizing;
  private final Runnable unlisten;

  /** Jobs that were deleted and whose Workloads have not been released yet, by UID. */
  private final Map<ObjectKey, Map<String, CachedJob>> deleted = new ConcurrentHashMap<>();

  private volatile boolean workloadsSynced;

  /** A controller of the integration's kind, not started. It listens to the Workload reader. */
  public JobController(JobIntegration integration, JobControllerContext context) {
    this.referenced =
        new ReferencedObjects(
            integration,
            context.reflectors(),
            context.options().on(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS));
    JobReconciler.Dependencies dependencies =
        context.dependencies().with(referenced.resolving(context.dependencies().objects()));
    this.kind = integration.kind();
    this.ownerChainResolver = context.ownerChainResolver();
    this.workloads = dependencies.workloads().store();
    this.leading = context.leading();
    this.reconciler =
        new JobReconciler(
            integration,
            context.options(),
            ownerChainResolver,
            context.managedByCheck(),
            context.intake(),
            dependencies,
            JobControllerContext.WRITES_AT_A_TIME);
    this.registry = context.registry();
    this.jobs = new Store<>(object -> CachedJobParser.of(integration, referenced.resolved(object)));
    this.orphanedWorkloads = new OrphanedWorkloads(kind, jobs, dependencies);
    this.queue = new WorkQueue<>(this::reconcile, context.queue(kind));
    this.finalizing =
        new WorkQueue<>(
            workload -> mayAct() ? orphanedWorkloads.removeFinalizer(workload) : Optional.empty(),
            context.queue(JobKind.WORKLOAD));
    this.reflector = context.reflectors().of(kind.plural(), kind.collection(), jobs);
    jobs.observe(this::jobChanged);
    referenced.observe(this::enqueueIn);
    Runnable unobserve = context.intake().observe(this::enqueueIn);
    registry.register(kind, new ResolvingFinder(jobs, referenced));
    AdmissionCheckEvents checkEvents =
        new AdmissionCheckEvents(kind, dependencies.events(), leading);
    this.unlisten =
        () -> {
          unobserve.run();
          dependencies.workloads().unlisten(this);
          dependencies.workloads().unlisten(checkEvents);
        };
    dependencies.workloads().listen(this);
    dependencies.workloads().listen(checkEvents);
  }

  @Override
  public String name() {
    return kind.plural();
  }

  @Override
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(referenced.start(), reflector.start());
  }

  @Override
  public void leadershipStarted() {
    enqueueAll();
  }

  @Override
  public void enqueue(ObjectKey job) {
    queue.enqueue(job);
  }

  @Override
  public Duration longestHandling() {
    Duration queued = queue.longestHandling();
    Duration finalized = finalizing.longestHandling();
    return queued.compareTo(finalized) > 0 ? queued : finalized;
  }

  @Override
  public void close() {
    unlisten.run();
    reflector.close();
    referenced.close();
    queue.close();
    finalizing.close();
  }

  @Override
  public void synced() {
    workloadsSynced = true;
    enqueueAll();
  }

  /** Enqueues the jobs of some namespaces. */
  private void enqueueIn(Predicate<String> namespaces) {
    jobs.all()
        .filter(job -> namespaces.test(job.ref().namespace()))
        .forEach(job -> enqueue(key(job)));
  }

  private void enqueueAll() {
    jobs.all().forEach(job -> enqueue(key(job)));
    workloads.all().forEach(this::enqueueIfFinalizing);
  }

  /**
   * Writes need the lease, and all Workloads in the cache: without them every running job would
   * look like a job that was started without quota.
   */
  private boolean mayAct() {
    return workloadsSynced && leading.getAsBoolean();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload workload = after == null ? Objects.requireNonNull(before) : after;
    orphanedWorkloads
        .owner(workload)
        .ifPresent(owner -> enqueue(new ObjectKey(workload.id().namespace(), owner.name())));
    if (after != null) {
      enqueueIfFinalizing(after);
    }
  }

  private void enqueueIfFinalizing(CachedWorkload workload) {
    if (orphanedWorkloads.concerns(workload)) {
      finalizing.enqueue(new ObjectKey(workload.id().namespace(), workload.id().name()));
    }
  }

  private static ObjectKey key(CachedJob job) {
    return new ObjectKey(job.ref().namespace(), job.ref().name());
  }

  /** Called on the reflector's thread. */
  private void jobChanged(@Nullable CachedJob before, @Nullable CachedJob after) {
    registry.changed(before, after);
    if (before != null && (after == null || !uid(before).equals(uid(after)))) {
      jobDeleted(before);
    }
    if (after != null
        && (ownerChainResolver.concerns(after) || reconciler.concerns(after))
        // any change of an elastic job may mean that it has other pods than before
        && (before == null || after.isElastic() || !looksTheSame(after, before))) {
      enqueue(key(after));
    }
  }

  private void jobDeleted(CachedJob job) {
    if (ownerChainResolver.concerns(job)) {
      deleted.compute(
          key(job),
          (key, known) -> {
            Map<String, CachedJob> sameName = known == null ? new ConcurrentHashMap<>() : known;
            sameName.put(job.ref().uid(), job);
            return sameName;
          });
      enqueue(key(job));
    }
  }

  private static String uid(CachedJob job) {
    return job.ref().uid();
  }

  /** Whether two versions of a job lead to the same decisions. */
  private static boolean looksTheSame(CachedJob now, CachedJob before) {
    return now.ref().equals(before.ref())
        && now.deleting() == before.deleting()
        && now.state().equals(before.state())
        && now.labels().equals(before.labels())
        && now.annotations().equals(before.annotations())
        && now.controller().equals(before.controller())
        && now.podSets().equals(before.podSets());
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    if (!mayAct()) {
      deleted.remove(key);
      return Optional.empty();
    }
    Optional<Duration> unreleased = releaseDeleted(key);
    Optional<CachedJob> job = jobs.find(key.namespace(), key.name());
    if (job.isEmpty()) {
      return unreleased;
    }
    Optional<Duration> again = reconciler.reconcile(referenced.refreshed(job.get()));
    return Stream.concat(unreleased.stream(), again.stream()).min(Comparator.naturalOrder());
  }

  /** Returns when to try again if the Workloads of a deleted job could not be released. */
  private Optional<Duration> releaseDeleted(ObjectKey key) throws InterruptedException {
    Optional<Duration> again = Optional.empty();
    Map<String, CachedJob> gone = deleted.getOrDefault(key, Map.of());
    for (CachedJob job : gone.values()) {
      Optional<Duration> delay = reconciler.gone(job);
      if (delay.isEmpty()) {
        gone.remove(job.ref().uid());
      } else {
        again = delay;
      }
    }
    deleted.computeIfPresent(key, (same, left) -> left.isEmpty() ? null : left);
    return again;
  }

  /**
   * Removes the finalizer of Workloads that are being deleted and whose job doesn't exist any more.
   * A job that exists removes it by its own reconciliation.
   */
  private static final class OrphanedWorkloads {

    private final JobKind kind;
    private final Store<CachedJob> jobs;
    private final JobReconciler.Dependencies dependencies;
    private final WorkloadReleaser releaser;

    /** For Workloads of jobs of a kind. */
    OrphanedWorkloads(
        JobKind kind, Store<CachedJob> jobs, JobReconciler.Dependencies dependencies) {
      this.kind = kind;
      this.jobs = jobs;
      this.dependencies = dependencies;
      this.releaser = new WorkloadReleaser(dependencies.writer());
    }

    /** Whether a Workload belongs to a job of the kind, is being deleted and has the finalizer. */
    boolean concerns(CachedWorkload workload) {
      return workload.deleting() && workload.finalized() && owner(workload).isPresent();
    }

    /** The job of the kind that owns a Workload, if one does. */
    Optional<CachedWorkload.Owner> owner(CachedWorkload workload) {
      return workload.owner().filter(owner -> kind.is(owner.apiVersion(), owner.kind()));
    }

    /**
     * Removes the finalizer of a Workload unless its job exists.
     *
     * @return the delay after which to try again; empty if nothing is left to do
     */
    Optional<Duration> removeFinalizer(ObjectKey key) throws InterruptedException {
      Optional<CachedWorkload> found =
          dependencies.workloads().store().get(key.namespace(), key.name()).filter(this::concerns);
      if (found.isEmpty()) {
        return Optional.empty();
      }
      CachedWorkload workload = found.get();
      CachedWorkload.Owner owner = owner(workload).orElseThrow();
      boolean cached =
          jobs.find(key.namespace(), owner.name())
              .filter(job -> job.ref().uid().equals(owner.uid()))
              .isPresent();
      if (cached || exists(key.namespace(), owner)) {
        return Optional.empty();
      }
      return releaser.release(workload, "its " + owner.kind() + " is gone");
    }

    private boolean exists(String namespace, CachedWorkload.Owner owner)
        throws InterruptedException {
      Optional<ObjectNode> job =
          Futures.forResult(dependencies.objects().read(kind.path(namespace, owner.name())));
      return job.filter(found -> found.path("metadata").path("uid").asText().equals(owner.uid()))
          .isPresent();
    }
  }

  /** Finds jobs of the kind, and what they refer to. */
  private record ResolvingFinder(Store<CachedJob> jobs, ReferencedObjects referenced)
      implements IntegrationRegistry.Finder {

    @Override
    public Optional<CachedJob> find(String namespace, String job) {
      return jobs.find(namespace, job);
    }

    @Override
    public JsonNode resolved(JsonNode job) {
      return referenced.resolved(job);
    }
  }

  /**
   * The objects that jobs of one kind refer to: watches them, and hands their specs to the
   * integration. Does nothing for a kind whose jobs refer to no others. Readable from any thread.
   */
  private static final class ReferencedObjects implements AutoCloseable {

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

  /**
   * Tells people at the job what the admission checks say that it waits for, whenever that changes.
   * Of a group of pods, which nobody controls, the first pod is told.
   */
  public static final class AdmissionCheckEvents implements WorkloadListener {

    private final JobKind kind;
    private final JobEvents events;
    private final BooleanSupplier leading;

    /** For jobs of a kind; {@code leading} says whether this process may tell, when asked. */
    public AdmissionCheckEvents(JobKind kind, JobEvents events, BooleanSupplier leading) {
      this.kind = kind;
      this.events = events;
      this.leading = leading;
    }

    @Override
    public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
      if (before == null || after == null || !after.quotaReserved() || after.admitted()) {
        return;
      }
      List<CheckState> now = after.status().admissionChecks();
      if (now.isEmpty() || now.equals(before.status().admissionChecks())) {
        return;
      }
      String text = text(now);
      Stream<Owner> owners =
          after.owner().isPresent() ? after.owner().stream() : after.coOwners().stream();
      Optional<JobRef> job =
          owners
              .filter(owner -> kind.is(owner.apiVersion(), owner.kind()))
              .findFirst()
              .map(owner -> new JobRef(kind, after.id().namespace(), owner.name(), owner.uid()));
      if (job.isPresent()
          && !text.isEmpty()
          && !text.equals(text(before.status().admissionChecks()))
          && leading.getAsBoolean()) {
        events.normal(job.get(), "UpdatedAdmissionCheck", text);
      }
    }

    /** What those say that are Pending. */
    private static String text(List<CheckState> checks) {
      return checks.stream()
          .filter(check -> check.is(CheckState.PENDING) && !check.message().isEmpty())
          .map(check -> check.name() + ": " + check.message())
          .collect(Collectors.joining("; "));
    }
  }
}
