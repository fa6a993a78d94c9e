package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.queueing.RefusedFlavors;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Input;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Plan;
import dev.sluice.checks.provisioning.NodeCapacityPolicy.Wanted;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningChecks;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningEvents;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.SetState;
import dev.sluice.checks.provisioning.RequestWriter.Creation;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and deletes the placeholder pods and CapacityBuffers of Workloads, and writes the states
 * of their checks, as {@link NodeCapacityPolicy} decides. All that it knows is in the cluster: the
 * next process goes on where this one stopped. A Workload is reconciled by one thread at a time.
 */
final class NodeCapacityReconciler implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(NodeCapacityReconciler.class);
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  /** The longest pause, and what this process needs to write it. */
  private static final Duration LONGEST_REFUSAL = Duration.ofMinutes(31);

  private final Dependencies dependencies;
  private final HolderInformers holders;
  private final RequestWriter writer;
  private final WorkQueue<ObjectKey> queue;
  private final CheckStateUpdate update;
  private final RefusedCreations refusedCreations = new RefusedCreations(AFTER_REFUSAL);

  /** Objects that no Workload controls any more, by UID. */
  private final Map<String, CapacityHolder> orphans = new ConcurrentHashMap<>();

  /** The Workloads that controlled them, as far as this process saw it. */
  private final Map<String, ObjectKey> abandoners = new ConcurrentHashMap<>();

  /** UIDs of buffers whose PodTemplates this process found or created. */
  private final Set<String> complete = ConcurrentHashMap.newKeySet();

  /**
   * What is read and written.
   *
   * @param checks finds an AdmissionCheck by name
   * @param ready whether this process may write, and the checks are known
   */
  record Dependencies(
      Function<String, Optional<AdmissionCheck>> checks,
      WorkloadLister workloads,
      FlavorLookup flavors,
      WorkloadWriter writer,
      ProvisioningEvents events,
      BooleanSupplier ready,
      InstantSource clock,
      WorkQueueSettings queue) {}

  /** The next state of a check, and when to look at the Workload again. */
  private record Step(CheckState state, Optional<Duration> again) {}

  NodeCapacityReconciler(Dependencies dependencies, HolderInformers holders, RequestWriter writer) {
    this.dependencies = dependencies;
    this.holders = holders;
    this.writer = writer;
    this.update =
        new CheckStateUpdate(new CheckStateWriter(dependencies.writer()), dependencies.events());
    this.queue =
        new WorkQueue<>(
            this::reconcile,
            dependencies.queue().ofKind(JobKind.WORKLOAD.group(), JobKind.WORKLOAD.kind()));
  }

  /** Reconciles every Workload that this controller has something to do with. */
  void enqueueAll() {
    dependencies.workloads().all().forEach(workload -> changed(null, workload));
    orphans.values().forEach(orphan -> queue.enqueue(new ObjectKey(orphan.path().namespace(), "")));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before != null && (after == null || !after.id().uid().equals(before.id().uid()))) {
      refusedCreations.forget(before.id().uid());
    }
    if (after != null && isConcerned(after)) {
      queue.enqueue(new ObjectKey(after.id().namespace(), after.id().name()));
    }
  }

  private boolean isConcerned(CachedWorkload workload) {
    return workload.annotations().containsKey(RefusedFlavors.ANNOTATION)
        || workload.status().admissionChecks().stream()
            .filter(
                it ->
                    NodeCapacityPolicy.needsNodes(workload)
                        || NodeCapacityPolicy.endsWithQuota(workload, it))
            .anyMatch(it -> checkOf(it).isPresent())
        || !holders.ownedBy(workload.id().uid()).isEmpty();
  }

  /** An object that asks for nodes appeared, changed or went. */
  void holderChanged(@Nullable CapacityHolder before, @Nullable CapacityHolder after) {
    if (before != null && after == null) {
      complete.remove(before.uid());
    }
    CapacityHolder holder = after == null ? before : after;
    if (after != null && after.isOrphan()) {
      orphans.put(after.uid(), after);
      queue.enqueue(new ObjectKey(after.path().namespace(), ""));
      if (before != null && !before.workload().isEmpty()) {
        abandoners.put(after.uid(), new ObjectKey(before.path().namespace(), before.workload()));
      }
    } else if (holder != null) {
      orphans.remove(holder.uid());
      ObjectKey abandoner = abandoners.remove(holder.uid());
      if (abandoner != null) {
        queue.enqueue(abandoner); // its place is asked for again, if the Workload is there
      }
    }
    if (holder != null && !holder.workload().isEmpty()) {
      queue.enqueue(new ObjectKey(holder.path().namespace(), holder.workload()));
    }
  }

  /** What a Workload left that was deleted without what it controls keeps places for nobody. */
  private Optional<Duration> deleteOrphans(String namespace) throws InterruptedException {
    Optional<Duration> again = Optional.empty();
    for (CapacityHolder orphan : List.copyOf(orphans.values())) {
      if (orphan.path().namespace().equals(namespace)) {
        Optional<String> refusal = writer.delete(orphan.path(), orphan.uid());
        LOG.info(
            "object={} workload=none deletion={}",
            orphan.path().object(),
            refusal.orElse("requested"));
        if (refusal.isPresent()) {
          again = Optional.of(AFTER_REFUSAL);
        } else {
          orphans.remove(orphan.uid());
        }
      }
    }
    return again;
  }

  private Optional<AdmissionCheck> checkOf(CheckState state) {
    return dependencies.checks().apply(state.name()).filter(ProvisioningChecks.NODE_CAPACITY::isOf);
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    Optional<CachedWorkload> found = dependencies.workloads().get(key.namespace(), key.name());
    if (!dependencies.ready().getAsBoolean()) {
      return Optional.empty();
    }
    if (key.name().isEmpty()) {
      return deleteOrphans(key.namespace());
    }
    if (found.isEmpty()) {
      return Optional.empty();
    }
    CachedWorkload workload = found.get();
    Optional<Duration> again = forgetRefusals(workload);
    if (!holders.listed() && !NodeCapacityPolicy.needsNodes(workload)) {
      return again;
    }
    Map<String, List<CapacityHolder>> owned = new HashMap<>();
    for (CapacityHolder holder : holders.ownedBy(workload.id().uid())) {
      owned.computeIfAbsent(holder.purpose().check(), any -> new ArrayList<>()).add(holder);
    }
    List<CheckState> states = new ArrayList<>();
    ProvisioningReconciler.Attempts attempts = new ProvisioningReconciler.Attempts();
    for (CheckState state : workload.status().admissionChecks()) {
      Optional<AdmissionCheck> check = checkOf(state);
      Step step = new Step(state, Optional.empty());
      if (check.isPresent()) {
        List<CapacityHolder> ofCheck = owned.remove(state.name());
        step =
            attempts.attempt(
                () -> step(workload, state, check.get(), ofCheck == null ? List.of() : ofCheck),
                step);
      }
      states.add(step.state());
      again = WorkQueue.earliest(again, step.again());
    }
    for (List<CapacityHolder> unneeded : owned.values()) {
      again =
          WorkQueue.earliest(
              again,
              attempts.attempt(
                  () -> delete(workload, NodeCapacityPolicy.deletable(unneeded)),
                  Optional.empty()));
    }
    if (!states.equals(workload.status().admissionChecks())) {
      again = WorkQueue.earliest(again, update.write(workload, states));
    }
    attempts.throwFailure();
    return again;
  }

  /** Flavors that were left out long enough count again. */
  private Optional<Duration> forgetRefusals(CachedWorkload workload) throws InterruptedException {
    if (!workload.annotations().containsKey(RefusedFlavors.ANNOTATION)) {
      return Optional.empty();
    }
    Instant now = dependencies.clock().instant();
    RefusedFlavors written = RefusedFlavors.of(workload.annotations());
    RefusedFlavors left =
        workload.finished()
            ? new RefusedFlavors(Map.of())
            : written.after(now).noLaterThan(now.plus(LONGEST_REFUSAL));
    if (!left.equals(written) || left.names().isEmpty()) {
      return annotate(workload, left);
    }
    return left.earliest().map(time -> Duration.between(now, time).plusMillis(1));
  }

  private Optional<Duration> annotate(CachedWorkload workload, RefusedFlavors flavors)
      throws InterruptedException {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode annotations = patch.putObject("metadata").putObject("annotations");
    if (flavors.names().isEmpty()) {
      annotations.putNull(RefusedFlavors.ANNOTATION);
    } else {
      annotations.put(RefusedFlavors.ANNOTATION, flavors.text());
    }
    return switch (Futures.forResult(
        dependencies.writer().patch(workload.id(), workload.version(), patch))) {
      case WorkloadWriter.Outcome.Written written -> Optional.empty(); // the watch tells it
      case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
      case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(SOON);
      case WorkloadWriter.Outcome.Refused refused -> {
        LOG.warn(
            "workload={} annotation={} reason=\"{}\"",
            workload.id(),
            RefusedFlavors.ANNOTATION,
            refused.message());
        yield Optional.of(AFTER_REFUSAL);
      }
    };
  }

  private Step step(
      CachedWorkload workload, CheckState state, AdmissionCheck check, List<CapacityHolder> owned)
      throws InterruptedException {
    Input input =
        new Input(
            NodeCapacityAnnotations.of(check.getMetadata().getAnnotations()),
            holders.bufferVersion().isPresent(),
            !holders.listed(),
            flavor ->
                dependencies
                    .flavors()
                    .find(flavor)
                    .filter(it -> !it.nodeLabels().isEmpty())
                    .isPresent(),
            owned,
            dependencies.clock().instant());
    Plan plan = NodeCapacityPolicy.decide(workload, state, input);
    Optional<Duration> again = WorkQueue.earliest(plan.again(), delete(workload, plan.deletions()));
    RefusedFlavors known = RefusedFlavors.of(workload.annotations());
    if (!known.names().containsAll(plan.refused())) {
      // first of all the search for flavors is to know, then the quota may go
      Instant until = input.now().plus(NodeCapacityPolicy.pause(state));
      return new Step(
          state, WorkQueue.earliest(again, annotate(workload, known.with(plan.refused(), until))));
    }
    Optional<Duration> rest = refusedCreations.rest(workload.id().uid(), state.name(), input.now());
    if (rest.isPresent() && plan.state().filter(it -> !isFinal(it)).isPresent()) {
      return new Step(state, WorkQueue.earliest(again, rest));
    }
    Optional<String> problem = ask(workload, state, plan, input);
    if (problem.isPresent()) {
      return refused(workload, state, problem.get(), input.now());
    }
    return new Step(plan.state().map(set -> changed(state, set, input.now())).orElse(state), again);
  }

  private static boolean isFinal(SetState set) {
    return !set.state().equals(CheckState.PENDING);
  }

  private static CheckState changed(CheckState state, SetState set, Instant now) {
    boolean moves = !state.state().equals(set.state());
    return new CheckState(
        state.name(),
        set.state(),
        set.message(),
        moves ? now.truncatedTo(ChronoUnit.SECONDS) : state.lastTransitionTime(),
        moves ? set.requeueAfterSeconds() : state.requeueAfterSeconds(),
        state.retryCount(),
        set.podSetUpdates());
  }

  private Step refused(CachedWorkload workload, CheckState state, String text, Instant now) {
    refusedCreations.refused(workload.id().uid(), state.name(), now);
    String message = ProvisioningReconciler.cut(text);
    if (!state.message().equals(message)) {
      LOG.warn("workload={} check={} reason=\"{}\"", workload.id(), state.name(), message);
      dependencies.events().record(workload, true, "FailedCreate", message);
    }
    CheckState next =
        state.is(CheckState.PENDING)
            ? changed(state, SetState.of(CheckState.PENDING, message), now)
            : state;
    return new Step(next, Optional.of(AFTER_REFUSAL));
  }

  private Optional<Duration> delete(CachedWorkload workload, List<CapacityHolder> unneeded)
      throws InterruptedException {
    Optional<Duration> again = Optional.empty();
    for (CapacityHolder holder : unneeded) {
      Optional<String> refusal = writer.delete(holder.path(), holder.uid());
      if (refusal.isPresent()) {
        LOG.warn(
            "workload={} object={} deletion=refused reason=\"{}\"",
            workload.id(),
            holder.path().object(),
            refusal.get());
        again = Optional.of(AFTER_REFUSAL);
      }
    }
    if (!unneeded.isEmpty()) {
      LOG.info("workload={} placeholdersDeleted={}", workload.id(), unneeded.size());
    }
    return again;
  }

  /**
   * Creates what is missing, and the PodTemplates of buffers.
   *
   * @return what is wrong; empty if nothing is
   */
  private Optional<String> ask(CachedWorkload workload, CheckState state, Plan plan, Input input)
      throws InterruptedException {
    // before the check is Ready it counts what the PodTemplates ask for, whoever made them
    boolean all = plan.state().filter(set -> set.state().equals(CheckState.READY)).isPresent();
    List<CapacityHolder> bare =
        input.owned().stream()
            .filter(holder -> holder.path().plural().equals(CapacityHolder.BUFFERS))
            .filter(holder -> all || !complete.contains(holder.uid()))
            .filter(holder -> !plan.deletions().contains(holder))
            .toList();
    if (plan.creations().isEmpty() && bare.isEmpty()) {
      return Optional.empty();
    }
    Optional<JsonNode> object = writer.read(workload);
    if (object.isEmpty()) {
      return Optional.empty();
    }
    if (input.owned().isEmpty()) {
      dependencies
          .events()
          .record(
              workload,
              false,
              "NodesRequested",
              "Asks for nodes by %d %s"
                  .formatted(
                      plan.creations().size(),
                      NodeCapacityPolicy.asksByBuffers(input)
                          ? "CapacityBuffers"
                          : "placeholder pods"));
    }
    Map<String, ObjectNode> templates = new HashMap<>();
    try {
      for (CachedWorkload.PodSet podSet : ManagedPodSets.all(workload)) {
        templates.put(
            podSet.name(),
            RequestManifest.template(workload, object.get(), podSet, dependencies.flavors()));
      }
    } catch (StartConflictException e) {
      return Optional.of(e.conflict());
    }
    for (Wanted wanted : plan.creations()) {
      Optional<String> problem = create(workload, state, wanted, input, templates);
      if (problem.isPresent()) {
        return problem;
      }
    }
    for (CapacityHolder holder : bare) {
      ObjectNode template = templates.get(holder.purpose().podSet());
      if (template != null) {
        Optional<String> problem = createTemplate(holder, input.annotations().image(), template);
        if (problem.isPresent()) {
          return problem;
        }
      }
    }
    return Optional.empty();
  }

  private Optional<String> create(
      CachedWorkload workload,
      CheckState state,
      Wanted wanted,
      Input input,
      Map<String, ObjectNode> templates)
      throws InterruptedException {
    CapacityHolder.Purpose purpose =
        new CapacityHolder.Purpose(
            state.name(),
            wanted.podSet().name(),
            NodeCapacityPolicy.digest(workload, input),
            wanted.podSet().count());
    ObjectNode template = templates.getOrDefault(wanted.podSet().name(), emptyTemplate());
    String image = input.annotations().image();
    boolean buffers = NodeCapacityPolicy.asksByBuffers(input);
    ObjectNode object =
        buffers
            ? HolderManifest.buffer(
                workload,
                purpose,
                RequestManifest.GROUP + "/" + holders.bufferVersion().orElse("v1"),
                wanted)
            : HolderManifest.pod(workload, purpose, wanted.name(), image, template);
    String kind = object.path("kind").asText();
    Creation creation =
        writer.create(object, buffers ? CapacityHolder.BUFFERS : CapacityHolder.PODS);
    return switch (creation) {
      case Creation.Created created ->
          buffers
              ? createTemplate(CapacityHolder.ofBuffer(created.object()), image, template)
              : Optional.empty();
      case Creation.Taken taken ->
          isOurs(taken.object(), workload)
              ? Optional.empty() // the watch tells it soon
              : Optional.of(
                  "%s \"%s\" exists and is not one that was made for this workload"
                      .formatted(kind, wanted.name()));
      case Creation.Denied denied ->
          Optional.of(
              "%s \"%s\" can't be created: %s".formatted(kind, wanted.name(), denied.message()));
      case Creation.Exists exists -> Optional.empty();
      case Creation.Leaving leaving -> Optional.empty();
    };
  }

  private static ObjectNode emptyTemplate() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Whether an object was made for this Workload, or for an earlier one with which it goes. */
  private static boolean isOurs(JsonNode object, CachedWorkload workload) {
    return CachedRequest.controllerOf(object, "kind").equals(JobKind.WORKLOAD.kind())
        && CachedRequest.controllerOf(object, "name").equals(workload.id().name());
  }

  private Optional<String> createTemplate(CapacityHolder holder, String image, ObjectNode template)
      throws InterruptedException {
    ObjectNode object = HolderManifest.podTemplate(holder, image, template);
    Creation creation = writer.create(object, "podtemplates");
    return switch (creation) {
      case Creation.Taken taken
          when !CachedRequest.controllerOf(taken.object(), "uid").equals(holder.uid()) ->
          Optional.of(
              "PodTemplate \"%s\" exists and is not one that was made for the CapacityBuffer"
                  .formatted(holder.name()));
      case Creation.Taken taken
          when !RequestManifest.covers(taken.object().path("template"), object.path("template")) ->
          Optional.of(
              "PodTemplate \"%s\" asks for other nodes%s"
                  .formatted(
                      holder.name(),
                      writer
                          .delete(holder.path(), holder.uid())
                          .map(refusal -> ", and its CapacityBuffer can't be deleted: " + refusal)
                          .orElse("; its CapacityBuffer is made anew")));
      case Creation.Denied denied ->
          Optional.of(
              "PodTemplate \"%s\" can't be created: %s".formatted(holder.name(), denied.message()));
      default -> {
        complete.add(holder.uid());
        yield Optional.empty();
      }
    };
  }

  @Override
  public void close() {
    queue.close();
  }

  /**
   * When the API server last refused what a check of a Workload needs. A refusal may have another
   * text each time, and each text that is written is a change of the Workload: without a pause the
   * next creation would follow at once. Thread-safe.
   */
  static final class RefusedCreations {

    private static final int MOST = 10_000;

    private final Duration pause;
    private final Map<String, Map<String, Instant>> byWorkload = new LinkedHashMap<>();

    /**
     * Remembers none.
     *
     * @param pause after a refusal
     */
    RefusedCreations(Duration pause) {
      this.pause = pause;
    }

    /** The API server refused something for a check of the Workload of this UID. */
    synchronized void refused(String workload, String check, Instant now) {
      byWorkload.computeIfAbsent(workload, uid -> new LinkedHashMap<>()).put(check, now);
      if (byWorkload.size() > MOST) {
        byWorkload.remove(byWorkload.keySet().iterator().next());
      }
    }

    /** The rest of the pause; empty if nothing was refused, or the pause is over. */
    synchronized Optional<Duration> rest(String workload, String check, Instant now) {
      return Optional.ofNullable(byWorkload.getOrDefault(workload, Map.of()).get(check))
          .map(at -> Duration.between(now, at.plus(pause)))
          .filter(rest -> rest.isPositive() && rest.compareTo(pause) <= 0);
    }

    /** The Workload of this UID is gone. */
    synchronized void forget(String workload) {
      byWorkload.remove(workload);
    }
  }
}
