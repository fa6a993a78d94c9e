package dev.sluice.app.whatif;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.QueueRunTime.Annotations;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.api.sluice.BudgetReader;
import dev.sluice.api.sluice.ReservationReader;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.api.sluice.ReservationReader.ReservationSpec;
import dev.sluice.api.sluice.ReservationReader.ReservationTimes;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.app.module.SchedulerModule.WorkloadCosts;
import dev.sluice.app.whatif.DeclarationFile.PriorityClass;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.RunBoundFeed;
import dev.sluice.forecast.feed.RunBounds;
import dev.sluice.forecast.feed.RunTimeEstimator;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.feed.RunTimeRecorder;
import dev.sluice.forecast.feed.RunTimeStore;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.queues.cache.CachedPreemptionRules;
import dev.sluice.queues.status.BudgetStatus;
import dev.sluice.workload.feed.TranslationOptions.WorkloadRules;
import dev.sluice.workload.feed.VariantFamilies;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.UnsupportedRequests;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a cluster has now, to be played from here on (docs/what-if.md#a-cluster): its declarations,
 * the Workloads that wait and run, and how long these are expected to run.
 */
final class LivePresent {

  private static final String PREFIX = "/apis/kueue.x-k8s.io/v1beta2/";
  private static final int PAGE = 500;
  private static final int NOT_FOUND = 404;
  private static final int FORBIDDEN = 403;
  private static final double MEDIAN = 0.5;

  /** Declared in this order: what refers to others comes after them. */
  private static final List<String> DECLARATIONS =
      List.of(
          PREFIX + "resourceflavors",
          PREFIX + "topologies",
          PREFIX + "cohorts",
          PREFIX + "clusterqueues",
          PREFIX + "localqueues",
          PREFIX + "workloadpriorityclasses",
          "/api/v1/nodes");

  private static final String SLUICE =
      "/apis/" + ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION + "/";

  /** Occurrences of a weekly reservation are worked out anew so often, before they run out. */
  private static final Duration CALENDAR = ReservationTimes.HORIZON.dividedBy(2);

  /**
   * How the present is read.
   *
   * @param optionsMapper the configuration of the operator
   * @param namespace of the operator, which keeps there what it learned of run times
   * @param horizon how far is played
   * @param runTime of Workloads of which nothing else is known
   */
  record Options(
      OptionsMapper optionsMapper, String namespace, Duration horizon, Duration runTime) {}

  private record NamedReservation(String name, ReservationSpec spec) {}

  private final Options options;
  private final Instant now;
  private final DeclarationFile.Declared declared = new DeclarationFile.Declared();
  private final List<NamedReservation> reservations = new ArrayList<>();
  private final List<ObjectNode> workloads = new ArrayList<>();
  private final Map<LocalQueueId, String> clusterQueues = new HashMap<>();

  private final List<String> remarks = new ArrayList<>();
  private final WorkloadParser parser = new WorkloadParser();
  private final RunTimeRecorder recorder;

  /**
   * Reads a cluster.
   *
   * @throws KubernetesClientException if the API server doesn't answer, or refuses
   * @throws IOException if an answer can't be read
   */
  LivePresent(KubernetesClient client, Options options, Instant now)
      throws IOException, InterruptedException {
    this.options = options;
    this.now = now;
    for (JsonNode namespace : list(client, "/api/v1/namespaces")) {
      declared
          .events()
          .add(
              new SchedulerEvent.NamespaceChanged(
                  namespace.at("/metadata/name").asText(),
                  JsonFields.map(namespace.path("metadata"), "labels")));
    }
    for (String path : DECLARATIONS) {
      for (ObjectNode object : list(client, path)) {
        declare(object);
      }
    }
    for (Kind kind : Kind.values()) {
      for (ObjectNode object : listIfAllowed(client, kind.plural())) {
        reserve(kind, object);
      }
    }
    for (ObjectNode object : listIfAllowed(client, "budgets")) {
      declareBudget(object);
    }
    workloads.addAll(list(client, PREFIX + "workloads"));
    recorder =
        new RunTimeRecorder(
            options.optionsMapper().runTimes(),
            this::clusterQueue,
            Runnable::run,
            () -> now,
            end -> {});
    new RunTimeStore(
            new ApiClient(client, ApiClient.Options.atATime(1)), options.namespace(), recorder)
        .load();
    for (ObjectNode workload : workloads) {
      recorder.changed(null, parsed(workload));
    }
    recorder.synced();
  }

  private static List<ObjectNode> list(KubernetesClient client, String path) throws IOException {
    List<ObjectNode> objects = new ArrayList<>();
    String next = "";
    do {
      String page;
      try {
        page =
            client.raw(
                path
                    + "?limit="
                    + PAGE
                    + (next.isEmpty()
                        ? ""
                        : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8)));
      } catch (KubernetesClientException e) {
        if (e.getCode() == NOT_FOUND && next.isEmpty()) {
          return List.of(); // the cluster doesn't have the kind
        }
        throw e;
      }
      JsonNode read = JsonMappers.JSON.readTree(page == null ? "{}" : page);
      String kind = read.path("kind").asText().replaceFirst("List$", "");
      for (JsonNode item : read.path("items")) {
        if (item instanceof ObjectNode object) {
          // items of a list don't say what they are
          object.put("kind", kind).put("apiVersion", read.path("apiVersion").asText());
          objects.add(object);
        }
      }
      next = read.at("/metadata/continue").asText();
    } while (!next.isEmpty());
    return objects;
  }

  /** Objects of a kind of ours, which somebody who may read queues needn't be allowed to read. */
  private List<ObjectNode> listIfAllowed(KubernetesClient client, String plural)
      throws IOException {
    try {
      return list(client, SLUICE + plural);
    } catch (KubernetesClientException e) {
      if (e.getCode() != FORBIDDEN) {
        throw e;
      }
      remarks.add("left out: all " + plural + ", which you may not list");
      return List.of();
    }
  }

  private void declare(ObjectNode object) {
    JsonNode metadata = object.path("metadata");
    if (object.path("kind").asText().equals("LocalQueue")) {
      clusterQueues.put(
          new LocalQueueId(metadata.path("namespace").asText(), metadata.path("name").asText()),
          object.at("/spec/clusterQueue").asText());
    }
    try {
      DeclarationFile.add(object, declared);
    } catch (IOException | RuntimeException e) {
      remarks.add("left out: " + e.getMessage());
    }
  }

  /** A Budget, with what the operator wrote down last of what was spent. */
  private void declareBudget(ObjectNode object) {
    String name = object.at("/metadata/name").asText();
    BudgetReader.Reading read = BudgetReader.read(name, object.path("spec"));
    JsonNode status = object.path("status");
    boolean isKept = !BudgetStatus.writer(status).isEmpty(); // else the operator reads none, too
    Optional<BudgetAccount> account = isKept ? BudgetStatus.read(status) : Optional.empty();
    read.budget()
        .ifPresent(
            budget -> {
              declared.events().add(new SchedulerEvent.BudgetChanged(budget, account));
              if (isKept && account.isEmpty()) {
                remarks.add(
                    "Budget %s: what was spent of it can't be read: it is counted from the begin on"
                        .formatted(name));
              }
            });
    read.faults().stream()
        .findFirst()
        .ifPresent(fault -> remarks.add("left out: Budget " + name + ": " + fault));
  }

  private void reserve(Kind kind, ObjectNode object) {
    String name = object.at("/metadata/name").asText();
    ReservationReader.Reading read = ReservationReader.read(kind, object.path("spec"));
    read.spec().ifPresent(spec -> reservations.add(new NamedReservation(name, spec)));
    read.faults().stream()
        .findFirst()
        .ifPresent(fault -> remarks.add("left out: " + kind.apiName() + " " + name + ": " + fault));
  }

  /** What is kept from a time on. */
  private SchedulerEvent kept(Map<String, PriorityClass> classes, Instant from) {
    List<SchedulerEvent.ReservedCapacity> kept = new ArrayList<>();
    for (NamedReservation each : reservations) {
      each.spec()
          .kept(
              each.name(),
              name -> Optional.ofNullable(classes.get(name)).map(known -> (long) known.value()),
              from)
          .ifPresent(kept::add);
    }
    return new SchedulerEvent.ReservationsChanged(kept);
  }

  private String clusterQueue(CachedWorkload workload) {
    return clusterQueues.getOrDefault(queue(workload), "");
  }

  private static LocalQueueId queue(CachedWorkload workload) {
    return new LocalQueueId(workload.id().namespace(), workload.spec().queueName());
  }

  private CachedWorkload parsed(ObjectNode workload) throws IOException {
    return parser.parse(JsonMappers.JSON.writeValueAsBytes(workload));
  }

  /** What queues say of run times, with what is changed. */
  private final class QueueLimits {

    private final Map<LocalQueueId, Map<String, String>> annotations;

    QueueLimits(DeclarationFile.Declared declaredOtherwise) {
      annotations = new HashMap<>(declared.annotations());
      annotations.putAll(declaredOtherwise.annotations());
    }

    private Annotations ofLocalQueue(CachedWorkload workload) {
      LocalQueueId queue = queue(workload);
      return new Annotations("LocalQueue " + queue, annotations.get(queue));
    }

    private Annotations ofClusterQueue(CachedWorkload workload) {
      String queue = clusterQueue(workload);
      return new Annotations("ClusterQueue " + queue, annotations.get(new LocalQueueId("", queue)));
    }

    Optional<QueueRunTime> defaultOf(CachedWorkload workload) {
      return QueueRunTime.defaultOf(ofLocalQueue(workload), ofClusterQueue(workload));
    }

    Optional<Duration> longest(CachedWorkload workload) {
      return QueueRunTime.maxOf(ofLocalQueue(workload), ofClusterQueue(workload))
          .map(QueueRunTime::runTime);
    }

    StartRules starts(CachedWorkload workload) {
      String queue =
          workload
              .status()
              .admission()
              .map(CachedWorkload.Admission::clusterQueue)
              .orElseGet(() -> clusterQueue(workload));
      return StartRules.of(annotations.get(new LocalQueueId("", queue)));
    }
  }

  private WorkloadTranslator translator(
      DeclarationFile.Declared declaredOtherwise,
      Map<String, PriorityClass> classes,
      QueueLimits queueLimits,
      RunTimeEstimator estimator) {
    boolean cheapest =
        Stream.concat(declared.events().stream(), declaredOtherwise.events().stream())
            .anyMatch(
                event ->
                    event instanceof SchedulerEvent.ClusterQueueChanged(var queue)
                        && queue.rules().cheapest().isPresent());
    WorkloadCosts costs = new WorkloadCosts(() -> cheapest);
    costs.estimateBy(workload -> estimator.of(workload).estimate());
    boolean budgets =
        Stream.concat(declared.events().stream(), declaredOtherwise.events().stream())
            .anyMatch(SchedulerEvent.BudgetChanged.class::isInstance);
    return new WorkloadTranslator(
        ResourceContext.NONE,
        options.optionsMapper().translation(),
        workload -> Set.of(),
        UnsupportedRequests.NONE,
        workload -> true,
        new WorkloadRules(
            queueLimits::starts,
            workload ->
                CachedPreemptionRules.className(workload)
                    .map(classes::get)
                    .map(PriorityClass::rules)
                    .or(() -> Optional.of(PreemptionRules.NONE)),
            workload -> Optional.empty(),
            workload -> budgets ? estimator.stated(workload) : Optional.empty(),
            costs,
            (workload, shape) -> Optional.empty(),
            VariantFamilies.NONE));
  }

  /** What changes by itself after the begin: what is kept, and the quota of unchanged queues. */
  private List<Happening> happenings(Map<String, PriorityClass> classes, Instant end) {
    List<Happening> happenings = new ArrayList<>(declared.later(now, end));
    for (Instant at = now.plus(CALENDAR);
        !reservations.isEmpty() && at.isBefore(end);
        at = at.plus(CALENDAR)) {
      happenings.add(new Happening.DeclarationEvent(at, kept(classes, at)));
    }
    return happenings;
  }

  /** The time from now on. */
  PlayInput input() throws IOException {
    return input(new DeclarationFile.Declared());
  }

  /**
   * The time from now on.
   *
   * @param declaredOtherwise what is to be otherwise. Of that, WorkloadPriorityClasses, and what
   *     queues say about Workloads, are in the input; the engine isn't told of the rest
   */
  PlayInput input(DeclarationFile.Declared declaredOtherwise) throws IOException {
    InlineScheduler scheduler =
        new InlineScheduler(options.optionsMapper().engine(), decision -> {});
    Map<String, PriorityClass> classes = new HashMap<>(declared.priorities());
    classes.putAll(declaredOtherwise.priorities());
    scheduler.apply(new SchedulerEvent.TimePassed(now));
    declared.at(now).forEach(scheduler::apply);
    scheduler.apply(kept(classes, now));
    QueueLimits queueLimits = new QueueLimits(declaredOtherwise);
    RunTimeEstimator estimator =
        new RunTimeEstimator(recorder::learned, queueLimits::defaultOf, () -> now);
    WorkloadTranslator translator = translator(declaredOtherwise, classes, queueLimits, estimator);
    RunBoundFeed bounds =
        new RunBoundFeed(
            scheduler::apply, new RunBounds(estimator::of, queueLimits::longest), () -> true);
    Map<WorkloadId, Duration> runTimes = new LinkedHashMap<>();
    List<PlayInput.RunningAtBegin> running = new ArrayList<>();
    long unknown = 0;
    for (ObjectNode object : workloads) {
      ObjectNode workload = prioritized(object, declaredOtherwise.priorities());
      CachedWorkload record = parsed(workload);
      SchedulerEvent event = translator.of(record);
      if (event instanceof SchedulerEvent.WorkloadReleased) {
        continue;
      }
      scheduler.apply(event);
      bounds.tellAll(List.of(record), any -> true);
      WorkloadRunTime runTime = estimator.of(record);
      Optional<Duration> whole = runTime.estimate().remaining(Duration.ZERO, MEDIAN);
      unknown += whole.isEmpty() ? 1 : 0;
      runTimes.put(record.id(), whole.orElse(options.runTime()));
      if (event instanceof SchedulerEvent.WorkloadReserving(var reserving)) {
        Duration age = runTime.age().orElse(Duration.ZERO);
        running.add(
            new PlayInput.RunningAtBegin(
                record.id(),
                again(translator, workload),
                Optional.of(
                    runTime
                        .estimate()
                        .remaining(age, MEDIAN)
                        .orElseGet(() -> rest(options.runTime(), age))),
                reserving.evicted()));
      }
    }
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
    Instant end = now.plus(options.horizon());
    return new PlayInput(
        scheduler.export(),
        now,
        end,
        happenings(classes, end),
        runTimes,
        running,
        PlayInput.STOPPING,
        remarks(unknown));
  }

  /** What is left of a run time that nobody knows: as long again, where it is over. */
  private static Duration rest(Duration runTime, Duration age) {
    return age.compareTo(runTime) < 0 ? runTime.minus(age) : age;
  }

  /** What is queued when the Workload is preempted: what it asks for. */
  private Optional<PendingWorkload> again(WorkloadTranslator translator, ObjectNode workload)
      throws IOException {
    ObjectNode asking = workload.deepCopy();
    asking.remove("status");
    return translator.of(parsed(asking)) instanceof SchedulerEvent.WorkloadPending(var pending)
        ? Optional.of(pending)
        : Optional.empty();
  }

  private static ObjectNode prioritized(
      ObjectNode workload, Map<String, PriorityClass> priorities) {
    JsonNode reference = workload.at("/spec/priorityClassRef");
    PriorityClass priority =
        reference.path("kind").asText().equals("WorkloadPriorityClass")
            ? priorities.get(reference.path("name").asText())
            : null;
    if (priority == null) {
      return workload;
    }
    ObjectNode changed = workload.deepCopy();
    changed.withObjectProperty("spec").put("priority", priority.value());
    return changed;
  }

  private List<String> remarks(long unknown) {
    List<String> all = new ArrayList<>(remarks);
    all.add("no job arrives: what waits and runs now is played");
    if (unknown > 0) {
      all.add(
          "nobody knows how long %d Workloads run: they run for %s"
              .formatted(unknown, options.runTime()));
    }
    all.add("limit ranges and the overhead of runtime classes are not counted");
    return all;
  }
}
