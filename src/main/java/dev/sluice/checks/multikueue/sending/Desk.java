package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.capacity.Fitting;
import dev.sluice.checks.multikueue.link.Around;
import dev.sluice.checks.multikueue.link.ClusterLinks;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.Action;
import dev.sluice.checks.multikueue.placement.Candidates;
import dev.sluice.checks.multikueue.placement.Local;
import dev.sluice.checks.multikueue.placement.Placement;
import dev.sluice.checks.multikueue.placement.Plan;
import dev.sluice.checks.multikueue.placement.Remote;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.WorkloadListener;
import dev.sluice.workloads.WorkloadReader;
import dev.sluice.workloads.WorkloadStore;
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
public final class Desk implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Desk.class);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration LATER = Duration.ofSeconds(2);
  private static final Duration MUCH_LATER = Duration.ofSeconds(30);

  private final ClusterLinks links;
  private final Targets targets;
  private final Leadership leadership;
  private final Around around;
  private final Rules rules;
  private final WorkloadStore workloads;
  private final Sender sender;
  private final JobWatches jobs;
  private final Views views;
  private final Planner planner;
  private final Renewals renewals;
  private final Leftovers leftovers;
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
      Placement placement,
      Mark mark,
      SentKinds kinds,
      Duration gcInterval,
      Renewals.Fence fence,
      Fitting fitting,
      LocalWorkers localWorkers,
      LocalPods localPods,
      Told told,
      boolean orchestrated) {}

  /** What is kept of a Workload between looks; guarded by the map that it is in. */
  private static final class File {
    private boolean running;
    private boolean again;
    private Optional<Instant> alarm = Optional.empty();
    private final Views.Notes notes = new Views.Notes();
  }

  /** Nothing is done before {@link #leadershipStarted}. */
  public Desk(
      KubernetesClient manager,
      ClusterLinks links,
      Targets targets,
      Leadership leadership,
      Around around,
      Rules rules) {
    this.links = links;
    this.targets = targets;
    this.leadership = leadership;
    this.around = around;
    this.rules = rules;
    this.workloads = rules.reader().store();
    Workers workers = new Workers(links::client);
    this.renewals =
        new Renewals(
            rules.fence(),
            rules.mark().origin(),
            workers,
            links,
            around,
            () -> open && leadership.leading());
    this.jobs = new JobWatches(rules.mark(), rules.kinds(), workers, around, new JobsElsewhere());
    this.sender =
        new Sender(
            manager,
            workers,
            rules.writer(),
            rules.mark(),
            renewals,
            rules.told(),
            new PodMirror.Pods(rules.localPods(), jobs),
            rules.orchestrated());
    this.views = new Views(links, sender, rules.fitting(), rules.localWorkers());
    this.planner = new Planner(rules.placement(), views);
    this.leftovers =
        new Leftovers(links, workloads, views, jobs, sender, leadership, around.io(), this::wake);
    rules.reader().listen(this);
    rules.localPods().observe((namespace, group) -> wakeIfKnown(new Key(namespace, group)));
  }

  /** This process leads from now on: looks at everything once. */
  public void leadershipStarted() {
    leadingSince = around.clock().instant();
    open = true;
    renewals.start();
    workloads.all().forEach(workload -> changed(null, workload));
    collect();
  }

  @Override
  public void changed(@Nullable Workload before, @Nullable Workload after) {
    Workload either = after == null ? before : after;
    if (either != null && open) {
      Key key = new Key(either.id().namespace(), either.id().name());
      if (files.containsKey(key) || check(either).isPresent() || !views.copies(key).isEmpty()) {
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
      around.io().execute(() -> work(key));
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
    Optional<Workload> local = workloads.get(key.namespace(), key.name());
    Map<String, JsonNode> there = views.copies(key);
    if (there.isEmpty() && local.filter(it -> !it.finished()).isEmpty()) {
      return false;
    }
    Errand errand =
        new Errand(
            rules.kinds(), key, local, local.flatMap(this::check), there, around.clock().instant());
    try {
      carryOut(errand, file);
    } catch (IOException | RuntimeException e) {
      failed(errand, "look", e);
    }
    return true;
  }

  private void carryOut(Errand errand, File file) throws IOException {
    if (errand.check().isEmpty() && errand.copies().isEmpty()) {
      return;
    }
    Local local = views.local(errand, file.notes);
    Candidates candidates = able(errand, views.candidates(errand, targets));
    Map<String, Remote> remotes = views.remotes(errand, leadingSince);
    Planner.Planned planned = planner.of(errand, local, candidates, remotes);
    Plan plan = planned.plan();
    plan.lookAgain().ifPresent(at -> alarm(errand.key(), at));
    if (carryOut(errand, file, plan)) {
      tell(errand, file.notes.telling(), planned.answers());
    }
  }

  /** Writes down what workers answered, when that is due. */
  private void tell(Errand errand, Telling telling, String text) throws IOException {
    String standing = errand.state().map(CheckState::message).orElse("");
    Optional<Instant> due = telling.due(text, standing, errand.now());
    if (due.isPresent() && !errand.now().isBefore(due.get())) {
      sender.tell(errand, text);
      telling.wrote(errand.now());
    } else {
      due.ifPresent(at -> alarm(errand.key(), at));
    }
  }

  /** Whether all of it is done, and nothing of the manager's Workload was written. */
  private boolean carryOut(Errand errand, File file, Plan plan) {
    for (Action action : plan.actions()) {
      try {
        Optional<Duration> again = sender.act(errand, action);
        if (action instanceof Action.Nominate) {
          file.notes.began(errand.now());
          alarm(errand.key(), errand.now());
          return false;
        }
        if (again.isPresent()) {
          alarm(errand.key(), around.clock().instant().plus(again.get()));
          return false;
        }
      } catch (IOException e) {
        failed(errand, action.toString(), e);
        if (!(action instanceof Action.Offer || action instanceof Action.Withdraw)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Without the workers that don't know its kind of job. */
  private Candidates able(Errand errand, Candidates candidates) {
    Optional<SentKind> kind = errand.check().flatMap(any -> errand.owner()).map(Errand.Owner::kind);
    if (kind.isEmpty()) {
      return candidates;
    }
    jobs.want(kind.get());
    if (kind.get().pods() != SentKind.Pods.NONE) {
      jobs.want(SentKinds.POD);
    }
    String why = "does not serve %s of %s".formatted(kind.get().kind(), kind.get().apiVersion());
    return candidates.without(jobs.lacking(kind.get())::contains, why);
  }

  private void failed(Errand errand, String what, Exception failure) {
    Duration pause =
        switch (failure) {
          case Server.ConflictException conflict -> SOON;
          case Server.RefusedException refused -> {
            LOG.warn(
                "workload={}/{} action={} refused=true reason=\"{}\"",
                errand.key().namespace(),
                errand.key().name(),
                what,
                refused.getMessage());
            errand
                .workload()
                .ifPresent(it -> rules.told().said(it, true, String.valueOf(refused.getMessage())));
            yield MUCH_LATER;
          }
          default -> {
            LOG.info(
                "workload={}/{} action={} failed=true reason=\"{}\"",
                errand.key().namespace(),
                errand.key().name(),
                what,
                failure.toString());
            yield LATER;
          }
        };
    alarm(errand.key(), around.clock().instant().plus(pause));
  }

  /** Wakes a Workload at a time, unless it is woken before anyway. */
  private void alarm(Key key, Instant at) {
    files.computeIfPresent(
        key,
        (any, file) -> {
          if (file.alarm.filter(set -> !set.isAfter(at)).isEmpty()) {
            file.alarm = Optional.of(at);
            Duration delay = Duration.between(around.clock().instant(), at);
            around.delays().after(delay.isNegative() ? Duration.ZERO : delay, () -> ring(key, at));
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

  private Optional<String> check(Workload workload) {
    return workload.status().admissionChecks().stream()
        .map(CheckState::name)
        .filter(name -> targets.of(name).isPresent())
        .findFirst();
  }

  /** Looks for what was left in workers, again and again. */
  private void collect() {
    if (open && !rules.gcInterval().isZero()) {
      leftovers.look();
      around.delays().after(rules.gcInterval(), this::collect);
    }
  }

  @Override
  public void close() {
    open = false;
    jobs.close();
  }

  private final class JobsElsewhere implements JobWatches.Listener {

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
