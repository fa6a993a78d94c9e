package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each use is told once, whenever its rows are written (docs/ledger.md#metrics). */
class UsageTallyTest {

  private static final Instant BEGIN = Instant.parse("2026-03-01T00:00:00Z");
  private static final UsageTally.Series SERIES = new UsageTally.Series("queue", "spot", "cpu");

  private final List<Ledger.Use> uses = new ArrayList<>();
  private final UsageTally tally =
      new UsageTally(
          BEGIN,
          new Ledger.Listener() {
            @Override
            public void used(String clusterQueue, String flavor, String resource, Ledger.Use use) {
              uses.add(use);
            }

            @Override
            public void dropped() {}

            @Override
            public void failed() {}

            @Override
            public void waiting(long bytes) {}
          });

  private double reserved() {
    return uses.stream().mapToDouble(Ledger.Use::reserved).sum();
  }

  /** An attempt with an amount of 1 that ended, of which the pods were never ready. */
  private static Attempt ended(String workload, int from, int to) {
    Instant end = BEGIN.plusSeconds(to);
    return Attempt.after(
            List.of(),
            new AttemptObservation(
                workload,
                2,
                end,
                Optional.of(
                    new Reservation(
                        new Holder("ns", workload, "local", "queue", "", "Job", workload, Map.of()),
                        BEGIN.plusSeconds(from),
                        Optional.empty(),
                        false,
                        Optional.empty(),
                        List.of(new Amount("spot", "cpu", 1)))),
                Optional.of(new Ending(end, Outcome.SUCCEEDED, "Succeeded"))))
        .getFirst();
  }

  /** One of the two had begun by the look, and its row was written after it. */
  @Test
  void anAttemptThatALookDidNotSeeIsToldInFullByTheNextOne() {
    tally.open(Map.of(SERIES, new Ledger.Use(60_000, 0, 60_000, 0)), BEGIN.plusSeconds(60));
    tally.ended(ended("seen", 0, 100));
    tally.ended(ended("unseen", 30, 110));
    tally.open(Map.of(), BEGIN.plusSeconds(120));
    assertThat(reserved()).isEqualTo(180_000);
    int told = uses.size();
    tally.open(Map.of(), BEGIN.plusSeconds(180));
    assertThat(uses).as("nothing more is used").hasSize(told);
  }

  /**
   * Metrics end its series when they are scraped, and go on where they were if it is back by then.
   */
  @Test
  void aQueueThatIsGoneIsForgottenAndCountsOnWhenItComesBack() {
    tally.open(Map.of(SERIES, new Ledger.Use(60_000, 0, 60_000, 0)), BEGIN.plusSeconds(60));
    assertThat(tally.forgetRemoved(queue -> false)).as("something of it is open").isZero();
    tally.ended(ended("first", 0, 100));
    tally.open(Map.of(), BEGIN.plusSeconds(120));
    assertThat(tally.forgetRemoved("queue"::equals)).as("it exists").isZero();
    assertThat(tally.forgetRemoved(queue -> false)).isEqualTo(1);
    assertThat(tally.forgetRemoved(queue -> false)).as("nothing of it is left").isZero();
    tally.open(Map.of(SERIES, new Ledger.Use(30_000, 0, 30_000, 0)), BEGIN.plusSeconds(180));
    tally.ended(ended("second", 150, 190));
    tally.open(Map.of(), BEGIN.plusSeconds(240));
    assertThat(reserved()).isEqualTo(140_000);
    assertThat(uses).allMatch(use -> use.reserved() >= 0);
  }
}
