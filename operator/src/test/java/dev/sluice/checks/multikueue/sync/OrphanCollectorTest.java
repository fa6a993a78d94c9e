package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.kube.Fakes;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is left in workers of Workloads and jobs that the manager has no more. */
class OrphanCollectorTest implements OrphanCollector.Workers {

  private static final MultiKueueKind JOB = MultiKueueKind.of(new BatchJob()).orElseThrow();
  private static final MultiKueueKind SET = MultiKueueKind.of(new LeaderWorkerSets()).orElseThrow();
  private static final Key GONE = new Key("physics", "gone");
  private static final Key KEPT = new Key("physics", "kept");

  private final Fakes.SetWorkloads workloads = new Fakes.SetWorkloads();
  private final Map<Key, Set<String>> copies = new TreeMap<>(Comparator.comparing(Key::name));
  private final Map<String, Map<String, Key>> jobs = new TreeMap<>();
  private final Map<String, Set<String>> sets = new TreeMap<>();
  private final Set<String> shared = new TreeSet<>();
  private final List<String> removed = new ArrayList<>();
  private final List<Key> enqueued = new ArrayList<>();
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private boolean leading = true;
  private final OrphanCollector collector =
      new OrphanCollector(this, workloads, () -> leading, tasks::add, enqueued::add);

  @Override
  public Stream<Key> copies() {
    return copies.entrySet().stream()
        .flatMap(copy -> copy.getValue().stream().map(cluster -> copy.getKey()));
  }

  @Override
  public Set<String> clustersOf(Key workload) {
    return copies.getOrDefault(workload, Set.of());
  }

  @Override
  public boolean isShared(String cluster, MultiKueueKind kind, Key job) {
    return shared.contains(cluster + "/" + job.name());
  }

  @Override
  public void visitJobs(RemoteJobInformers.Visitor visitor) {
    jobs.forEach(
        (cluster, names) ->
            names.forEach(
                (name, workload) -> {
                  visitor.visit(cluster, JOB, new Key("physics", name), workload);
                }));
    sets.forEach(
        (cluster, names) ->
            names.forEach(
                name -> {
                  Key set = new Key("physics", name);
                  visitor.visit(cluster, SET, set, set);
                }));
  }

  @Override
  public void remove(String cluster, MultiKueueKind kind, Key workload, String name) {
    removed.add(cluster + " " + kind.kind() + " " + name + " of " + workload.name());
  }

  private void copy(Key workload, String cluster) {
    copies.computeIfAbsent(workload, key -> new TreeSet<>()).add(cluster);
  }

  private void job(String cluster, String name, Key workload) {
    jobs.computeIfAbsent(cluster, key -> new TreeMap<>()).put(name, workload);
  }

  /** The manager's Workload of this name, with these fields of metadata and status. */
  private void given(String name, String metadata, String status) throws IOException {
    String json =
        "{'metadata': {'name': '%s', 'namespace': 'physics'%s}, 'status': {%s}}"
            .formatted(name, metadata, status)
            .replace('\'', '"');
    workloads.workloads.put(
        name, new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8)));
  }

  private void collect() {
    collector.collect();
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  @Test
  void copiesWhoseWorkloadIsGoneOrGoingAreReconciled() throws Exception {
    given("kept", "", "");
    given("going", ", 'deletionTimestamp': '2026-03-01T12:00:00Z'", "");
    copy(KEPT, "a");
    copy(GONE, "a");
    copy(new Key("physics", "going"), "b");

    collect();

    assertThat(enqueued).containsExactly(new Key("physics", "going"), GONE);
  }

  @Test
  void jobsWithoutACopyInTheirWorkerAreRemoved() throws Exception {
    given("kept", "", "'clusterName': 'b'");
    copy(KEPT, "b");
    job("a", "left", GONE);
    job("a", "moved", KEPT);
    job("b", "running", KEPT);

    collect();

    assertThat(removed).containsExactly("a Job left of gone", "a Job moved of kept");
  }

  @Test
  void aJobWhoseCopyIsStillThereGoesWithIt() {
    copy(GONE, "a");
    job("a", "left", GONE);

    collect();

    assertThat(removed).isEmpty();
    assertThat(enqueued).containsExactly(GONE);
  }

  /** The copy may not be listed yet, or not any more. */
  @Test
  void aJobThatRunsWhereTheManagerSaysIsLeftAlone() throws Exception {
    given("kept", "", "'clusterName': 'a'");
    job("a", "running", KEPT);

    collect();

    assertThat(removed).isEmpty();
  }

  /** A job with several Workloads is left alone as long as one of them uses it. */
  @Test
  void aJobWithSeveralWorkloadsIsRemovedWhenNoneOfThemUsesIt() {
    sets.put("a", Set.of("used", "unused"));
    sets.put("b", Set.of("used"));
    shared.add("a/used");

    collect();

    assertThat(removed)
        .containsExactlyInAnyOrder(
            "a LeaderWorkerSet unused of unused", "b LeaderWorkerSet used of used");
  }

  @Test
  void onlyTheLeaderRemoves() {
    leading = false;
    job("a", "left", GONE);

    collect();
    assertThat(removed).isEmpty();

    leading = true;
    collect();
    assertThat(removed).containsExactly("a Job left of gone");
  }
}
