package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.link.ConnectionContext;
import dev.sluice.checks.multikueue.link.RemoteConnections;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.placement.PlacementPlan;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.world.LocalClusters;
import dev.sluice.workloads.CachedWorkload;
import dev.sluice.workloads.CachedWorkload.CheckState;
import dev.sluice.workloads.WorkloadListener;
import dev.sluice.workloads.WorkloadReader;
import dev.sluice.workloads.WorkloadLister;
import dev.sluice.workloads.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at each Workload when something about it has changed, here or in a worker, and when its
 * plan says so; has the plan carried out. At one Workload it looks with one thread at a time.
 */
public final class MultiKueueWorkloadReconciler implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(MultiKueueWorkloadReconciler.class);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration LATER = Duration.ofSeconds(2);
  private static final Duration MUCH_LATER = Duration.ofSeconds(30);

  private final RemoteConnections links;
  private final ClusterSelector clusterSelector;
  private final Leadership leadership;
  private final ConnectionContext connectionContext;
  private final Rules rules;
  private final WorkloadLister workloads;
  private final ActionExecutor actionExecutor;
  private final RemoteJobInformers jobs;
  private final WorkloadStateReader workloadStateReader;
  private final PlacementPlanner placementPlanner;
  private final LeaseHeartbeat leaseHeartbeat;
  private final OrphanCollector orphanCollector;
  private final Map<Key, File> files = new ConcurrentHashMap<>();
  private volatile boolean open;
  private volatile Instant leadingSince = Instant.MAX;

  /**
   * What things are done by.
   *
   * @param reader of the manager's Workloads; it isn't started yet
   * @param writer of the manager's Workloads
   * @param placement decides
   * @param mark tells our objects from others
   * @param kinds what can be sent
   * @param gcInterval how often what was left in workers is looked for; zero: never
   * @param fence what workers are told so that they stop what may run elsewhere
   * @param fitting knows where there is room
   * @param localWorkers where this cluster is a worker of its own
   * @param localPods which pods there are in this cluster
   * @param told is told
   * @param orchestrated whether workers may preempt only when they are told so
   */
  public record Rules(
      WorkloadReader reader,
      WorkloadWriter writer,
      WorkloadPlacement workloadPlacement,
      OriginLabel originLabel,
      MultiKueueKinds kinds,
      Duration gcInterval,
      LeaseHeartbeat.Fence fence,
      CapacityEstimator capacityEstimator,
      LocalClusters localClusters,
      LocalPods localPods,
      DispatchListener dispatchListener,
      boolean orchestrated) {}

  /** What is kept of a Workload between looks; guarded by the map that it is in. */
  private static final class File {
    private boolean running;
    private boolean again;
    private Optional<Instant> alarm = Optional.empty();
    private final WorkloadStateReader.Notes notes = new WorkloadStateReader.Notes();
  }

  /** Nothing is done before {@link #leadershipStarted}. */
  public MultiKueueWorkloadReconciler(
      KubernetesClient manager,
      RemoteConnections links,
      ClusterSelector clusterSelector,
      Leadership leadership,
      ConnectionContext connectionContext,
      Rules rules) {
    this.links = links;
    this.clusterSelector = clusterSelector;
    this.leadership = leadership;
    this.connectionContext = connectionContext;
    this.rules = rules;
    this.workloads = rules.reader().store();
    RemoteClients remoteClients = new RemoteClients(links::client);
    this.leaseHeartbeat =
        new LeaseHeartbeat(
            rules.fence(),
            rules.originLabel().origin(),
            remoteClients,
            links,
            connectionContext,
            () -> open && leadership.leading());
    this.jobs = new RemoteJobInformers(rules.originLabel(), rules.kinds(), remoteClients, connectionContext, new JobsElsewhere());
    this.actionExecutor =
        new ActionExecutor(
            manager,
            remoteClients,
            rules.writer(),
            rules.originLabel(),
            leaseHeartbeat,
            rules.dispatchListener(),
            new PodStatusSync.Pods(rules.localPods(), jobs),
            rules.orchestrated());
    this.workloadStateReader = new WorkloadStateReader(links, actionExecutor, rules.capacityEstimator(), rules.localClusters());
    this.placementPlanner = new PlacementPlanner(rules.workloadPlacement(), workloadStateReader);
    this.orphanCollector =
        new OrphanCollector(links, workloads, workloadStateReader, jobs, actionExecutor, leadership, connectionContext.io(), this::wake);
    rules.reader().listen(this);
    rules.localPods().observe((namespace, group) -> wakeIfKnown(new Key(namespace, group)));
  }

  /** This process leads from now on: looks at everything once. */
  public void leadershipStarted() {
    leadingSince = connectionContext.clock().instant();
    open = true;
    leaseHeartbeat.start();
    workloads.all().forEach(workload -> changed(null, workload));
    collect();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? before : after;
    if (either != null && open) {
      Key key = new Key(either.id().namespace(), either.id().name());
      if (files.containsKey(key) || check(either).isPresent() || !workloadStateReader.copies(key).isEmpty()) {
        wake(key);
      }
    }
  }

  /** A worker is connected now, or isn't any more. */
  public void connectionChanged(String cluster) {
    jobs.follow(cluster, links.client(cluster));
    wakeAll();
    links.workloads(cluster).ifPresent(objects -> objects.all().forEach(it -> wake(Key.of(it))));
  }

  /** Looks at all Workloads again that have to do with workers. */
  public void wakeAll() {
    files.keySet().forEach(this::wake);
  }

  /** Looks at a Workload, soon, on another thread. */
  public void wake(Key key) {
    if (!open) {
      return;
    }
    boolean[] start = {false};
    files.compute(
        key,
        (any, known) -> {
          File file = known == null ? new File() : known;
          start[0] = !file.running;
          file.again = file.running;
          file.running = true;
          return file;
        });
    if (start[0]) {
      connectionContext.io().execute(() -> work(key));
    }
  }

  private void work(Key key) {
    boolean[] more = {true};
    while (more[0]) {
      boolean known = look(key);
      files.computeIfPresent(
          key,
          (any, file) -> {
            more[0] = file.again;
            file.again = false;
            file.running = more[0];
            return more[0] || known ? file : null;
          });
    }
  }

  /** One look; false if there is nothing to remember of the Workload. */
  private boolean look(Key key) {
    File file = files.get(key);
    if (file == null || !open || !leadership.leading()) {
      return false;
    }
    Optional<CachedWorkload> local = workloads.get(key.namespace(), key.name());
    Map<String, JsonNode> there = workloadStateReader.copies(key);
    if (there.isEmpty() && local.filter(it -> !it.finished()).isEmpty()) {
      return false;
    }
    WorkloadGroup workloadGroup =
        new WorkloadGroup(
            rules.kinds(), key, local, local.flatMap(this::check), there, connectionContext.clock().instant());
    try {
      carryOut(workloadGroup, file);
    } catch (IOException | RuntimeException e) {
      failed(workloadGroup, "look", e);
    }
    return true;
  }

  private void carryOut(WorkloadGroup workloadGroup, File file) throws IOException {
    if (workloadGroup.check().isEmpty() && workloadGroup.copies().isEmpty()) {
      return;
    }
    ManagerState managerState = workloadStateReader.local(workloadGroup, file.notes);
    ClusterCandidates clusterCandidates = able(workloadGroup, workloadStateReader.candidates(workloadGroup, clusterSelector));
    Map<String, WorkerState> workerStates = workloadStateReader.remotes(workloadGroup, leadingSince);
    PlacementPlanner.Planned planned = placementPlanner.of(workloadGroup, managerState, clusterCandidates, workerStates);
    PlacementPlan placementPlan = planned.placementPlan();
    placementPlan.lookAgain().ifPresent(at -> alarm(workloadGroup.key(), at));
    if (carryOut(workloadGroup, file, placementPlan)) {
      tell(workloadGroup, file.notes.telling(), planned.answers());
    }
  }

  /** Writes down what workers answered, when that is due. */
  private void tell(WorkloadGroup workloadGroup, MessageThrottle messageThrottle, String text) throws IOException {
    String standing = workloadGroup.state().map(CheckState::message).orElse("");
    Optional<Instant> due = messageThrottle.due(text, standing, workloadGroup.now());
    if (due.isPresent() && !workloadGroup.now().isBefore(due.get())) {
      actionExecutor.tell(workloadGroup, text);
      messageThrottle.wrote(workloadGroup.now());
    } else {
      due.ifPresent(at -> alarm(workloadGroup.key(), at));
    }
  }

  /** Whether all of it is done, and nothing of the manager's Workload was written. */
  private boolean carryOut(WorkloadGroup workloadGroup, File file, PlacementPlan placementPlan) {
    for (PlacementAction placementAction : placementPlan.placementActions()) {
      try {
        Optional<Duration> again = actionExecutor.act(workloadGroup, placementAction);
        if (placementAction instanceof PlacementAction.Nominate) {
          file.notes.began(workloadGroup.now());
          alarm(workloadGroup.key(), workloadGroup.now());
          return false;
        }
        if (again.isPresent()) {
          alarm(workloadGroup.key(), connectionContext.clock().instant().plus(again.get()));
          return false;
        }
      } catch (IOException e) {
        failed(workloadGroup, placementAction.toString(), e);
        if (!(placementAction instanceof PlacementAction.Offer || placementAction instanceof PlacementAction.Withdraw)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Without the workers that don't know its kind of job. */
  private ClusterCandidates able(WorkloadGroup workloadGroup, ClusterCandidates clusterCandidates) {
    Optional<MultiKueueKind> kind = workloadGroup.check().flatMap(any -> workloadGroup.owner()).map(WorkloadGroup.Owner::kind);
    if (kind.isEmpty()) {
      return clusterCandidates;
    }
    jobs.want(kind.get());
    if (kind.get().pods() != MultiKueueKind.Pods.NONE) {
      jobs.want(MultiKueueKinds.POD);
    }
    String why = "does not serve %s of %s".formatted(kind.get().kind(), kind.get().apiVersion());
    return clusterCandidates.without(jobs.lacking(kind.get())::contains, why);
  }

  private void failed(WorkloadGroup workloadGroup, String what, Exception failure) {
    Duration pause =
        switch (failure) {
          case RemoteClient.ConflictException conflict -> SOON;
          case RemoteClient.RefusedException refused -> {
            LOG.warn(
                "workload={}/{} action={} refused=true reason=\"{}\"",
                workloadGroup.key().namespace(),
                workloadGroup.key().name(),
                what,
                refused.getMessage());
            workloadGroup
                .workload()
                .ifPresent(it -> rules.dispatchListener().said(it, true, String.valueOf(refused.getMessage())));
            yield MUCH_LATER;
          }
          default -> {
            LOG.info(
                "workload={}/{} action={} failed=true reason=\"{}\"",
                workloadGroup.key().namespace(),
                workloadGroup.key().name(),
                what,
                failure.toString());
            yield LATER;
          }
        };
    alarm(workloadGroup.key(), connectionContext.clock().instant().plus(pause));
  }

  /** Wakes a Workload at a time, unless it is woken before anyway. */
  private void alarm(Key key, Instant at) {
    files.computeIfPresent(
        key,
        (any, file) -> {
          if (file.alarm.filter(set -> !set.isAfter(at)).isEmpty()) {
            file.alarm = Optional.of(at);
            Duration delay = Duration.between(connectionContext.clock().instant(), at);
            connectionContext.delays().after(delay.isNegative() ? Duration.ZERO : delay, () -> ring(key, at));
          }
          return file;
        });
  }

  private void ring(Key key, Instant at) {
    files.computeIfPresent(
        key,
        (any, file) -> {
          file.alarm = file.alarm.filter(set -> !set.equals(at));
          return file;
        });
    wakeIfKnown(key);
  }

  private void wakeIfKnown(Key key) {
    if (files.containsKey(key)) {
      wake(key);
    }
  }

  private Optional<String> check(CachedWorkload workload) {
    return workload.status().admissionChecks().stream()
        .map(CheckState::name)
        .filter(name -> clusterSelector.of(name).isPresent())
        .findFirst();
  }

  /** Looks for what was left in workers, again and again. */
  private void collect() {
    if (open && !rules.gcInterval().isZero()) {
      orphanCollector.look();
      connectionContext.delays().after(rules.gcInterval(), this::collect);
    }
  }

  @Override
  public void close() {
    open = false;
    jobs.close();
  }

  private final class JobsElsewhere implements RemoteJobInformers.Listener {

    @Override
    public void changed(Key workload) {
      wake(workload);
    }

    @Override
    public void served() {
      wakeAll();
    }
  }
}
