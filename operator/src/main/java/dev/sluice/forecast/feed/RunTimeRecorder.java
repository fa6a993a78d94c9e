package dev.sluice.forecast.feed;

import dev.sluice.api.config.LedgerSettings;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeOptions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodRequests;
import dev.sluice.workload.record.PodTemplateHash;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.status.Variants;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the runs of Workloads when they end, each once (docs/run-times.md#recording). Workloads
 * of the first listing that have finished already count if what was saved doesn't have them. Every
 * replica records, so that a new leader knows what the last one knew. Thread-safe.
 */
public final class RunTimeRecorder implements WorkloadListener {

  private static final Logger LOG = LoggerFactory.getLogger(RunTimeRecorder.class);

  private final RunTimeOptions options;
  private final Function<CachedWorkload, String> clusterQueues;
  private final Executor oneByOne;
  private final InstantSource clock;
  private final Consumer<FinishedRun.End> observer;

  /** Guards the fields below. */
  private final ReentrantLock lock = new ReentrantLock();

  private final RunTimeHistory history;
  private CountedRuns counted = new CountedRuns();
  private long changes;

  /** This field and the next one are used by whoever tells of Workloads, one call at a time. */
  private final List<EndedRun> listed = new ArrayList<>();

  private boolean listing = true;

  private record EndedRun(CachedWorkload workload, FinishedRun run) {}

  /**
   * Remembers nothing yet.
   *
   * @param clusterQueues the ClusterQueue that the LocalQueue of a Workload names; empty if it
   *     isn't known
   * @param oneByOne runs tasks in their order, one at a time
   * @param observer is told of each run that is recorded
   */
  public RunTimeRecorder(
      RunTimeOptions options,
      Function<CachedWorkload, String> clusterQueues,
      Executor oneByOne,
      InstantSource clock,
      Consumer<FinishedRun.End> observer) {
    this.options = options;
    this.clusterQueues = clusterQueues;
    this.oneByOne = oneByOne;
    this.clock = clock;
    this.observer = observer;
    this.history = new RunTimeHistory(options);
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    // the run is that of the parent, whose conditions those of a variant follow
    if (after == null || Variants.isVariant(after)) {
      return;
    }
    Optional<FinishedRun> run = WorkloadRuns.ended(before, after);
    if (run.isEmpty()) {
      return;
    }
    // an eviction takes the admission away
    CachedWorkload ran = before == null || after.status().admission().isPresent() ? after : before;
    EndedRun ended = new EndedRun(ran, run.get());
    if (listing) {
      listed.add(ended);
    } else {
      oneByOne.execute(() -> record(ended));
    }
  }

  @Override
  public void synced() {
    listing = false;
    List<EndedRun> ended = new ArrayList<>(listed);
    listed.clear();
    oneByOne.execute(
        () -> {
          ended.removeIf(each -> locked(() -> counted.isPast(each.run().endedAt())));
          ended.sort(Comparator.comparing(each -> each.run().endedAt()));
          ended.forEach(this::record);
        });
  }

  private void record(EndedRun ended) {
    FinishedRun run = ended.run();
    // what people can write into a status must not make everything else old
    if (run.endedAt().isAfter(clock.instant().plus(CountedRuns.MARGIN))
        || run.endedAt().isBefore(clock.instant().minus(options.window()))) {
      return;
    }
    try {
      List<RunTimeGroup> groups = groups(ended.workload());
      boolean isNew =
          locked(
              () -> {
                boolean added = counted.add(ended.workload().id(), run.endedAt());
                if (added) {
                  history.add(groups, run);
                  changes++;
                }
                return added;
              });
      if (isNew) {
        observer.accept(run.end());
      }
    } catch (RuntimeException e) {
      LOG.error("workload={} run=unrecorded", ended.workload().id(), e);
    }
  }

  private List<RunTimeGroup> groups(CachedWorkload workload) {
    return WorkloadGroups.of(
        workload,
        workload
            .status()
            .admission()
            .map(Admission::clusterQueue)
            .orElseGet(() -> clusterQueues.apply(workload)));
  }

  /** What runs like those of the Workload say; empty if too few have ended. */
  public Optional<Learned> learned(CachedWorkload workload) {
    List<RunTimeGroup> groups = groups(workload);
    return locked(() -> history.learned(groups, clock.instant()));
  }

  /** The number of groups that are remembered. */
  public int groups() {
    return locked(history::size);
  }

  /** How many runs this process has recorded. */
  long changes() {
    return locked(() -> changes);
  }

  /** Everything that is remembered. */
  SavedRunTimes saved() {
    return locked(() -> new SavedRunTimes(counted.saved(), history.saved()));
  }

  /** Replaces what is remembered; to be called before Workloads are listed. */
  void restore(SavedRunTimes saved) {
    locked(
        () -> {
          counted = new CountedRuns(saved.counted());
          history.restore(saved.groups());
          return true;
        });
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The groups that the runs of a Workload belong to (docs/run-times.md#groups). Users are no
   * group: who created a job isn't known of every kind, and what annotations say of it can be made
   * up.
   */
  static final class WorkloadGroups {

    private WorkloadGroups() {}

    /**
     * The groups, from the narrowest to the widest. Keys have a bounded length, whatever people
     * write.
     *
     * @param clusterQueue the ClusterQueue that admitted the Workload, or would; empty if not known
     */
    static List<RunTimeGroup> of(CachedWorkload workload, String clusterQueue) {
      List<RunTimeGroup> groups = new ArrayList<>(5);
      String namespace = workload.id().namespace();
      String queue = namespace + "/" + workload.spec().queueName();
      boolean queued = !workload.spec().queueName().isEmpty();
      if (queued) {
        groups.add(new RunTimeGroup(Level.TEMPLATE, queue + "/" + templates(workload)));
      }
      String name = workload.owner().map(Owner::name).orElse(workload.id().name());
      groups.add(new RunTimeGroup(Level.NAME, namespace + "/" + RunTimeGroup.stem(name)));
      String user = workload.labels().getOrDefault(LedgerSettings.USER_LABEL, "");
      if (!user.isEmpty()) {
        groups.add(new RunTimeGroup(Level.USER, namespace + "/" + user + "/" + request(workload)));
      }
      if (queued) {
        groups.add(new RunTimeGroup(Level.LOCAL_QUEUE, queue + "/" + request(workload)));
      }
      if (!clusterQueue.isEmpty()) {
        groups.add(new RunTimeGroup(Level.CLUSTER_QUEUE, clusterQueue));
      }
      return groups;
    }

    private static String templates(CachedWorkload workload) {
      List<PodSet> podSets = workload.spec().podSets();
      return podSets.size() == 1
          ? podSets.getFirst().template().fingerprint()
          : PodTemplateHash.digest(
              podSets.stream()
                  .map(podSet -> podSet.name() + "=" + podSet.template().fingerprint())
                  .collect(Collectors.joining(",")));
    }

    /** What the pods request, as the templates say it: defaults of the namespace are the same. */
    private static String request(CachedWorkload workload) {
      return PodTemplateHash.digest(
          workload.spec().podSets().stream()
              .map(
                  podSet ->
                      podSet.count()
                          + "*"
                          + PodRequests.of(
                                  podSet.template(), NamespaceLimits.NONE, ResourceContext.NONE)
                              .perPod())
              .collect(Collectors.joining(",")));
    }
  }
}
