package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.controller.JobClient;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays the API server for reconcilers of jobs: keeps objects by path, applies guarded merge
 * patches to them and records every call. A test can script the answers to the next writes.
 */
public final class ScriptedApi
    implements JobClient, WorkloadReader, WorkloadWriter, WorkloadLister {

  /** The objects by path. */
  public final Map<String, ObjectNode> objects = new HashMap<>();

  /** The Workloads in the cache. */
  public final List<CachedWorkload> cached = new ArrayList<>();

  /** Writes and refreshes in order, one line each. */
  public final List<String> calls = new ArrayList<>();

  /** The version that each write of a job is guarded by, in order. */
  public final List<Long> versions = new ArrayList<>();

  /** Events in order: the type, the reason. */
  public final List<String> events = new ArrayList<>();

  /** The time from each job's creation to that of its Workload. */
  public final List<Duration> creationLatencies = new ArrayList<>();

  /** The answers to the next writes of jobs; afterwards writes succeed. */
  public final Deque<ApiOutcome> jobAnswers = new ArrayDeque<>();

  /** The answers to the next writes of Workloads; afterwards writes succeed. */
  public final Deque<WorkloadWriter.Outcome> workloadAnswers = new ArrayDeque<>();

  /** The part of their budget that writes without hurry may use. */
  public double leisure = 1;

  /** What is wrong with every Workload that is validated. */
  public List<String> invalid = List.of();

  /** What the clock says. */
  public Instant now = GivenCluster.NOW;

  /** The status of the last write of a Workload's status. */
  public JsonNode lastStatus = MissingNode.getInstance();

  /** The dependencies of a reconciler that works with this API server. */
  public JobReconciler.Dependencies dependencies() {
    GivenCluster cluster = GivenCluster.cluster();
    return new JobReconciler.Dependencies(
        this,
        this,
        this,
        cluster,
        cluster,
        new JobEvents() {
          @Override
          public void normal(JobRef job, String reason, String note) {
            events.add("Normal " + reason);
          }

          @Override
          public void warning(JobRef job, String reason, String note) {
            events.add("Warning " + reason);
          }

          @Override
          public void workloadCreated(JobRef job, String localQueue, Duration sinceJobCreation) {
            creationLatencies.add(sinceJobCreation);
          }
        },
        () -> now,
        workload -> invalid,
        () -> leisure);
  }

  /** What controllers of jobs work with here: nothing is watched, and tasks run at once. */
  public JobControllerContext context(KubernetesClient client, IntegrationRegistry registry) {
    JobOptions options = JobOptions.defaults("kueue-system");
    return new JobControllerContext(
        new Reflectors(client, () -> Instant.EPOCH, new Random(1), new ReadErrorLog()),
        options,
        registry,
        new OwnerChainResolver(options, this, registry),
        (job, workload) -> false,
        (job, workload) -> false,
        dependencies(),
        new WorkQueueSettings(
            Runnable::run,
            (delay, task) -> {},
            () -> 0,
            1,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            GroupKindConcurrency.NONE),
        () -> true);
  }

  /** Stores a job. */
  public void store(GivenJob job) {
    JobRef ref = job.view().ref();
    objects.put(ref.kind().path(ref.namespace(), ref.name()), job.object().deepCopy());
  }

  /** A stored job as it is now. */
  public JsonNode stored(JobRef job) {
    @Nullable ObjectNode object = objects.get(job.kind().path(job.namespace(), job.name()));
    if (object == null) {
      throw new AssertionError(job + " is not stored");
    }
    return object;
  }

  @Override
  public CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch) {
    versions.add(version);
    calls.add((patch.ofStatus() ? "patch status of " : "patch ") + job + " " + patch.body());
    String path = job.kind().path(job.namespace(), job.name());
    ObjectNode object = objects.get(path);
    if (!jobAnswers.isEmpty()) {
      return CompletableFuture.completedFuture(jobAnswers.remove());
    }
    if (object == null) {
      return CompletableFuture.completedFuture(new ApiOutcome.Gone());
    }
    long present = object.path("metadata").path("resourceVersion").asLong();
    if (version != ANY_VERSION && present != version) {
      return CompletableFuture.completedFuture(new ApiOutcome.Conflict());
    }
    ObjectNode now = JsonMergePatch.applied(object, patch.body());
    now.withObjectProperty("metadata").put("resourceVersion", Long.toString(present + 1));
    objects.put(path, now);
    return CompletableFuture.completedFuture(new ApiOutcome.Written(now));
  }

  @Override
  public CompletableFuture<ApiOutcome> delete(JobRef job) {
    calls.add("delete " + job);
    if (!jobAnswers.isEmpty()) {
      return CompletableFuture.completedFuture(jobAnswers.remove());
    }
    ObjectNode object = objects.remove(job.kind().path(job.namespace(), job.name()));
    return CompletableFuture.completedFuture(
        object == null ? new ApiOutcome.Gone() : new ApiOutcome.Written(object));
  }

  @Override
  public CompletableFuture<ApiOutcome> create(String collection, ObjectNode object) {
    String name = object.path("metadata").path("name").asText();
    calls.add("create " + object.path("kind").asText() + " " + name);
    if (!jobAnswers.isEmpty()) {
      return CompletableFuture.completedFuture(jobAnswers.remove());
    }
    return CompletableFuture.completedFuture(
        objects.putIfAbsent(collection + "/" + name, object) == null
            ? new ApiOutcome.Written(object)
            : new ApiOutcome.Conflict());
  }

  @Override
  public CompletableFuture<ApiOutcome> delete(String path, String uid) {
    calls.add("delete " + path.substring(path.lastIndexOf('/') + 1) + " of UID " + uid);
    ObjectNode object = objects.remove(path);
    return CompletableFuture.completedFuture(
        object == null ? new ApiOutcome.Gone() : new ApiOutcome.Written(object));
  }

  @Override
  public CompletableFuture<Optional<ObjectNode>> read(String path) {
    return CompletableFuture.completedFuture(Optional.ofNullable(objects.get(path)));
  }

  @Override
  public void list(String path, Consumer<JsonNode> each) {
    Optional.ofNullable(objects.get(path))
        .orElseThrow(() -> new IllegalStateException(path + " not read"))
        .path("items")
        .forEach(each);
  }

  private CompletableFuture<WorkloadWriter.Outcome> write(String call) {
    calls.add(call);
    return CompletableFuture.completedFuture(
        workloadAnswers.isEmpty()
            ? new WorkloadWriter.Outcome.Written(201)
            : workloadAnswers.remove());
  }

  @Override
  public CompletableFuture<WorkloadWriter.Outcome> patchStatus(
      WorkloadId id, long version, JsonNode status, Urgency urgency) {
    lastStatus = status;
    return write("patch status of Workload " + id.name());
  }

  @Override
  public CompletableFuture<WorkloadWriter.Outcome> patch(
      WorkloadId id, long version, JsonNode patch) {
    return write("patch Workload " + id.name());
  }

  @Override
  public CompletableFuture<WorkloadWriter.Outcome> create(String namespace, JsonNode workload) {
    return write("create Workload " + workload.path("metadata").path("name").asText());
  }

  @Override
  public CompletableFuture<WorkloadWriter.Outcome> delete(WorkloadId id) {
    return write("delete Workload " + id.name());
  }

  @Override
  public void listen(WorkloadListener listener) {}

  @Override
  public void unlisten(WorkloadListener listener) {}

  @Override
  public CompletableFuture<Void> start() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> caughtUp() {
    calls.add("catch up");
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> refresh(String namespace, String name) {
    calls.add("refresh Workload " + name);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public WorkloadLister store() {
    return this;
  }

  @Override
  public void close() {}

  @Override
  public Optional<CachedWorkload> get(String namespace, String name) {
    return cached.stream().filter(workload -> workload.id().name().equals(name)).findFirst();
  }

  @Override
  public Collection<CachedWorkload> ownedBy(String ownerUid) {
    return cached.stream()
        .filter(it -> it.owner().filter(owner -> owner.uid().equals(ownerUid)).isPresent())
        .toList();
  }

  @Override
  public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
    return List.of();
  }

  @Override
  public Collection<CachedWorkload> reservingIn(String clusterQueue) {
    return List.of();
  }

  @Override
  public Iterable<CachedWorkload> all() {
    return List.copyOf(cached);
  }

  @Override
  public int size() {
    return cached.size();
  }
}
