package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.WebhookRules;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * QueueUnits that an extension of Kube Queue made for a job of its kind, handled like jobs: a unit
 * is started by the phase Dequeued, upon which the extension starts the job; it is stopped by the
 * phase Preempted, and stays charged until the extension answers. Running, Succeed and Failed are
 * the extension's to write. When it writes Enqueued or TimeoutBackoff, it gives the quota back.
 *
 * <p>Whether a unit that is Enqueued has been started before can't be read from its phase; an
 * annotation says it.
 */
public final class ForeignQueueUnit implements JobIntegration {

  /** The kind. */
  public static final JobKind KIND =
      JobKind.of(QueueUnits.GROUP, QueueUnits.VERSION, QueueUnits.KIND);

  private static final String GIVEN_BACK = "The extension of the unit's kind gave the quota back";
  private static final String BACKING_OFF = "The extension of the unit's kind pauses";

  private final BiPredicate<String, String> integrated;
  private final InstantSource clock;

  /**
   * The kind, without units of some jobs.
   *
   * @param integrated whether jobs of an API version and kind are queued themselves
   * @param clock tells the time of a phase
   */
  public ForeignQueueUnit(BiPredicate<String, String> integrated, InstantSource clock) {
    this.integrated = integrated;
    this.clock = clock;
  }

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public boolean isManageable(JsonNode unit) {
    return !QueueUnits.isMirror(unit)
        && !integrated.test(
            JsonFields.text(unit, "spec", "consumerRef", "apiVersion"),
            JsonFields.text(unit, "spec", "consumerRef", "kind"));
  }

  @Override
  public JobState state(JsonNode unit) {
    String phase = UnitPhase.of(unit);
    boolean suspended = UnitPhase.isSuspended(phase);
    boolean stopping = phase.equals(UnitPhase.PREEMPTED);
    boolean active = stopping || (!suspended && !UnitPhase.isEnd(phase));
    Optional<JobState.End> end =
        UnitPhase.isEnd(phase)
            ? Optional.of(
                new JobState.End(
                    phase.equals(UnitPhase.SUCCEED), JsonFields.text(unit, "status", "message")))
            : Optional.empty();
    return new JobState(
        suspended,
        suspended && !active,
        suspended && isStarted(unit),
        active,
        end,
        phase.equals(UnitPhase.RUNNING) || end.isPresent(),
        Map.of(),
        new JobState.Handling(isManageable(unit), hold(unit, phase), false, false));
  }

  private static boolean isStarted(JsonNode unit) {
    return JsonFields.at(unit, "metadata", "annotations").has(QueueUnits.STARTED);
  }

  private static Optional<String> hold(JsonNode unit, String phase) {
    if (UnitPhase.isBackoff(phase)) {
      return Optional.of(BACKING_OFF);
    }
    boolean returned =
        isStarted(unit) && UnitPhase.isSuspended(phase) && !phase.equals(UnitPhase.PREEMPTED);
    return returned ? Optional.of(GIVEN_BACK) : Optional.empty();
  }

  /** The spec of a unit may change while it waits: its phase and the annotation tell. */
  @Override
  public boolean neverStarted(JsonNode unit) {
    return UnitPhase.of(unit).equals(UnitPhase.ENQUEUED) && !isStarted(unit);
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode unit) {
    List<PodSetTemplate> podSets = new ArrayList<>();
    for (JsonNode podSet : JsonFields.list(unit, "spec", "podSet")) {
      podSets.add(
          new PodSetTemplate(
              podSet.path("name").asText("main"),
              Math.max(0, podSet.path("count").asInt(1)),
              0,
              podSet.path("template") instanceof ObjectNode template
                  ? template
                  : JsonNodeFactory.instance.objectNode(),
              Optional.empty()));
    }
    return podSets.isEmpty() ? List.of(whole(unit)) : podSets;
  }

  /** All that the job requests, as one pod. */
  private static PodSetTemplate whole(JsonNode unit) {
    ObjectNode template = JsonNodeFactory.instance.objectNode();
    ObjectNode container =
        template.putObject("spec").put("restartPolicy", "Never").putArray("containers").addObject();
    container.put("name", "main");
    ObjectNode requests = container.putObject("resources").putObject("requests");
    JsonNode request = JsonFields.at(unit, "spec", "request");
    JsonNode amounts = request.isEmpty() ? JsonFields.at(unit, "spec", "resource") : request;
    amounts
        .properties()
        .forEach(
            amount -> {
              if (amount.getValue().isTextual() || amount.getValue().isNumber()) {
                requests.put(amount.getKey(), amount.getValue().asText());
              }
            });
    return new PodSetTemplate("main", 1, 0, template, Optional.empty());
  }

  @Override
  public String priorityClass(JsonNode unit) {
    return JsonFields.text(unit, "spec", "priorityClassName");
  }

  /** First the mark, then the phase: a unit without the mark would be started again and again. */
  @Override
  public List<JobPatch> start(ObjectNode unit, List<PodSetInfo> starts) {
    ObjectNode mark = JsonNodeFactory.instance.objectNode();
    mark.putObject("metadata").putObject("annotations").put(QueueUnits.STARTED, "true");
    ObjectNode dequeued = phase(UnitPhase.DEQUEUED, "Quota is reserved; the job may start");
    ObjectNode status = dequeued.withObjectProperty("status");
    status.put("lastAllocateTime", now());
    long attempts = JsonFields.at(unit, "status", "attempts").asLong();
    status.put("attempts", Math.max(0, attempts) + 1);
    ArrayNode admissions = status.putArray("admissions");
    starts.forEach(
        start -> admissions.addObject().put("name", start.name()).put("replicas", start.count()));
    return List.of(new JobPatch(false, mark), new JobPatch(true, dequeued));
  }

  private ObjectNode phase(String phase, String message) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("status")
        .put("phase", phase)
        .put("message", message)
        .put("lastUpdateTime", now());
    return body;
  }

  private String now() {
    return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode unit, Optional<List<PodSetTemplate>> original) {
    String phase = UnitPhase.of(unit);
    if (!UnitPhase.isSuspended(phase) && !UnitPhase.isEnd(phase)) {
      ObjectNode preempted = phase(UnitPhase.PREEMPTED, "The job is to be suspended");
      preempted.withObjectProperty("status").putArray("admissions");
      return Optional.of(new JobPatch(true, preempted));
    }
    if (isStarted(unit)) {
      ObjectNode unmark = JsonNodeFactory.instance.objectNode();
      unmark.putObject("metadata").putObject("annotations").putNull(QueueUnits.STARTED);
      return Optional.of(new JobPatch(false, unmark));
    }
    return Optional.empty();
  }

  @Override
  public List<String> suspendField() {
    return List.of();
  }

  @Override
  public List<String> managedByField() {
    return List.of();
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.empty();
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.Unreviewed());
  }

  @Override
  public List<RbacRule> roles() {
    return RbacRule.ofController(kind(), "create", "update", "delete");
  }

  /** The phases of QueueUnits, as {@code status.phase} writes them. */
  static final class UnitPhase {

    static final String ENQUEUED = "Enqueued";
    static final String RESERVED = "Reserved";
    static final String DEQUEUED = "Dequeued";
    static final String RUNNING = "Running";
    static final String TIMEOUT_BACKOFF = "TimeoutBackoff";
    static final String PREEMPTED = "Preempted";
    static final String SUCCEED = "Succeed";
    static final String FAILED = "Failed";

    private static final Set<String> BACKOFF = Set.of(TIMEOUT_BACKOFF, "Backoff");

    private UnitPhase() {}

    /** The phase of a unit; Enqueued if it says none. */
    static String of(JsonNode unit) {
      String phase = JsonFields.text(unit, "status", "phase");
      return phase.isEmpty() ? ENQUEUED : phase;
    }

    /** Whether the extension of the unit's kind pauses after a start that took too long. */
    static boolean isBackoff(String phase) {
      return BACKOFF.contains(phase);
    }

    /** Whether a job in this phase is told not to run. Unknown phases are those of running jobs. */
    static boolean isSuspended(String phase) {
      return phase.equals(ENQUEUED)
          || phase.equals(RESERVED)
          || phase.equals(PREEMPTED)
          || isBackoff(phase);
    }

    /** Whether the unit's job has ended. */
    static boolean isEnd(String phase) {
      return phase.equals(SUCCEED) || phase.equals(FAILED);
    }
  }
}
