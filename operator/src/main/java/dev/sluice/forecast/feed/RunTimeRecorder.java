package dev.sluice.forecast.feed;

import dev.sluice.api.config.LedgerSettings;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodTemplateHash;
import dev.sluice.workload.record.PodTemplateParser.PodRequests;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.Variants;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /**
   * Which runs were counted, so that none is counted twice after a restart: all that ended before a
   * time, and those after it one by one. Not thread-safe.
   */
  static final class CountedRuns {

    /**
     * How much later than another one a run may be told that ended before it: clocks of two leaders
     * differ, and a condition has the time at which it was decided.
     */
    static final Duration MARGIN = Duration.ofMinutes(2);

    /** The most runs that are remembered one by one. */
    static final int MOST = 16_384;

    private Instant until;
    private Instant newest;
    private final LinkedHashMap<Long, Instant> later = new LinkedHashMap<>();

    /** No run was counted. */
    CountedRuns() {
      this(new Saved(Instant.EPOCH, Map.of()));
    }

    /** The runs were counted that were saved. */
    CountedRuns(Saved saved) {
      until = saved.until();
      newest = saved.until();
      saved.later().entrySet().stream()
          .sorted(Map.Entry.comparingByValue())
          .forEach(each -> remember(each.getKey(), each.getValue()));
    }

    /**
     * What is saved.
     *
     * @param until all runs that ended before it were counted, or are not to be
     * @param later the runs that were counted and ended at that time or later, each with its end
     */
    record Saved(Instant until, Map<Long, Instant> later) {
      Saved {
        later = Map.copyOf(later);
      }
    }

    /**
     * Whether a run that ended then is too old to be told from the others: it counts as counted.
     */
    boolean isPast(Instant endedAt) {
      return endedAt.isBefore(until);
    }

    /** Counts a run; false if it was counted before. */
    boolean add(WorkloadId workload, Instant endedAt) {
      long key = key(workload, endedAt);
      if (later.containsKey(key)) {
        return false;
      }
      remember(key, endedAt);
      Instant forgotten = newest.minus(MARGIN);
      Iterator<Instant> oldest = later.values().iterator();
      while (oldest.hasNext()) {
        Instant each = oldest.next();
        if (!each.isBefore(forgotten) && later.size() <= MOST) {
          break;
        }
        oldest.remove();
        Instant after = each.plusMillis(1);
        until = after.isAfter(until) ? after : until;
      }
      return true;
    }

    private void remember(long key, Instant endedAt) {
      later.put(key, endedAt);
      newest = endedAt.isAfter(newest) ? endedAt : newest;
    }

    Saved saved() {
      return new Saved(until, later);
    }

    /** A number that tells the run from all others, by FNV-1a. */
    private static long key(WorkloadId workload, Instant endedAt) {
      long hash = 0xcbf29ce484222325L;
      String text = workload.uid() + "/" + endedAt.getEpochSecond();
      for (int i = 0; i < text.length(); i++) {
        hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
      }
      return hash;
    }
  }

  /** Reads runs from the conditions of Workloads (docs/run-times.md#recording). */
  static final class WorkloadRuns {

    private static final String ADMITTED = "Admitted";

    private WorkloadRuns() {}

    /**
     * The run that a change of a Workload ends; empty if it ends none.
     *
     * @param before the previous version; null when the Workload is seen for the first time
     */
    static Optional<FinishedRun> ended(@Nullable CachedWorkload before, CachedWorkload after) {
      if (after.finished()) {
        return before != null && (before.finished() || before.evicted())
            ? Optional.empty()
            : finished(before, after);
      }
      if (before == null || !before.admitted() || before.evicted()) {
        return Optional.empty();
      }
      return after.evicted() || !after.admitted() ? evicted(before, after) : Optional.empty();
    }

    private static Optional<FinishedRun> finished(
        @Nullable CachedWorkload before, CachedWorkload after) {
      Condition finished = after.status().condition("Finished").orElseThrow();
      CachedWorkload running = before == null || after.admitted() ? after : before;
      End end =
          switch (finished.reason()) {
            case "Succeeded" -> End.SUCCEEDED;
            case "Failed" -> End.FAILED;
            default -> End.EVICTED;
          };
      Instant endedAt = finished.lastTransitionTime();
      return startedAt(running, endedAt).map(started -> run(started, endedAt, end));
    }

    /** The eviction is the end, not the moment when the pods are gone. */
    private static Optional<FinishedRun> evicted(CachedWorkload before, CachedWorkload after) {
      boolean neverReady =
          before.status().condition(PodsReady.TYPE).filter(PodsReady::isStarting).isPresent();
      if (neverReady) {
        return Optional.empty();
      }
      return after
          .status()
          .condition(after.evicted() ? "Evicted" : ADMITTED)
          .map(Condition::lastTransitionTime)
          .flatMap(
              endedAt ->
                  startedAt(before, endedAt).map(started -> run(started, endedAt, End.EVICTED)));
    }

    private static FinishedRun run(Instant started, Instant endedAt, End end) {
      return new FinishedRun(endedAt, Duration.between(started, endedAt), end);
    }

    /**
     * When the run of an admitted Workload began: when its pods were ready, else at its admission;
     * empty if it isn't admitted.
     *
     * @param until the end of the run, or now. Readiness that is told with the end says nothing
     */
    static Optional<Instant> startedAt(CachedWorkload workload, Instant until) {
      Optional<Instant> admitted =
          workload.status().trueCondition(ADMITTED).map(Condition::lastTransitionTime);
      return admitted.map(
          at ->
              workload
                  .status()
                  .trueCondition(PodsReady.TYPE)
                  // pods that are ready again began to run before that
                  .filter(ready -> ready.reason().equals(PodsReady.STARTED))
                  .map(Condition::lastTransitionTime)
                  .filter(ready -> !ready.isBefore(at) && ready.isBefore(until))
                  .orElse(at));
    }
  }
}
