package dev.sluice.forecast.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.whatif.PlayInput.Happening.DeclarationEvent;
import dev.sluice.journal.JournalHistory;
import dev.sluice.journal.SegmentListener;
import dev.sluice.reference.ReferenceJudge;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The past with nothing changed is the past; what is changed is judged by the naive engine. */
class WhatIfTest {

  /** Nightly ten times as many worlds. */
  private static final int FACTOR = Integer.getInteger("sluice.property.factor", 1);

  @TempDir private Path root = Path.of("");

  private RandomPast recorded(long seed, boolean preempting, int jobs, long segmentBytes)
      throws IOException {
    try (SegmentListener listener =
        new SegmentListener(
            root.resolve("" + seed), RandomPast.BEGIN, EngineOptions.DEFAULT, segmentBytes)) {
      return new RandomPast(seed, preempting, jobs, listener);
    }
  }

  private RecordedPast read(long seed, Instant from) throws IOException {
    return new RecordedPast(JournalHistory.between(root.resolve("" + seed), from, Instant.MAX));
  }

  @Test
  void thePastWithNothingChangedIsThePast() throws IOException {
    int preemptions = 0;
    for (int seed = 1; seed <= 15 * FACTOR; seed++) {
      RandomPast past = recorded(seed, true, 60, Long.MAX_VALUE);
      RecordedPast read = read(seed, Instant.MIN);

      WhatIf.Played played = WhatIf.play(read.input(), List.of());

      assertThat(read.starts()).as("recorded, seed %s", seed).isEqualTo(past.starts);
      assertThat(differences(played.starts(), past.starts)).as("played, seed %s", seed).isEmpty();
      assertThat(count(played.outcome())).isEqualTo(past.preemptions);
      assertThat(read.input().remarks()).isEmpty();
      preemptions += past.preemptions;
    }
    assertThat(preemptions).isGreaterThan(50);
  }

  @Test
  void soItIsFromTheMiddleOfAJournalOn() throws IOException {
    int compared = 0;
    for (int seed = 1; seed <= 15 * FACTOR; seed++) {
      RandomPast past = recorded(seed, true, 60, 4_000);
      Instant from = RandomPast.BEGIN.plusSeconds(1_500);

      WhatIf.Played played = WhatIf.play(read(seed, from).input(), List.of());

      Map<WorkloadId, List<Instant>> later = new LinkedHashMap<>();
      past.starts.forEach(
          (id, starts) -> {
            List<Instant> then = starts.stream().filter(at -> !at.isBefore(from)).toList();
            if (!then.isEmpty()) {
              later.put(id, then);
            }
          });
      assertThat(differences(played.starts(), later)).as("seed %s", seed).isEmpty();
      compared += later.size();
    }
    assertThat(compared).isGreaterThan(250);
  }

  /** What the engine is told and decides in a changed world is judged by the naive engine. */
  @Test
  void theNaiveEngineDecidesTheSameInChangedWorlds() throws IOException {
    int different = 0;
    int admissions = 0;
    for (int seed = 1; seed <= 20 * FACTOR; seed++) {
      RandomPast past = recorded(seed, seed % 2 == 0, 40, Long.MAX_VALUE);
      PlayInput input = read(seed, Instant.MIN).input();
      ReferenceJudge judge = new ReferenceJudge(seed % 2 == 0);
      judge.applies(new SchedulerEvent.DecidingEnabled(true));

      WhatIf.Played played = WhatIf.play(input, changes(seed), judge);

      judge.judge();
      admissions += judge.admissions();
      different += played.starts().equals(past.starts) ? 0 : 1;
    }
    assertThat(admissions).isGreaterThan(500);
    assertThat(different).isGreaterThan(10);
  }

  private static List<SchedulerEvent> changes(int seed) {
    List<SchedulerEvent> changes = new ArrayList<>();
    PreemptionPolicies policies = PreemptionPolicies.NEVER;
    switch (seed % 5) {
      case 0 ->
          changes.add(
              new SchedulerEvent.ClusterQueueChanged(RandomPast.queue("a", "all", 12, policies)));
      case 1 ->
          changes.add(
              new SchedulerEvent.ClusterQueueChanged(RandomPast.queue("b", "", 4, policies)));
      case 2 -> changes.add(new SchedulerEvent.ClusterQueueRemoved("b"));
      case 3 ->
          changes.add(
              new SchedulerEvent.LocalQueueChanged(
                  new LocalQueueSpec(new LocalQueueId("team", "b"), "a", StopPolicy.NONE)));
      default -> {
        changes.add(
            new SchedulerEvent.ClusterQueueChanged(RandomPast.queue("c", "all", 8, policies)));
        changes.add(
            new SchedulerEvent.ClusterQueueChanged(RandomPast.queue("a", "all", 4, policies)));
      }
    }
    return changes;
  }

  @Test
  void aChangeHoldsUntilTheEnd() throws IOException {
    RandomPast past = recorded(3, false, 60, Long.MAX_VALUE);
    PlayInput input = read(3, Instant.MIN).input();

    PlayOutcome before = WhatIf.play(input, List.of()).outcome();
    PlayOutcome after =
        WhatIf.play(
                input,
                List.of(
                    new SchedulerEvent.ClusterQueueChanged(
                        RandomPast.queue("a", "all", 100, PreemptionPolicies.NEVER))))
            .outcome();

    assertThat(past.starts).isNotEmpty();
    assertThat(before.waits().getFirst().maxSeconds()).isPositive();
    assertThat(after.waits().getFirst().maxSeconds()).isZero();
    assertThat(after.uses().getFirst().nominalMean()).isCloseTo(100, within(1e-9));
    assertThat(before.uses().getFirst().nominalMean()).isBetween(2.0, 7.0);
  }

  /** An operator that follows is told of each status that the leader writes. */
  @Test
  void aChangedBudgetHoldsWhateverIsRecordedOfIt() throws IOException {
    RandomPast past = recorded(3, false, 60, Long.MAX_VALUE);
    PlayInput input = read(3, Instant.MIN).input();
    Instant later = RandomPast.BEGIN.plusSeconds(1);
    PlayInput recordedLater =
        input.with(
            List.of(
                new DeclarationEvent(later, new SchedulerEvent.BudgetRemoved("spent")),
                new DeclarationEvent(later, budget(Long.MAX_VALUE))));

    WhatIf.Played spent = WhatIf.play(input, List.of(budget(1)));
    WhatIf.Played played = WhatIf.play(recordedLater, List.of(budget(1)));

    assertThat(spent.starts()).hasSizeBetween(1, past.starts.size() / 2);
    assertThat(played.starts()).isEqualTo(spent.starts());
    assertThat(
            WhatIf.play(recordedLater, List.of(new SchedulerEvent.BudgetRemoved("spent"))).starts())
        .isEqualTo(past.starts);
  }

  /** Nobody asked for it in the journal: it had no Budget. */
  @Test
  void aBudgetChargesTheLimitsThatAreRecorded() throws IOException {
    for (int seed = 1; seed <= 5 * FACTOR; seed++) {
      recorded(seed, true, 60, 4_000);
      for (Instant from : List.of(Instant.MIN, RandomPast.BEGIN.plusSeconds(1_500))) {
        PlayInput input = read(seed, from).input();
        PlayInput limited = input.with(limits(60));
        List<SchedulerEvent> large = List.of(budget(Long.MAX_VALUE, true));

        assertThat(differences(starts(limited, large), starts(input, List.of())))
            .as("from %s, seed %s", from, seed)
            .isEmpty();
        assertThat(starts(limited, List.of(budget(1, true)))).isEmpty();
        assertThat(WhatIf.unbounded(limited, large)).isEmpty();
        assertThat(starts(input, large)).isEmpty();
        assertThat(WhatIf.unbounded(input, large))
            .singleElement(STRING)
            .matches(
                "nothing says how long (\\d+) of \\1 Workloads run: those in the scope of Budget"
                    + " spent are held, since it charges whole runs");
        assertThat(WhatIf.unbounded(input, List.of(budget(1)))).isEmpty();
      }
    }
  }

  /** It is told anew, with its limit; the engine ignores what is written in a version it knows. */
  @Test
  void theOnlyOneThatWaitsAtTheBeginIsAdmittedInANewVersion() {
    PendingWorkload only = OneQueue.workload("only", 1, 0, OneQueue.BEGIN);
    Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
    source.scheduler().apply(new SchedulerEvent.WorkloadPending(only));
    PlayInput input =
        new PlayInput(
            source.scheduler().export(),
            OneQueue.BEGIN,
            OneQueue.BEGIN.plusSeconds(1),
            List.of(
                new DeclarationEvent(
                    OneQueue.BEGIN,
                    new SchedulerEvent.RunBounded(only.id(), RunBound.of(Duration.ofHours(1))))),
            Map.of(),
            List.of(),
            PlayInput.STOPPING,
            List.of());
    List<Long> versions = new ArrayList<>();
    EngineListener listener =
        new EngineListener() {
          @Override
          public void applies(SchedulerEvent event) {
            switch (event) {
              case SchedulerEvent.WorkloadPending(var workload) -> versions.add(workload.version());
              case SchedulerEvent.AdmissionWritten(_, var version, _) -> versions.add(version);
              default -> {}
            }
          }
        };

    WhatIf.play(input, List.of(budget(Long.MAX_VALUE, true)), listener);

    assertThat(versions).hasSize(2).doesNotHaveDuplicates().isSorted();
  }

  private static Map<WorkloadId, List<Instant>> starts(
      PlayInput input, List<SchedulerEvent> changes) {
    return WhatIf.play(input, changes).starts();
  }

  /** Each Workload has a limit of a quarter of an hour. */
  private static List<DeclarationEvent> limits(int jobs) {
    return IntStream.range(0, jobs)
        .mapToObj(number -> new WorkloadId("uid-" + number, "team", "job-" + number))
        .map(id -> new SchedulerEvent.RunBounded(id, RunBound.of(Duration.ofMinutes(15))))
        .map(bounded -> new DeclarationEvent(RandomPast.BEGIN, bounded))
        .toList();
  }

  private static SchedulerEvent budget(long amount) {
    return budget(amount, false);
  }

  /** A Budget of all Workloads, of so many thousandths of a core times milliseconds. */
  private static SchedulerEvent budget(long amount, boolean reserves) {
    return new SchedulerEvent.BudgetChanged(
        new BudgetSpec(
            "spent",
            new BudgetSpec.Scope.OfCohort("all"),
            List.of(new BudgetSpec.Limit("cpu", Set.of(), BigDecimal.valueOf(amount))),
            new BudgetSpec.Period(BudgetSpec.Unit.YEARLY, "UTC", Optional.empty()),
            BigDecimal.ZERO,
            true,
            reserves),
        Optional.empty());
  }

  /** Workloads that started at other times, in the order of the past. */
  private static List<String> differences(
      Map<WorkloadId, List<Instant>> played, Map<WorkloadId, List<Instant>> past) {
    Map<WorkloadId, List<Instant>> all = new LinkedHashMap<>(past);
    played.forEach(all::putIfAbsent);
    return all.keySet().stream()
        .filter(id -> !past.getOrDefault(id, List.of()).equals(played.getOrDefault(id, List.of())))
        .map(id -> id + ": " + past.get(id) + ", played " + played.get(id))
        .toList();
  }

  private static long count(PlayOutcome outcome) {
    return outcome.preemptions().values().stream()
        .flatMap(byReason -> byReason.values().stream())
        .mapToLong(Long::longValue)
        .sum();
  }
}
