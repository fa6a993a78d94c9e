package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.Decided.Preemption;
import dev.sluice.reference.Decided.Victim;
import dev.sluice.reference.ReferenceReservations.Overstay;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Does the comparison compare? The reference is played beside another one that errs or doesn't. */
class PreemptionRerunTest {

  private static final int WORLDS = 300;

  @Test
  void theReferenceAgreesWithItself() {
    int victims = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      PreemptionRerun rerun =
          new PreemptionRerun(Played.of(PreemptionRerun.reference(Optional.empty())));
      rerun.play(new RandomWorld(seed, true, true).steps(80));
      victims += rerun.victims();
    }
    assertThat(victims).isGreaterThan(WORLDS / 10);
  }

  @Test
  void aVictimThatIsLeftOutIsFound() {
    assertFound(victims -> Map.of(), "nobody evicted");
  }

  @Test
  void aVictimTooFewIsFound() {
    assertFound(
        victims -> {
          Map<String, Victim> fewer = new TreeMap<>(victims);
          if (fewer.size() > 1) {
            fewer.remove(victims.keySet().iterator().next());
          }
          return fewer;
        },
        "too few victims, or too many");
  }

  @Test
  void aVersionThatNobodyLookedAtIsFound() {
    assertFound(
        victims -> {
          Map<String, Victim> wrong = new TreeMap<>(victims);
          wrong.replaceAll(
              (uid, victim) ->
                  new Victim(
                      victim.id(),
                      victim.version() + 1,
                      victim.path(),
                      victim.priority(),
                      victim.reason(),
                      victim.rules()));
          return wrong;
        },
        "not the version looked at");
  }

  /** In each of these worlds some check complains, in at least one of them this one first. */
  private static void assertFound(UnaryOperator<Map<String, Victim>> error, String complaint) {
    Set<String> complaints = new HashSet<>();
    for (long seed = WORLDS + 1; seed <= 5 * WORLDS; seed++) {
      try {
        new PreemptionRerun(new Erring(error)).play(new RandomWorld(seed, true, true).steps(80));
      } catch (AssertionError found) {
        complaints.add(String.valueOf(found.getMessage()));
        if (complaints.stream().anyMatch(each -> each.contains(complaint))) {
          return;
        }
      }
    }
    assertThat(complaints).anyMatch(each -> each.contains(complaint));
  }

  /** A reference that says other victims than it found. */
  private record Erring(Played right, UnaryOperator<Map<String, Victim>> error) implements Played {

    Erring(UnaryOperator<Map<String, Victim>> error) {
      this(Played.of(PreemptionRerun.reference(Optional.empty())), error);
    }

    @Override
    public void fold(SchedulerEvent schedulerEvent) {
      right.fold(schedulerEvent);
    }

    @Override
    public boolean cycle() {
      return right.cycle();
    }

    @Override
    public boolean lookedAt(String clusterQueue) {
      return right.lookedAt(clusterQueue);
    }

    @Override
    public boolean evaluated() {
      return right.evaluated();
    }

    @Override
    public Optional<PlannedStart> planned(WorkloadId id) {
      return right.planned(id);
    }

    @Override
    public List<BackfillEvent> backfillEvents() {
      return right.backfillEvents();
    }

    @Override
    public Optional<Set<Overstay>> overstays() {
      return right.overstays();
    }

    @Override
    public List<Decided> takeDecided() {
      return right.takeDecided().stream()
          .map(
              each ->
                  each instanceof Preemption p
                      ? new Preemption(
                          p.id(),
                          p.version(),
                          p.clusterQueue(),
                          p.path(),
                          p.priority(),
                          error.apply(p.victims()))
                      : each)
          .toList();
    }

    @Override
    public Optional<SchedulerViews> views() {
      return right.views();
    }
  }
}
