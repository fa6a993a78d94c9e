package dev.sluice.app.module;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.core.model.PendingReason;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiClient.WriteLatency;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.events.EventRecorder.Reporter;
import dev.sluice.kube.events.EventRecorder.Routine;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.leader.KubernetesLeaseStore;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.leader.SharedObjectsGuard;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kubequeue.ForeignQueueUnit;
import dev.sluice.metrics.EventCounts;
import dev.sluice.metrics.MetricsScrape;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all modules of an operator share. */
public final class OperatorContext implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorContext.class);

  private final Configuration configuration;
  private final OptionsMapper options;
  private final Reflectors reflectors;
  private final KubernetesClient client;
  private final MetricsScrape metrics;
  private final InstantSource clock;
  private final Leadership leadership;
  private final ProcessSettings process;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final InformerSupervisor informers = new InformerSupervisor();
  private final EventRecorder events;
  private final WriteGate writes;
  private final SharedObjectsGuard shared;

  private final WriteLatency latency = new WriteLatency(System::nanoTime);
  private final CompletableFuture<Void> listed = new CompletableFuture<>();
  private final IntFunction<ApiClient> requests;

  /**
   * A context for one operator.
   *
   * @param reflectors their client is closed with the context
   * @param metrics closed with the context
   * @param leadership whether this process may decide and write
   */
  public OperatorContext(
      Configuration configuration,
      Reflectors reflectors,
      MetricsScrape metrics,
      Leadership leadership,
      ProcessSettings process) {
    this.configuration = configuration;
    ReconciledKinds.unknown(configuration.controller().groupKindConcurrency().keySet())
        .forEach(
            name ->
                LOG.warn(
                    "field=controller.groupKindConcurrency[{}] used=false reason=\"no controller"
                        + " reconciles objects of this kind; a name is Kind.group, such as"
                        + " Job.batch\"",
                    name));
    this.options = new OptionsMapper(configuration);
    this.reflectors = reflectors;
    this.client = reflectors.client();
    this.metrics = metrics;
    this.clock = reflectors.clock();
    this.leadership = leadership;
    this.process = process;
    this.writes = new WriteGate(leadership::leading);
    this.shared = LeaderElectorFactory.guard(configuration, client);
    this.requests =
        KubernetesClients.requests(client, configuration.clientConnection(), writes, latency);
    this.events =
        new EventRecorder(
            new KubernetesEventSink(client),
            clock,
            new EventRecorder.Reporter(process.identity(), ReportingControllers::of),
            EventRecorder.Budget.DEFAULT.with(RoutineEvents.BUDGET),
            new DecisionLoad(latency),
            new EventCounts(metrics.registry(), this::role));
  }

  Configuration configuration() {
    return configuration;
  }

  /** The configuration by package. */
  OptionsMapper options() {
    return options;
  }

  /** Whether a feature gate is on. */
  boolean isEnabled(FeatureGate gate) {
    return options.on(gate);
  }

  /** The client of the operator's own API server. */
  KubernetesClient client() {
    return client;
  }

  /** Makes the reflectors of the operator's own cluster. */
  Reflectors reflectors() {
    return reflectors;
  }

  /** What could not be read of the operator's own cluster. */
  ReadErrorLog readErrors() {
    return reflectors.errors();
  }

  /**
   * A client for requests about single objects. All share the configured rate, and write only while
   * this process leads.
   *
   * @param atATime how many requests it may have under way
   */
  ApiClient requests(int atATime) {
    return requests.apply(atATime);
  }

  /** How long writes to this cluster take. */
  WriteLatency latency() {
    return latency;
  }

  /** Lets writes through, to this cluster and to workers, while this process leads. */
  public WriteGate writes() {
    return writes;
  }

  /** Says whether objects that all operators of the API share may be written. */
  SharedObjectsGuard shared() {
    return shared;
  }

  /** Writes every metric of this process. */
  MetricsScrape metrics() {
    return metrics;
  }

  /** The clock of this process. */
  public InstantSource clock() {
    return clock;
  }

  Leadership leadership() {
    return leadership;
  }

  /** The label of metrics that tells the leader's samples from those of other replicas. */
  ReplicaRole role() {
    return ReplicaRole.valueOf(leadership.role().name());
  }

  ProcessSettings process() {
    return process;
  }

  /** Runs tasks that may block, each on a virtual thread. */
  public ExecutorService executor() {
    return executor;
  }

  /** Runs a task after the delay, and never before it has passed. */
  void schedule(Duration delay, Runnable task) {
    long millis = delay.toMillis() + 1; // toMillis rounds down
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, executor).execute(task);
  }

  /** Restarts the watches of all informers. */
  public InformerSupervisor informers() {
    return informers;
  }

  /** Completes when every module is started: the caches hold the cluster, Workloads included. */
  public CompletableFuture<Void> listed() {
    return listed;
  }

  /** How work queues run whose keys are not objects of one kind. */
  WorkQueueSettings workQueues() {
    return WorkQueueSettings.of(executor, this::schedule)
        .with(new GroupKindConcurrency(configuration.controller().groupKindConcurrency()));
  }

  /** How a work queue runs whose keys are objects of a kind. */
  WorkQueueSettings workQueue(JobKind kind) {
    return workQueues().ofKind(kind.group(), kind.kind());
  }

  EventRecorder events() {
    return events;
  }

  /**
   * Why the first of some kinds of this program alone can't be read; empty if all can. A cluster
   * may lack them, as Helm doesn't upgrade definitions.
   */
  Optional<String> unreadable(List<String> plurals) {
    return unreadable(
        "/apis/" + ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION, plurals);
  }

  /** The same for kinds of another group and version, such as {@code /apis/example.com/v1}. */
  Optional<String> unreadable(String api, List<String> plurals) {
    for (String plural : plurals) {
      try {
        if (client.raw(api + "/" + plural + "?limit=1") == null) {
          return Optional.of(api + " has no " + plural + ": their definition isn't installed");
        }
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
          return Optional.of("this operator may not list " + plural);
        }
      }
    }
    return Optional.empty();
  }

  /** Ends the process, for this reason. */
  public void fatal(String reason) {
    process.fatal().accept(reason);
  }

  @Override
  public void close() {
    try (client) {
      try (metrics;
          events) {
        // Events are closed before the metrics that count them.
      } finally {
        executor.shutdownNow();
      }
    }
  }

  /** The writes of decisions, which events give way to. */
  private record DecisionLoad(WriteLatency writeLatency) implements EventRecorder.Load {

    @Override
    public double share() {
      return writeLatency.share();
    }

    @Override
    public boolean isDeciding() {
      return writeLatency.isWriting();
    }
  }

  /**
   * The events of the usual course of a job. Each of them says what the status of the job or of its
   * Workload says, too, and nobody has to act upon it; evictions and warnings are not among them.
   */
  private static final class RoutineEvents {

    /** While decisions are written, a hundred per second of them are, and the rest afterwards. */
    static final Routine BUDGET =
        new Routine(
            Set.of(
                "CreatedWorkload",
                "QuotaReserved",
                "Admitted",
                "Started",
                "MultiKueue",
                "ProvisioningRequestCreated",
                "AdmissionCheckUpdated",
                "FinishedWorkload"),
            100,
            10_000,
            Duration.ofMinutes(1));

    private RoutineEvents() {}
  }

  /**
   * The controllers that events name as their source, by the names that Kueue gives them, because
   * people select events by {@code source} and {@code reportingComponent}: what is decided about a
   * Workload is {@code kueue-admission}'s, what is done to a job is that of its kind, such as
   * {@code batch/job-kueue-controller}.
   */
  static final class ReportingControllers {

    private static final String ADMISSION = "kueue-admission";

    /** The reasons of events by which the scheduler tells its decisions. */
    private static final Set<String> DECISIONS =
        Set.of("QuotaReserved", "Admitted", "Preempted", "PreemptedWorkload", "SecondPassFailed");

    private static final Set<String> PENDING =
        Stream.of(PendingReason.values()).map(PendingReason::apiReason).collect(Collectors.toSet());

    private static final List<JobKind> JOBS =
        BuiltInIntegrations.descriptions().stream().map(JobKindDescription::kind).toList();

    private ReportingControllers() {}

    /** The controller that an event with this reason about this object names. */
    static String of(ObjectReference about, String reason) {
      if (about.apiVersion().startsWith(KueueConstants.GROUP + "/")) {
        boolean decided = DECISIONS.contains(reason) || PENDING.contains(reason);
        return about.kind().equals("Workload") && decided
            ? ADMISSION
            : "kueue-" + about.kind().toLowerCase(Locale.ROOT) + "-controller";
      }
      return JOBS.stream()
          .filter(kind -> kind.is(about.apiVersion(), about.kind()))
          .findFirst()
          .map(kind -> kind.framework() + "-kueue-controller")
          .orElse(Reporter.UNNAMED);
    }
  }

  /**
   * The kinds whose objects this program has controllers for, whether they are turned on or not, by
   * the names that {@code controller.groupKindConcurrency} has for them.
   */
  static final class ReconciledKinds {

    private static final List<Class<? extends HasMetadata>> QUEUE_KINDS =
        List.of(
            AdmissionCheck.class,
            ClusterQueue.class,
            Cohort.class,
            LocalQueue.class,
            MultiKueueCluster.class,
            ResourceFlavor.class,
            Topology.class,
            WorkloadPriorityClass.class);

    private ReconciledKinds() {}

    /** Those of the names that name no such kind, in alphabetical order. */
    static List<String> unknown(Collection<String> names) {
      Set<String> known = names();
      return names.stream().filter(name -> !known.contains(name)).sorted().toList();
    }

    private static Set<String> names() {
      Stream<JobKind> kinds =
          Stream.concat(
              BuiltInIntegrations.reconciledKinds().stream(),
              Stream.of(JobKind.WORKLOAD, ForeignQueueUnit.KIND));
      return Stream.concat(
              kinds.map(kind -> GroupKindConcurrency.name(kind.group(), kind.kind())),
              QUEUE_KINDS.stream()
                  .map(
                      kind ->
                          GroupKindConcurrency.name(
                              HasMetadata.getGroup(kind), HasMetadata.getKind(kind))))
          .collect(Collectors.toSet());
    }
  }

  /**
   * Writes events to the API server. Events are half of the writes of a Job, and nobody reads what
   * the API server answers to them: the answers aren't parsed.
   */
  private static final class KubernetesEventSink implements EventSink {

    private static final String JSON = "application/json";
    private static final String MERGE_PATCH = "application/merge-patch+json";
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final KubernetesClient client;

    /** With the client to write with. */
    public KubernetesEventSink(KubernetesClient client) {
      this.client = client;
    }

    @Override
    public void create(Event event) {
      send("POST", collection(event), JSON, json(event).toString());
    }

    @Override
    public void update(Event event, EventSeries series) {
      String path = collection(event) + "/" + event.getMetadata().getName();
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch.set("series", json(series));
      send("PATCH", path, MERGE_PATCH, patch.toString());
    }

    /** What the recorder sets. The client's own serializer asks each property of each type. */
    private static ObjectNode json(Event event) {
      ObjectNode node = JsonNodeFactory.instance.objectNode();
      node.put("apiVersion", event.getApiVersion());
      node.put("kind", event.getKind());
      node.putObject("metadata")
          .put("name", event.getMetadata().getName())
          .put("namespace", event.getMetadata().getNamespace());
      node.put("eventTime", event.getEventTime().getTime());
      node.put("reportingController", event.getReportingController());
      node.put("reportingInstance", event.getReportingInstance());
      node.put("action", event.getAction());
      node.put("reason", event.getReason());
      node.put("type", event.getType());
      node.put("note", event.getNote());
      io.fabric8.kubernetes.api.model.ObjectReference about = event.getRegarding();
      node.putObject("regarding")
          .put("apiVersion", about.getApiVersion())
          .put("kind", about.getKind())
          .put("namespace", about.getNamespace())
          .put("name", about.getName())
          .put("uid", about.getUid());
      if (event.getSeries() != null) {
        node.set("series", json(event.getSeries()));
      }
      return node;
    }

    private static ObjectNode json(EventSeries series) {
      return JsonNodeFactory.instance
          .objectNode()
          .put("count", series.getCount())
          .put("lastObservedTime", series.getLastObservedTime().getTime());
    }

    private String collection(Event event) {
      return "%sapis/%s/namespaces/%s/events"
          .formatted(
              client.getMasterUrl(), event.getApiVersion(), event.getMetadata().getNamespace());
    }

    private void send(String method, String uri, String contentType, String body) {
      HttpRequest request =
          client
              .getHttpClient()
              .newHttpRequestBuilder()
              .uri(uri)
              .header("Accept", JSON)
              .timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
              .method(method, contentType, body)
              .build();
      HttpResponse<byte[]> answer = client.getHttpClient().sendAsync(request, byte[].class).join();
      if (!answer.isSuccessful()) {
        throw new IllegalStateException("the API server answered " + answer.code());
      }
    }
  }

  /** Makes what works with the lease that the configuration names. */
  public static final class LeaderElectorFactory {

    private static final Duration LEASE_TIMEOUT = Duration.ofSeconds(5);

    private LeaderElectorFactory() {}

    /** An elector that isn't started, of a process with this identity. */
    public static LeaseElector elector(
        Configuration configuration,
        KubernetesClient client,
        InstantSource clock,
        String identity,
        Leadership.Listener listener) {
      var election = configuration.leaderElection();
      return new LeaseElector(
          new LeaseElector.Settings(
              identity, election.leaseDuration(), election.renewDeadline(), election.retryPeriod()),
          store(configuration, client),
          clock,
          System::nanoTime,
          listener);
    }

    /** Says whether what all operators of the API share may be written. */
    static SharedObjectsGuard guard(Configuration configuration, KubernetesClient client) {
      return new SharedObjectsGuard(
          store(configuration, client),
          System::nanoTime,
          configuration.leaderElection().leaseDuration());
    }

    /** Says whether any operator of the API, this one included, renews the lease. */
    public static SharedObjectsGuard guardAgainstAnyOperator(
        Configuration configuration, KubernetesClient client) {
      return SharedObjectsGuard.againstAnyOperator(
          store(configuration, client),
          System::nanoTime,
          configuration.leaderElection().leaseDuration());
    }

    private static KubernetesLeaseStore store(
        Configuration configuration, KubernetesClient client) {
      var election = configuration.leaderElection();
      return new KubernetesLeaseStore(
          client,
          election.resourceNamespace().isEmpty()
              ? configuration.namespace()
              : election.resourceNamespace(),
          election.resourceName(),
          LEASE_TIMEOUT);
    }
  }

  /**
   * The process in which an operator runs.
   *
   * @param identity who this process is: unlike any other, past ones included
   * @param hosts names and addresses by which the API server reaches this process
   * @param webhookClientAuthority PEM file of the authorities whose clients the webhooks answer
   *     about admission; all clients are answered when empty
   * @param fatal called with the reason when the process has to end: it has lost its lease, or has
   *     failed in a way that only a new start can mend
   * @param again called with the reason when the operator has to be closed and started anew
   */
  public record ProcessSettings(
      String identity,
      List<String> hosts,
      Optional<Path> webhookClientAuthority,
      Consumer<String> fatal,
      Consumer<String> again) {

    /**
     * The name of the pod in which this process runs. The shipped manifests tell the name;
     * elsewhere it is that of the host, which is the node's where the pod uses its network.
     *
     * @return the name; empty if the environment tells none
     */
    public static Optional<String> ownPod() {
      return Stream.of("POD_NAME", "HOSTNAME")
          .map(System::getenv)
          .filter(name -> name != null && !name.isEmpty())
          .findFirst();
    }
  }
}
