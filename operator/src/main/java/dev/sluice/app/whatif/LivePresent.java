package dev.sluice.app.whatif;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.QueueRunTime.Annotations;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.RunBoundFeed;
import dev.sluice.forecast.feed.RunBounds;
import dev.sluice.forecast.feed.RunTimeEstimator;
import dev.sluice.forecast.feed.RunTimeRecorder;
import dev.sluice.forecast.feed.RunTimeStore;
import dev.sluice.forecast.feed.WorkloadRunTime;
import dev.sluice.forecast.runtimes.RunTimeOptions;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
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

/**
 * What a cluster has now, to be played from here on (docs/what-if.md#a-cluster): its declarations,
 * the Workloads that wait and run, and how long these are expected to run.
 */
final class LivePresent {

  private static final String PREFIX = "/apis/kueue.x-k8s.io/v1beta2/";
  private static final int PAGE = 500;
  private static final int NOT_FOUND = 404;
  private static final double MEDIAN = 0.5;

  /** Declared in this order: what refers to others comes after them. */
  private static final List<String> DECLARATIONS =
      List.of(
          PREFIX + "resourceflavors",
          PREFIX + "topologies",
          PREFIX + "cohorts",
          PREFIX + "clusterqueues",
          PREFIX + "localqueues",
          "/api/v1/nodes");

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

  private final Options options;
  private final Instant now;
  private final List<SchedulerEvent> declarations = new ArrayList<>();
  private final List<ObjectNode> workloads = new ArrayList<>();
  private final Map<LocalQueueId, String> clusterQueues = new HashMap<>();

  /** Annotations of queues; those of a ClusterQueue have an empty namespace. */
  private final Map<LocalQueueId, Map<String, String>> annotations = new HashMap<>();

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
      declarations.add(
          new SchedulerEvent.NamespaceChanged(
              namespace.at("/metadata/name").asText(),
              JsonFields.map(namespace.path("metadata"), "labels")));
    }
    for (String path : DECLARATIONS) {
      for (ObjectNode object : list(client, path)) {
        declare(object);
      }
    }
    workloads.addAll(list(client, PREFIX + "workloads"));
    recorder =
        new RunTimeRecorder(
            RunTimeOptions.DEFAULT, this::clusterQueue, Runnable::run, () -> now, end -> {});
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

  private void declare(ObjectNode object) {
    JsonNode metadata = object.path("metadata");
    String name = metadata.path("name").asText();
    String kind = object.path("kind").asText();
    LocalQueueId queue = new LocalQueueId(metadata.path("namespace").asText(), name);
    if (kind.equals("ClusterQueue") || kind.equals("LocalQueue")) {
      annotations.put(queue, JsonFields.map(metadata, "annotations"));
      clusterQueues.put(queue, object.at("/spec/clusterQueue").asText());
    }
    try {
      declarations.addAll(DeclarationFile.events(object, name));
    } catch (IOException | RuntimeException e) {
      remarks.add("left out: " + e.getMessage());
    }
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

  private Annotations ofLocalQueue(CachedWorkload workload) {
    LocalQueueId queue = queue(workload);
    return new Annotations("LocalQueue " + queue, annotations.get(queue));
  }

  private Annotations ofClusterQueue(CachedWorkload workload) {
    String queue = clusterQueue(workload);
    return new Annotations("ClusterQueue " + queue, annotations.get(new LocalQueueId("", queue)));
  }

  private Optional<QueueRunTime> defaultOf(CachedWorkload workload) {
    return QueueRunTime.defaultOf(ofLocalQueue(workload), ofClusterQueue(workload));
  }

  private Optional<Duration> longest(CachedWorkload workload) {
    return QueueRunTime.maxOf(ofLocalQueue(workload), ofClusterQueue(workload))
        .map(QueueRunTime::runTime);
  }

  /**
   * The time from now on.
   *
   * @param priorities of WorkloadPriorityClasses, where they are to be others than they are
   */
  PlayInput input(Map<String, Integer> priorities) throws IOException {
    InlineScheduler scheduler =
        new InlineScheduler(options.optionsMapper().engine(), decision -> {});
    scheduler.apply(new SchedulerEvent.TimePassed(now));
    declarations.forEach(scheduler::apply);
    WorkloadTranslator translator =
        new WorkloadTranslator(ResourceContext.NONE, options.optionsMapper().translation());
    RunTimeEstimator estimator =
        new RunTimeEstimator(recorder::learned, this::defaultOf, () -> now);
    RunBoundFeed bounds =
        new RunBoundFeed(scheduler::apply, new RunBounds(estimator::of, this::longest), () -> true);
    Map<WorkloadId, Duration> runTimes = new LinkedHashMap<>();
    List<PlayInput.RunningAtBegin> running = new ArrayList<>();
    long unknown = 0;
    for (ObjectNode object : workloads) {
      ObjectNode workload = prioritized(object, priorities);
      CachedWorkload record = parsed(workload);
      SchedulerEvent event = translator.of(record);
      if (event instanceof SchedulerEvent.WorkloadReleased) {
        continue;
      }
      scheduler.apply(event);
      bounds.tellAll(List.of(record));
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
    return new PlayInput(
        scheduler.export(),
        now,
        now.plus(options.horizon()),
        List.of(),
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

  private static ObjectNode prioritized(ObjectNode workload, Map<String, Integer> priorities) {
    JsonNode reference = workload.at("/spec/priorityClassRef");
    Integer priority =
        reference.path("kind").asText().equals("WorkloadPriorityClass")
            ? priorities.get(reference.path("name").asText())
            : null;
    if (priority == null) {
      return workload;
    }
    ObjectNode changed = workload.deepCopy();
    changed.withObjectProperty("spec").put("priority", priority);
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
