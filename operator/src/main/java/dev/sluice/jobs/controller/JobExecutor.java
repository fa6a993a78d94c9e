package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Ticker;
import com.google.common.cache.CacheBuilder;
import dev.sluice.jobs.controller.JobReconciler.WorkloadValidation;
import dev.sluice.jobs.controller.PodGroupIndex.PodGroupMaker;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.AddOwners;
import dev.sluice.jobs.policy.JobAction.Annotate;
import dev.sluice.jobs.policy.JobAction.AssignQueue;
import dev.sluice.jobs.policy.JobAction.Attempt;
import dev.sluice.jobs.policy.JobAction.CreateSlice;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.jobs.policy.JobAction.OpenGates;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchStatusSoon;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.ResizeSlice;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.SlicePolicy;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ConflictBackoff;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.WorkloadFinalizer;
import dev.sluice.workload.writing.WorkloadWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the actions that were decided for a job, records events, and remembers its writes
 * until the caches show them. Usable from any thread, for one job by one thread at a time.
 */
public final class JobExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(JobExecutor.class);
  private static final Duration UNTIL_SETTLED = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  private static final Duration MUCH_LATER = Duration.ofMinutes(10);

  /** The status code of an object that its schema, or a policy of the cluster, doesn't allow. */
  private static final int UNPROCESSABLE = 422;

  private static final Duration MEMORY = Duration.ofMinutes(10);

  /** How long a job's own controller may take to observe that the job is suspended. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

  private final WorkloadWriter writer;
  private final JobClient objects;
  private final JobStopper stopper;
  private final JobEvents events;
  private final WorkloadValidation validation;
  private final SliceExecutor slices;
  private final PodGroupMaker podGroupMaker;
  private final InstantSource clock;
  private final DoubleSupplier leisure;
  private final Expectations expectations;
  private final ConflictBackoff<String> conflicts = new ConflictBackoff<>();
  private final WorkloadLister workloads;

  /** Since when a write about a job is postponed, by its UID. */
  private final Map<String, Instant> postponed;

  /** Since when the controller of a job that is stopped is waited for, by its UID. */
  private final Map<String, Instant> stopping;

  /** An executor for jobs of the adapter's kind. */
  public JobExecutor(JobIntegration integration, JobReconciler.Dependencies dependencies) {
    this.writer = dependencies.writer();
    this.objects = dependencies.objects();
    this.events = dependencies.events();
    this.validation = dependencies.validation();
    this.workloads = dependencies.workloads().store();
    this.clock = dependencies.clock();
    this.postponed = times(clock);
    this.stopping = times(clock);
    this.leisure = dependencies.leisure();
    this.expectations = new Expectations(clock);
    this.stopper = new JobStopper(integration, dependencies.objects(), clock);
    this.podGroupMaker = new PodGroupMaker(dependencies.objects());
    this.slices =
        new SliceExecutor(new PodGates(integration, dependencies.objects(), events), this, events);
  }

  /** Times by UID; those that nobody asks for are forgotten: their jobs went unnoticed. */
  private static Map<String, Instant> times(InstantSource clock) {
    return CacheBuilder.newBuilder()
        .concurrencyLevel(1)
        .expireAfterAccess(MEMORY)
        .ticker(
            new Ticker() {
              @Override
              public long read() {
                return TimeUnit.MILLISECONDS.toNanos(clock.millis());
              }
            })
        .<String, Instant>build()
        .asMap();
  }

  /** Of how many jobs a write is postponed, or the controller waited for. */
  int waiting() {
    return postponed.size() + stopping.size();
  }

  /** Whether the caches don't show yet all that was written for this job. */
  public boolean unseen(CachedJob job) {
    return expectations.unseen(job, workloads);
  }

  /** Forgets a job that is deleted. */
  public void forget(JobRef job) {
    expectations.forget(job.uid());
    conflicts.reset(job.uid());
    postponed.remove(job.uid());
    stopping.remove(job.uid());
    slices.forget(job.uid());
  }

  /**
   * Carries out the actions in order, and ends with the first that doesn't succeed, except an
   * {@link Attempt}.
   *
   * @return the delay after which to reconcile the job again; empty if none is needed
   */
  public Optional<Duration> execute(CachedJob job, List<JobAction> actions)
      throws InterruptedException {
    Optional<Duration> again = inOrder(job, actions);
    if (again.isEmpty()) {
      conflicts.reset(job.ref().uid());
    }
    return again;
  }

  private Optional<Duration> inOrder(CachedJob job, List<JobAction> actions)
      throws InterruptedException {
    Optional<Duration> again = Optional.empty();
    for (JobAction action : actions) {
      Optional<Duration> after = execute(job, action);
      again = WorkQueue.earliest(again, after);
      boolean ends = action instanceof Attempt ? unseen(job) : after.isPresent();
      if (ends) {
        return again;
      }
    }
    return again;
  }

  /**
   * Carries out actions of which each is about another Workload: one that doesn't succeed ends none
   * of the others. But no further Workload is created then: what refused one, such as the
   * namespace's limit of objects, refuses the next ones of the same job.
   *
   * @return the shortest delay after which to reconcile the job again; empty if none is needed
   */
  public Optional<Duration> executeEach(CachedJob job, List<JobAction> actions)
      throws InterruptedException {
    Optional<Duration> shortest = Optional.empty();
    boolean creates = true;
    Set<Warn> told = new HashSet<>();
    for (JobAction action : actions) {
      boolean creation = action instanceof CreateWorkload;
      if ((creation && !creates) || (action instanceof Warn warn && !told.add(warn))) {
        continue;
      }
      Optional<Duration> again = execute(job, action);
      creates = creates && !(creation && again.isPresent());
      shortest = WorkQueue.earliest(shortest, again);
    }
    if (shortest.isEmpty()) {
      conflicts.reset(job.ref().uid());
    }
    return shortest;
  }

  /**
   * Ends the waiting times of the job that became moot, so that the next ones begin anew: that of
   * readiness, which is the one write that is postponed, when its pods aren't ready any more; that
   * of a stop when none is decided.
   */
  void forgetMoot(CachedJob job, List<JobAction> actions) {
    String uid = job.ref().uid();
    if (!job.state().podsReady()) {
      postponed.remove(uid);
    }
    if (actions.stream().noneMatch(Stop.class::isInstance)) {
      stopping.remove(uid);
    }
  }

  private Optional<Duration> execute(CachedJob job, JobAction action) throws InterruptedException {
    return switch (action) {
      case CreateWorkload create -> create(job, create.workload());
      case PatchWorkload patch -> rewrite(job, patch);
      case PatchStatus patch ->
          status(job, patch.workload(), patch.status(), patch.change(), "", "");
      case PatchStatusSoon soon -> soon(job, soon);
      case Attempt attempt -> inOrder(job, attempt.steps());
      case CreateSlice create -> slices.create(job, create);
      case ResizeSlice resize -> slices.resize(job, resize);
      case OpenGates open -> slices.open(job, open);
      case Annotate annotate -> write(job, annotate.patch(), "annotated: " + annotate.what(), "");
      case FinishWorkload finish when finish.reason().equals(SlicePolicy.REPLACED) -> {
        Optional<Duration> again = finish(job, finish);
        if (again.isEmpty()) {
          slices.replaced(finish);
        }
        yield again;
      }
      case FinishWorkload finish -> finish(job, finish);
      case DeleteWorkload delete -> delete(job, delete);
      case DeleteJob delete -> deleteJob(job, delete);
      case AddOwners add -> addOwners(job, add);
      case RemoveFinalizer remove -> removeFinalizer(job, remove.workload());
      case RemoveFinalizers release -> write(job, release.patch(), "released", "");
      case AssignQueue assign ->
          write(
              job,
              assign.patch(),
              "queued",
              "Belongs to LocalQueue " + job.ref().namespace() + "/" + assign.queue());
      case MakePodGroup make -> makePodGroup(job, make);
      case Start start -> start(job, start);
      case Stop stop -> stop(job, stop);
      case Warn warn -> {
        events.warning(job.ref(), warn.reason(), warn.note());
        yield Optional.empty();
      }
      case Requeue again -> Optional.of(again.after());
    };
  }

  /**
   * Waits the first time that this is decided, and writes when the time is over: the later, the
   * more the API server has to do.
   */
  private Optional<Duration> soon(CachedJob job, PatchStatusSoon soon) throws InterruptedException {
    Instant now = clock.instant();
    Instant first = postponed.computeIfAbsent(job.ref().uid(), any -> now);
    Instant due = first.plusMillis(Math.round(soon.within().toMillis() / leisure.getAsDouble()));
    // A clock that was set back doesn't make anybody wait for longer.
    if (now.isBefore(due) && !now.isBefore(first)) {
      return Optional.of(Duration.between(now, due));
    }
    postponed.remove(job.ref().uid());
    return execute(job, soon.write().apply(first));
  }

  private Optional<Duration> finish(CachedJob job, FinishWorkload finish)
      throws InterruptedException {
    postponed.remove(job.ref().uid());
    return status(
        job,
        finish.workload(),
        finish.status(),
        "finished, reason=" + finish.reason(),
        "FinishedWorkload",
        "Workload " + finish.workload().id() + " is finished: " + finish.reason());
  }

  Optional<Duration> create(CachedJob job, ObjectNode workload) throws InterruptedException {
    String namespace = job.ref().namespace();
    String name = workload.path("metadata").path("name").asText();
    List<String> errors = validation.errors(workload);
    if (!errors.isEmpty()) {
      tellInvalid(job, "created", String.join("; ", errors));
      return Optional.empty();
    }
    return switch (Futures.forResult(writer.create(namespace, workload))) {
      case Outcome.Written written -> {
        expectations.created(job.ref(), name, written.version());
        LOG.info("job=\"{}\" workload={}/{} created", job.ref(), namespace, name);
        events.normal(job.ref(), "CreatedWorkload", "Created Workload: " + namespace + "/" + name);
        if (job.generation() <= 1) {
          events.workloadCreated(
              job.ref(),
              workload.path("spec").path("queueName").asText(),
              Duration.between(job.createdAt(), clock.instant()));
        }
        yield Optional.empty();
      }
      case Outcome.Conflict conflict -> Optional.of(conflicts.next(job.ref().uid()));
      case Outcome.Gone gone -> Optional.of(LATER);
      case Outcome.Refused refused -> {
        tellInvalid(job, "created", refused.message());
        yield afterRefusal(refused);
      }
    };
  }

  /**
   * Tells that a job has pod sets, or annotations, of which no Workload can be made. The job is
   * looked at again when it changes.
   */
  private void tellInvalid(CachedJob job, String change, String message) {
    LOG.warn("job=\"{}\" workload not {}, reason=\"{}\"", job.ref(), change, message);
    events.warning(job.ref(), "ErrWorkloadCompose", message);
  }

  /**
   * What the schema refuses is refused again until the job changes; but policies of the cluster
   * refuse with the same code, and the job isn't told when they change.
   */
  private static Optional<Duration> afterRefusal(Outcome.Refused refused) {
    return Optional.of(refused.code() == UNPROCESSABLE ? MUCH_LATER : LATER);
  }

  /** Changes a Workload, if its pod sets are valid afterwards. */
  private Optional<Duration> rewrite(CachedJob job, PatchWorkload patch)
      throws InterruptedException {
    if (!patch.patch().path("spec").has("podSets")) {
      return patch(job, patch);
    }
    List<String> errors = validation.errors(patch.patch());
    if (!errors.isEmpty()) {
      tellInvalid(job, "updated", String.join("; ", errors));
      return Optional.empty();
    }
    Outcome outcome = send(patch);
    if (outcome instanceof Outcome.Refused refused) {
      tellInvalid(job, "updated", refused.message());
      return afterRefusal(refused);
    }
    return updated(job, patch, outcome);
  }

  Optional<Duration> patch(CachedJob job, PatchWorkload patch) throws InterruptedException {
    return updated(job, patch, send(patch));
  }

  private Outcome send(PatchWorkload patch) throws InterruptedException {
    CachedWorkload workload = patch.workload();
    return Futures.forResult(writer.patch(workload.id(), workload.version(), patch.patch()));
  }

  private Optional<Duration> updated(CachedJob job, PatchWorkload patch, Outcome outcome) {
    return done(job, patch.workload(), outcome, "updated", "UpdatedWorkload", patch.note());
  }

  private Optional<Duration> addOwners(CachedJob job, AddOwners add) throws InterruptedException {
    CachedWorkload workload = add.workload();
    Outcome outcome =
        Futures.forResult(writer.patch(workload.id(), workload.version(), add.patch()));
    if (outcome instanceof Outcome.Written) {
      JobRef subject =
          new JobRef(
              JobKind.WORKLOAD,
              workload.id().namespace(),
              workload.id().name(),
              workload.id().uid());
      events.normal(subject, "OwnerReferencesAdded", add.note());
    }
    return done(job, workload, outcome, "has more owners", "", "");
  }

  private Optional<Duration> status(
      CachedJob job,
      CachedWorkload workload,
      JsonNode status,
      String change,
      String event,
      String note)
      throws InterruptedException {
    CompletableFuture<Outcome> written =
        writer.patchStatus(
            workload.id(), workload.version(), status, WorkloadWriter.Urgency.DECISION);
    return done(job, workload, Futures.forResult(written), change, event, note);
  }

  private Optional<Duration> delete(CachedJob job, DeleteWorkload delete)
      throws InterruptedException {
    Outcome outcome = Futures.forResult(writer.delete(delete.workload().id()));
    return done(
        job,
        delete.workload(),
        outcome,
        "deleted, reason=\"" + delete.why() + "\"",
        "DeletedWorkload",
        delete.why().equals(JobAction.DeleteWorkload.NOT_MATCHING)
            ? "Deleted not matching Workload: " + delete.workload().id()
            : "Deleted Workload " + delete.workload().id() + ": " + delete.why());
  }

  private Optional<Duration> deleteJob(CachedJob job, DeleteJob delete)
      throws InterruptedException {
    return switch (Futures.forResult(objects.delete(job.ref()))) {
      case ApiOutcome.Written written -> {
        LOG.info("job=\"{}\" deleted, reason={}", job.ref(), delete.reason());
        events.normal(job.ref(), delete.reason(), delete.note());
        yield Optional.empty();
      }
      case ApiOutcome.Conflict conflict -> Optional.empty();
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      case ApiOutcome.Refused refused -> {
        refused(job, "deleted", refused.message());
        yield Optional.of(LATER);
      }
    };
  }

  private Optional<Duration> removeFinalizer(CachedJob job, CachedWorkload workload)
      throws InterruptedException {
    ObjectNode patch = WorkloadFinalizer.removal(workload);
    Outcome outcome = Futures.forResult(writer.patch(workload.id(), workload.version(), patch));
    return done(job, workload, outcome, "released", "", "");
  }

  /** Patches the job itself, and tells people of it if there is a note. */
  private Optional<Duration> write(CachedJob job, JobPatch patch, String change, String note)
      throws InterruptedException {
    return switch (Futures.forResult(objects.patch(job.ref(), job.version(), patch))) {
      case ApiOutcome.Written written -> {
        expectations.job(
            job.ref(), written.object().path("metadata").path("resourceVersion").asLong());
        LOG.info("job=\"{}\" {}", job.ref(), change);
        if (!note.isEmpty()) {
          events.normal(job.ref(), "QueueAssigned", note);
        }
        yield Optional.empty();
      }
      case ApiOutcome.Conflict conflict -> Optional.of(conflicts.next(job.ref().uid()));
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      case ApiOutcome.Refused refused -> {
        refused(job, change, refused.message());
        yield Optional.of(LATER);
      }
    };
  }

  private Optional<Duration> done(
      CachedJob job,
      CachedWorkload workload,
      Outcome outcome,
      String change,
      String event,
      String note) {
    return switch (outcome) {
      case Outcome.Written written -> {
        expectations.changed(job.ref(), workload.id().name(), written.version());
        LOG.info("job=\"{}\" workload={} {}", job.ref(), workload.id(), change);
        if (!event.isEmpty() && !note.isEmpty()) {
          events.normal(job.ref(), event, note);
        }
        yield Optional.empty();
      }
      case Outcome.Conflict conflict -> Optional.of(conflicts.next(job.ref().uid()));
      case Outcome.Gone gone -> Optional.empty();
      case Outcome.Refused refused -> {
        LOG.warn(
            "job=\"{}\" workload={} not {}, reason=\"{}\"",
            job.ref(),
            workload.id(),
            change,
            refused.message());
        yield Optional.of(LATER);
      }
    };
  }

  private Optional<Duration> makePodGroup(CachedJob job, MakePodGroup make)
      throws InterruptedException {
    return switch (podGroupMaker.make(make)) {
      case PodGroupMaker.Result.Made made -> Optional.empty();
      case PodGroupMaker.Result.InProgress wait -> Optional.of(UNTIL_SETTLED);
      case PodGroupMaker.Result.Refused refused -> {
        refused(job, "started", refused.why());
        yield Optional.of(LATER);
      }
    };
  }

  private Optional<Duration> start(CachedJob job, Start start) throws InterruptedException {
    long version = job.version();
    JsonNode started = job.object();
    for (JobPatch patch : start.patches()) {
      switch (Futures.forResult(objects.patch(job.ref(), version, patch))) {
        case ApiOutcome.Written written -> {
          started = written.object();
          version = started.path("metadata").path("resourceVersion").asLong();
        }
        case ApiOutcome.Conflict conflict -> {
          return Optional.of(conflicts.next(job.ref().uid()));
        }
        case ApiOutcome.Gone gone -> {
          return Optional.empty();
        }
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
        case ApiOutcome.Refused refused -> {
          if (!job.state().settled()) {
            LOG.debug("job=\"{}\" not settled, reason=\"{}\"", job.ref(), refused.message());
            return Optional.of(UNTIL_SETTLED);
          }
          refused(job, "started", refused.message());
          return Optional.of(LATER);
        }
      }
    }
    expectations.job(job.ref(), version);
    LOG.info(
        "job=\"{}\" workload={} started, reason=\"{}\"",
        job.ref(),
        start.workload().id(),
        start.note());
    events.normal(job.ref(), "Started", start.note());
    List<String> left = PodGates.names(started);
    PodGates.names(job.object()).stream()
        .filter(gate -> !left.contains(gate))
        .forEach(gate -> events.gateRemoved(start.workload(), gate));
    return Optional.empty();
  }

  private Optional<Duration> stop(CachedJob job, Stop stop) throws InterruptedException {
    String uid = job.ref().uid();
    Instant now = clock.instant();
    Instant until = stopping.getOrDefault(uid, now).plus(STOP_PATIENCE);
    return switch (stopper.stop(job, stop, now.isBefore(until))) {
      case JobStopper.Result.InProgress wait -> {
        stopping.putIfAbsent(uid, now);
        yield Optional.of(now.isBefore(until) ? Duration.between(now, until) : conflicts.next(uid));
      }
      case JobStopper.Result.Stopped stopped -> {
        stopping.remove(uid);
        expectations.job(job.ref(), stopped.version());
        LOG.info("job=\"{}\" stopped, reason={}", job.ref(), stop.reason().word());
        boolean ofOwner = stop.reason() == StopReason.OWNER_NOT_ADMITTED;
        events.normal(job.ref(), ofOwner ? "Suspended" : "Stopped", stop.note());
        yield Optional.empty();
      }
      case JobStopper.Result.Requeue again -> Optional.of(conflicts.next(uid));
      case JobStopper.Result.Refused refused -> {
        refused(job, "stopped", refused.message());
        yield Optional.of(LATER);
      }
      case JobStopper.Result.Gone gone -> Optional.empty();
    };
  }

  /** Tells of a write that the API server refuses, an admission policy for example. */
  private void refused(CachedJob job, String change, String message) {
    LOG.warn("job=\"{}\" not {}, reason=\"{}\"", job.ref(), change, message);
    events.warning(job.ref(), "WriteRefused", "Not " + change + ": " + message);
  }

  /**
   * Remembers what was written until the caches show it, so that nothing is decided twice from what
   * was known before. A write that is not seen within some seconds is forgotten.
   */
  private static final class Expectations {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Map<String, Expected> byJobUid = new ConcurrentHashMap<>();
    private final InstantSource clock;
    private final AtomicReference<Instant> nextSweep;

    Expectations(InstantSource clock) {
      this.clock = clock;
      this.nextSweep = new AtomicReference<>(clock.instant());
    }

    private record Expected(
        long jobVersion, String workload, long workloadVersion, boolean created, Instant until) {}

    /** The job was written: this version or a later one will come. */
    void job(JobRef job, long version) {
      sweep();
      byJobUid.merge(
          job.uid(),
          new Expected(version, "", 0, false, clock.instant().plus(PATIENCE)),
          (old, now) ->
              new Expected(
                  version, old.workload(), old.workloadVersion(), old.created(), now.until()));
    }

    /** A Workload of the job was created, in this version. */
    void created(JobRef job, String workload, long version) {
      workload(job, workload, version, true);
    }

    /** A Workload of the job was changed: this version or a later one will come, or it will go. */
    void changed(JobRef job, String workload, long version) {
      workload(job, workload, version, false);
    }

    private void workload(JobRef job, String workload, long version, boolean created) {
      sweep();
      byJobUid.merge(
          job.uid(),
          new Expected(0, workload, version, created, clock.instant().plus(PATIENCE)),
          (old, now) -> new Expected(old.jobVersion(), workload, version, created, now.until()));
    }

    /** Whether something written for this job can't be seen yet. */
    boolean unseen(CachedJob job, WorkloadLister store) {
      Expected expected = byJobUid.get(job.ref().uid());
      if (expected == null) {
        return false;
      }
      Instant now = clock.instant();
      boolean overdue =
          now.isAfter(expected.until()) || now.isBefore(expected.until().minus(PATIENCE));
      if (overdue || (jobSeen(job, expected) && workloadSeen(job, expected, store))) {
        byJobUid.remove(job.ref().uid());
        return false;
      }
      return true;
    }

    private static boolean jobSeen(CachedJob job, Expected expected) {
      return job.version() >= expected.jobVersion();
    }

    private static boolean workloadSeen(CachedJob job, Expected expected, WorkloadLister store) {
      if (expected.workload().isEmpty()) {
        return true;
      }
      Optional<CachedWorkload> known = store.get(job.ref().namespace(), expected.workload());
      return known
          .map(workload -> workload.version() >= expected.workloadVersion())
          .orElse(!expected.created());
    }

    /** Drops what nobody asked for any more: of jobs that went before their write was noted. */
    private void sweep() {
      Instant now = clock.instant();
      Instant due = nextSweep.get();
      if (now.isAfter(due) && nextSweep.compareAndSet(due, now.plus(PATIENCE))) {
        byJobUid.values().removeIf(expected -> now.isAfter(expected.until()));
      }
    }

    /** The job is gone. */
    void forget(String jobUid) {
      byJobUid.remove(jobUid);
    }
  }
}
