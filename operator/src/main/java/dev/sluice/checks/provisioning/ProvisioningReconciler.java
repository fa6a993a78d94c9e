package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.provisioning.NodeCapacityReconciler.RefusedCreations;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningChecks;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningEvents;
import dev.sluice.checks.provisioning.ProvisioningControllers.RequestOptions;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ParameterResolution;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.CreateRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.DeleteRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.Keep;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.NameTaken;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.SetState;
import dev.sluice.checks.provisioning.RequestInformers.RequestAvailability;
import dev.sluice.checks.provisioning.RequestWriter.Creation;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates, deletes and reads the ProvisioningRequests of Workloads, and writes the states of their
 * checks, as {@link ProvisioningPolicy} and {@link RequestCleanup} decide. A Workload is reconciled
 * by one thread at a time.
 */
final class ProvisioningReconciler implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ProvisioningReconciler.class);
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final int LONGEST_MESSAGE = 8192;
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  private final Dependencies dependencies;
  private final RequestInformers requests;
  private final RequestWriter writer;
  private final WorkQueue<ObjectKey> queue;

  private final CheckStateUpdate update;
  private final RefusedCreations refusals = new RefusedCreations(AFTER_REFUSAL);

  /** UIDs of requests whose PodTemplates this process found or created. */
  private final Set<String> complete = ConcurrentHashMap.newKeySet();

  /**
   * What is read and written.
   *
   * @param checks finds an AdmissionCheck by name
   * @param configs finds a ProvisioningRequestConfig by name
   * @param options how requests are kept
   * @param ready whether this process may write, and the checks and configurations are known
   */
  record Dependencies(
      Function<String, Optional<AdmissionCheck>> checks,
      Function<String, Optional<ProvisioningRequestConfig>> configs,
      WorkloadLister workloads,
      FlavorLookup flavors,
      CheckStateWriter states,
      ProvisioningEvents events,
      RequestOptions options,
      BooleanSupplier ready,
      InstantSource clock,
      WorkQueueSettings queue) {}

  /** The next state of a check, and when to look at the Workload again. */
  private record Step(CheckState state, Optional<Duration> again) {}

  /** What is wrong with the PodTemplates of a request, and when to try again if nothing is. */
  private record Templates(Optional<String> problem, Optional<Duration> again) {

    private static final Templates DONE = new Templates(Optional.empty(), Optional.empty());

    private static Templates wrong(String problem) {
      return new Templates(Optional.of(problem), Optional.empty());
    }
  }

  ProvisioningReconciler(
      Dependencies dependencies, RequestInformers requests, RequestWriter writer) {
    this.dependencies = dependencies;
    this.requests = requests;
    this.writer = writer;
    this.update = new CheckStateUpdate(dependencies.states(), dependencies.events());
    this.queue =
        new WorkQueue<>(
            this::reconcile,
            dependencies.queue().ofKind(JobKind.WORKLOAD.group(), JobKind.WORKLOAD.kind()));
  }

  /** Reconciles every Workload that has a check of this controller, or a request. */
  void enqueueAll() {
    dependencies.workloads().all().forEach(workload -> changed(null, workload));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before != null && (after == null || !after.id().uid().equals(before.id().uid()))) {
      refusals.forget(before.id().uid());
    }
    if (after != null) {
      enqueue(after);
    }
    CachedWorkload workload = after == null ? before : after;
    if (workload != null && dependencies.options().increments()) {
      SliceIncrement.replacing(workload, dependencies.workloads()).forEach(this::enqueue);
    }
  }

  private void enqueue(CachedWorkload workload) {
    if (isConcerned(workload)) {
      queue.enqueue(new ObjectKey(workload.id().namespace(), workload.id().name()));
    }
  }

  private boolean isConcerned(CachedWorkload workload) {
    return isOpen(workload)
            && checksOf(workload).stream()
                .anyMatch(
                    check -> workload.quotaReserved() || ProvisioningPolicy.endsWithQuota(check))
        || !requests.ownedBy(workload.id().uid()).isEmpty();
  }

  private static boolean isOpen(CachedWorkload workload) {
    return !workload.finished() && !workload.evicted();
  }

  /** The request of a Workload appeared, changed or went. */
  void requestChanged(@Nullable CachedRequest before, @Nullable CachedRequest after) {
    if (before != null && after == null) {
      complete.remove(before.uid());
    }
    for (CachedRequest request : both(before, after)) {
      if (!request.controllerName().isEmpty()) {
        queue.enqueue(new ObjectKey(request.namespace(), request.controllerName()));
      }
    }
  }

  private static List<CachedRequest> both(
      @Nullable CachedRequest before, @Nullable CachedRequest after) {
    List<CachedRequest> result = new ArrayList<>();
    if (before != null && (after == null || !before.controller().equals(after.controller()))) {
      result.add(before);
    }
    if (after != null) {
      result.add(after);
    }
    return result;
  }

  /** The PodTemplate of a request is gone: it is created again if it is still needed. */
  void templateRemoved(String namespace, String request) {
    requests
        .find(namespace, request)
        .ifPresent(
            found -> {
              complete.remove(found.uid());
              requestChanged(null, found);
            });
  }

  private List<CheckState> checksOf(CachedWorkload workload) {
    return workload.status().admissionChecks().stream()
        .filter(state -> checkOf(state).isPresent())
        .toList();
  }

  private Optional<AdmissionCheck> checkOf(CheckState state) {
    return dependencies.checks().apply(state.name()).filter(ProvisioningChecks.DESCRIPTION::isOf);
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    RequestAvailability availability = requests.availability();
    boolean known =
        availability == RequestAvailability.ABSENT || availability == RequestAvailability.LISTED;
    Optional<CachedWorkload> found = dependencies.workloads().get(key.namespace(), key.name());
    if (!known || found.isEmpty() || !dependencies.ready().getAsBoolean()) {
      return Optional.empty();
    }
    CachedWorkload workload = found.get();
    Optional<Duration> again = Optional.empty();
    Attempts attempts = new Attempts();
    for (CachedRequest request :
        RequestCleanup.unneeded(
            workload,
            checksOf(workload),
            requests.ownedBy(workload.id().uid()),
            dependencies.options().cleansUp())) {
      again =
          WorkQueue.earliest(
              again,
              attempts.attempt(
                  () -> delete(workload, request, "it is not needed"), Optional.empty()));
    }
    if (isOpen(workload) && !workload.deleting()) {
      boolean served = availability == RequestAvailability.LISTED;
      again = WorkQueue.earliest(again, checks(workload, served, attempts));
    }
    attempts.throwFailure();
    return again;
  }

  private Optional<Duration> delete(CachedWorkload workload, CachedRequest request, String reason)
      throws InterruptedException {
    Optional<String> refusal = writer.delete(request);
    if (refusal.isPresent()) {
      LOG.warn(
          "workload={} request={} deletion=refused reason=\"{}\"",
          workload.id(),
          request.name(),
          refusal.get());
      return Optional.of(AFTER_REFUSAL);
    }
    LOG.info(
        "workload={} request={} deleted=true reason=\"{}\"", workload.id(), request.name(), reason);
    return Optional.empty();
  }

  private Optional<Duration> checks(CachedWorkload workload, boolean served, Attempts attempts)
      throws InterruptedException {
    List<CheckState> states = new ArrayList<>();
    Optional<Duration> again = Optional.empty();
    for (CheckState state : workload.status().admissionChecks()) {
      Optional<AdmissionCheck> check = checkOf(state);
      Step unchanged = new Step(state, Optional.empty());
      Step step =
          check.isEmpty()
              ? unchanged
              : attempts.attempt(
                  () -> step(increment(workload), state, check.get(), served), unchanged);
      states.add(step.state());
      again = WorkQueue.earliest(again, step.again());
    }
    return states.equals(workload.status().admissionChecks())
        ? again
        : WorkQueue.earliest(again, update.write(workload, states));
  }

  /** The Workload with the pods that need nodes of their own. */
  private CachedWorkload increment(CachedWorkload workload) {
    return dependencies.options().increments()
        ? SliceIncrement.of(workload, dependencies.workloads())
        : workload;
  }

  private Step step(CachedWorkload workload, CheckState state, AdmissionCheck check, boolean served)
      throws InterruptedException {
    ParameterResolution parameters =
        ParameterResolution.of(check.getSpec(), dependencies.configs());
    Optional<CachedRequest> request =
        requests.find(workload.id().namespace(), ProvisioningPolicy.requestName(workload, state));
    ProvisioningDecision decision =
        ProvisioningPolicy.decide(
            workload,
            state,
            new ProvisioningPolicy.Input(
                parameters, served, dependencies.options().cleansUp(), request));
    return switch (decision) {
      case Keep keep -> new Step(state, Optional.empty());
      case SetState set when !set.podSetUpdates().isEmpty() ->
          provisioned(workload, state, set, request.orElseThrow(), parameters);
      case SetState set -> answered(workload, state, set, request);
      case NameTaken taken -> refused(workload, state, taken.message());
      case DeleteRequest deletion -> {
        Optional<Duration> again = delete(workload, deletion.request(), deletion.reason());
        yield new Step(state, Optional.of(again.orElse(SOON)));
      }
      case CreateRequest creation -> {
        Optional<Duration> rest = rest(workload, state);
        yield rest.isPresent()
            ? new Step(state, rest)
            : create(workload, state, creation.name(), parameters);
      }
    };
  }

  private Optional<Duration> rest(CachedWorkload workload, CheckState state) {
    return refusals.rest(workload.id().uid(), state.name(), dependencies.clock().instant());
  }

  /**
   * The nodes are there that a request asked for. Its label, its owner and its annotations are what
   * whoever may create requests may write: what counts is what it asked for.
   */
  private Step provisioned(
      CachedWorkload workload,
      CheckState state,
      SetState set,
      CachedRequest request,
      ParameterResolution parameters)
      throws InterruptedException {
    Optional<RequestManifest> manifest;
    try {
      manifest = manifest(workload, request.name(), parameters);
    } catch (StartConflictException e) {
      return refused(workload, state, e.conflict());
    }
    if (manifest.isEmpty()) {
      return new Step(state, Optional.empty());
    }
    // those of an earlier request of this name go first
    Templates templates = ensureTemplates(workload, request);
    if (templates.problem().isPresent()) {
      return refused(workload, state, templates.problem().get());
    }
    if (templates.again().isPresent()) {
      return new Step(state, templates.again());
    }
    if (manifest.get().isCoveredBy(request, writer.templates(request))) {
      return new Step(changed(state, set), Optional.empty());
    }
    Optional<Duration> again = delete(workload, request, "it asked for other nodes");
    return new Step(state, Optional.of(again.orElse(SOON)));
  }

  /** What a request of this name is to ask for; empty if the Workload or its config is gone. */
  private Optional<RequestManifest> manifest(
      CachedWorkload workload, String name, ParameterResolution parameters)
      throws InterruptedException, StartConflictException {
    Optional<JsonNode> object = writer.read(workload);
    return object.isEmpty() || parameters.config().isEmpty()
        ? Optional.empty()
        : Optional.of(
            RequestManifest.of(
                workload, object.get(), name, parameters.config().get(), dependencies.flavors()));
  }

  private Step answered(
      CachedWorkload workload, CheckState state, SetState set, Optional<CachedRequest> request)
      throws InterruptedException {
    boolean open =
        set.state().equals(CheckState.PENDING)
            && request
                .filter(it -> ProvisioningPolicy.belongsTo(workload, it) && !it.deleting())
                .isPresent();
    Optional<Duration> rest = open ? rest(workload, state) : Optional.empty();
    if (rest.isPresent()) {
      return new Step(state, rest);
    }
    Templates templates = open ? ensureTemplates(workload, request.orElseThrow()) : Templates.DONE;
    return templates.problem().isPresent()
        ? refused(workload, state, templates.problem().get())
        : new Step(changed(state, set), templates.again());
  }

  private CheckState changed(CheckState state, SetState set) {
    boolean moves = !state.state().equals(set.state());
    Instant now = dependencies.clock().instant().truncatedTo(ChronoUnit.SECONDS);
    return new CheckState(
        state.name(),
        set.state(),
        cut(set.message()),
        moves ? now : state.lastTransitionTime(),
        moves ? set.requeueAfterSeconds() : state.requeueAfterSeconds(),
        state.retryCount(),
        set.podSetUpdates());
  }

  /** Somebody else's text, shortened so far that it is stored as it is written. */
  static String cut(String message) {
    if (message.length() <= LONGEST_MESSAGE) {
      return message;
    }
    boolean splits = Character.isHighSurrogate(message.charAt(LONGEST_MESSAGE - 1));
    return message.substring(0, splits ? LONGEST_MESSAGE - 1 : LONGEST_MESSAGE);
  }

  private Step refused(CachedWorkload workload, CheckState state, String text) {
    refusals.refused(workload.id().uid(), state.name(), dependencies.clock().instant());
    String message = cut(text);
    if (!state.message().equals(message)) {
      LOG.warn("workload={} check={} reason=\"{}\"", workload.id(), state.name(), message);
      dependencies.events().record(workload, true, "FailedCreate", message);
    }
    return new Step(
        changed(state, SetState.of(CheckState.PENDING, message)), Optional.of(AFTER_REFUSAL));
  }

  private Step create(
      CachedWorkload workload, CheckState state, String name, ParameterResolution parameters)
      throws InterruptedException {
    Optional<RequestManifest> manifest;
    try {
      manifest = manifest(workload, name, parameters);
    } catch (StartConflictException e) {
      return refused(workload, state, e.conflict());
    }
    if (manifest.isEmpty()) {
      return new Step(state, Optional.empty());
    }
    return switch (writer.create(workload, manifest.get().request())) {
      case Creation.Created created -> {
        CachedRequest request = CachedRequest.of(created.object());
        LOG.info("workload={} check={} request={} created=true", workload.id(), state.name(), name);
        dependencies
            .events()
            .record(
                workload,
                false,
                "ProvisioningRequestCreated",
                "Created ProvisioningRequest \"" + name + "\"");
        Templates templates = createTemplates(request, manifest.get().templates());
        yield templates
            .problem()
            .map(problem -> refused(workload, state, problem))
            .orElseGet(() -> new Step(state, templates.again()));
      }
      // the watch tells it soon
      case Creation.Exists exists -> new Step(state, Optional.of(SOON));
      case Creation.Leaving leaving -> new Step(state, Optional.of(SOON));
      case Creation.Taken taken ->
          refused(workload, state, ProvisioningPolicy.taken(CachedRequest.of(taken.object())));
      case Creation.Denied denied ->
          refused(
              workload,
              state,
              "ProvisioningRequest \"" + name + "\" can't be created: " + denied.message());
    };
  }

  /** Creates the PodTemplates of a request that are missing. */
  private Templates ensureTemplates(CachedWorkload workload, CachedRequest request)
      throws InterruptedException {
    List<String> missing =
        complete.contains(request.uid())
            ? List.of()
            : request.pods().keySet().stream()
                .filter(name -> !requests.hasTemplate(request, name))
                .toList();
    Optional<JsonNode> object = missing.isEmpty() ? Optional.empty() : writer.read(workload);
    if (object.isEmpty()) {
      return Templates.DONE;
    }
    try {
      Map<String, ObjectNode> templates =
          RequestManifest.templates(workload, object.get(), request.name(), dependencies.flavors());
      templates.keySet().retainAll(missing);
      return createTemplates(request, templates);
    } catch (StartConflictException e) {
      return Templates.wrong(e.conflict());
    }
  }

  private Templates createTemplates(CachedRequest request, Map<String, ObjectNode> templates)
      throws InterruptedException {
    for (Map.Entry<String, ObjectNode> template : templates.entrySet()) {
      String name = template.getKey();
      switch (writer.create(
          request, RequestManifest.podTemplate(name, template.getValue(), request))) {
        case Creation.Created created ->
            LOG.debug("request={} podTemplate={} created=true", request.name(), name);
        case Creation.Exists exists -> LOG.debug("podTemplate={} exists=true", name);
        case Creation.Leaving leaving -> {
          return new Templates(Optional.empty(), Optional.of(SOON));
        }
        case Creation.Taken taken -> {
          return replace(name, taken, request);
        }
        case Creation.Denied denied -> {
          return Templates.wrong(
              "PodTemplate \"" + name + "\" can't be created: " + denied.message());
        }
      }
    }
    complete.add(request.uid());
    return Templates.DONE;
  }

  /** Deletes a PodTemplate that somebody else made under the name of one of a request. */
  private Templates replace(String name, Creation.Taken taken, CachedRequest request)
      throws InterruptedException {
    String problem =
        "PodTemplate \""
            + name
            + "\" exists and is not one that was made for ProvisioningRequest \""
            + request.name()
            + "\"";
    if (!dependencies.options().replacesTemplates()) {
      return Templates.wrong(problem);
    }
    if (taken.object().path("metadata").hasNonNull("deletionTimestamp")) {
      return Templates.wrong(problem + ", and a finalizer keeps it from being deleted");
    }
    Optional<String> refusal = writer.deleteTemplate(taken.object());
    if (refusal.isPresent()) {
      return Templates.wrong(problem + ", and can't be deleted: " + refusal.get());
    }
    LOG.warn("request={} podTemplate={} replaced=true", request.name(), name);
    return new Templates(Optional.empty(), Optional.of(SOON));
  }

  @Override
  public void close() {
    queue.close();
  }

  /** Actions of one reconciliation, none of which keeps the others from being tried. */
  static final class Attempts {

    private @Nullable RuntimeException failure;

    /**
     * An action whose failure is no defect.
     *
     * @param <T> its result
     */
    interface Action<T> {

      /** Runs it. */
      T run() throws InterruptedException;
    }

    /** Runs an action; if it fails, the result is the other one. */
    <T> T attempt(Action<T> action, T otherwise) throws InterruptedException {
      try {
        return action.run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
        return otherwise;
      }
    }

    /** Throws the first failure, with the others, so that all is tried again. */
    void throwFailure() {
      if (failure != null) {
        throw failure;
      }
    }
  }

  /**
   * Which requests of a Workload are not needed any more (docs/provisioning.md#what-is-deleted).
   */
  static final class RequestCleanup {

    private RequestCleanup() {}

    /**
     * The requests to delete.
     *
     * @param checks the states of the Workload's checks of this controller
     * @param owned the requests that the Workload controls
     * @param onEviction whether they are deleted before the Workload has finished, too
     */
    static List<CachedRequest> unneeded(
        CachedWorkload workload,
        List<CheckState> checks,
        Collection<CachedRequest> owned,
        boolean onEviction) {
      boolean none = workload.finished() || workload.evicted() || !workload.spec().active();
      boolean isRunning = workload.admitted() && !none; // on nodes that a request may stand for
      boolean isInterrupted =
          !workload.quotaReserved() && !none; // the next reservation may need it
      if (isRunning || isInterrupted || !workload.finished() && !onEviction) {
        return List.of();
      }
      Set<String> needed =
          checks.stream()
              .filter(check -> !none)
              .map(check -> ProvisioningPolicy.requestName(workload, check))
              .collect(Collectors.toSet());
      return owned.stream()
          .filter(request -> !request.deleting() && !needed.contains(request.name()))
          .toList();
    }
  }

  /**
   * The pods that a slice of an elastic job has more than the slice that it replaces
   * (docs/provisioning.md#elastic-jobs): the others run, so that their nodes are there.
   */
  static final class SliceIncrement {

    private SliceIncrement() {}

    /**
     * The Workload with the numbers of pods for which nodes are needed. These are all of them if
     * the replaced slice isn't there any more, or doesn't run.
     */
    static CachedWorkload of(CachedWorkload workload, WorkloadLister workloads) {
      if (!workload.elastic() || workload.replacedSlice().isEmpty()) {
        return workload;
      }
      return workloads
          .get(workload.id().namespace(), workload.replacedSlice())
          .filter(replaced -> runs(replaced) && replaced.owner().equals(workload.owner()))
          .map(replaced -> workload.withAssignments(increments(workload, replaced.assignments())))
          .orElse(workload);
    }

    private static boolean runs(CachedWorkload workload) {
      return workload.elastic()
          && workload.admitted()
          && !workload.evicted()
          && !workload.finished();
    }

    private static List<Assignment> increments(
        CachedWorkload workload, List<Assignment> replacedAssignments) {
      Map<String, Integer> running =
          replacedAssignments.stream()
              .collect(Collectors.toMap(Assignment::name, Assignment::count, Math::max));
      // A slice that is made smaller while it has quota keeps its assignment.
      Map<String, Integer> asked =
          workload.spec().podSets().stream()
              .collect(Collectors.toMap(PodSet::name, PodSet::count, Math::max));
      return workload.assignments().stream()
          .map(
              assignment -> {
                int pods =
                    Math.min(
                        assignment.count(),
                        asked.getOrDefault(assignment.name(), assignment.count()));
                return assignment.withCount(
                    Math.max(0, pods - running.getOrDefault(assignment.name(), 0)));
              })
          .toList();
    }

    /** The slices that replace a Workload: its own state decides how many nodes they need. */
    static Collection<CachedWorkload> replacing(CachedWorkload workload, WorkloadLister workloads) {
      return !workload.elastic() || workload.owner().isEmpty()
          ? List.of()
          : workloads.ownedBy(workload.owner().get().uid()).stream()
              .filter(other -> other.replacedSlice().equals(workload.id().name()))
              .toList();
    }
  }
}
