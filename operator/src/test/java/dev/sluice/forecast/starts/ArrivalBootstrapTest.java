package dev.sluice.forecast.starts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.starts.StartForecast.Arrival;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ArrivalBootstrapTest {

  private static final Instant BEGIN = OneQueue.BEGIN;
  private static final RunTimeEstimate DECLARED =
      RunTimeEstimate.of(Optional.of(Duration.ofMinutes(5)), Optional.empty(), Optional.empty());
  private static final RunTimeEstimate LIMIT =
      RunTimeEstimate.of(Optional.empty(), Optional.empty(), Optional.of(Duration.ofMinutes(5)));

  /** The i-th of these Workloads has priority i, and comes i seconds after the one before. */
  private static List<Arrival> arrivals(int count) {
    List<Arrival> arrivals = new ArrayList<>();
    Instant at = BEGIN;
    for (int i = 0; i < count; i++) {
      at = at.plusSeconds(i);
      arrivals.add(new Arrival(OneQueue.workload("w" + i, 1, i, at), DECLARED));
    }
    return arrivals;
  }

  private static Instant last(List<Arrival> arrivals) {
    return arrivals.getLast().workload().queuedAt();
  }

  private static List<Arrival> draw(ArrivalBootstrap bootstrap, long seed) {
    return bootstrap.draw(new SplittableRandom(seed), Instant.MAX);
  }

  /** Each comes as long after the one before as the one that it is like, whose request it has. */
  @Test
  void arrivalsAreLikeThoseThatWereSeen() {
    List<Arrival> seen = arrivals(100);
    Instant now = last(seen).plusSeconds(1_000);

    List<Arrival> drawn = draw(new ArrivalBootstrap(seen, now), 1);

    assertThat(drawn).hasSize(ArrivalBootstrap.PER_PLAY);
    Instant before = now;
    Set<WorkloadId> ids = new HashSet<>();
    for (int i = 0; i < drawn.size(); i++) {
      Arrival each = drawn.get(i);
      int like = (int) each.workload().priority();
      long gap = like == 0 ? 1_000 : like;
      assertThat(each.workload().queuedAt()).isEqualTo(before.plusSeconds(gap));
      assertThat(each.workload().createdAt()).isEqualTo(each.workload().queuedAt());
      assertThat(each.workload().shape()).isEqualTo(seen.get(like).workload().shape());
      assertThat(each.runTime()).isEqualTo(DECLARED);
      if (i % ArrivalBootstrap.BLOCK > 0) {
        assertThat(like).isEqualTo((drawn.get(i - 1).workload().priority() + 1) % 100);
      }
      ids.add(each.workload().id());
      before = each.workload().queuedAt();
    }
    assertThat(ids).hasSize(drawn.size()).doesNotContain(seen.getFirst().workload().id());
  }

  @Test
  void playsDifferAndAreRepeated() {
    List<Arrival> seen = arrivals(100);
    ArrivalBootstrap bootstrap = new ArrivalBootstrap(seen, last(seen));

    assertThat(draw(bootstrap, 1)).isEqualTo(draw(bootstrap, 1)).isNotEqualTo(draw(bootstrap, 2));
  }

  @Test
  void noneComesAfterTheEnd() {
    List<Arrival> seen = arrivals(100);
    Instant now = last(seen);
    Instant end = draw(new ArrivalBootstrap(seen, now), 1).get(9).workload().queuedAt();

    assertThat(new ArrivalBootstrap(seen, now).draw(new SplittableRandom(1), end)).hasSize(10);
  }

  @Test
  void lastOnesAreDrawnFrom() {
    List<Arrival> seen = arrivals(StartForecast.MOST_ARRIVALS + 10);
    ArrivalBootstrap bootstrap = new ArrivalBootstrap(seen, last(seen));

    assertThat(bootstrap.size()).isEqualTo(StartForecast.MOST_ARRIVALS);
    assertThat(draw(bootstrap, 1)).allMatch(each -> each.workload().priority() >= 10);
  }

  @Test
  void tooFewSayNothing() {
    List<Arrival> seen = arrivals(ArrivalBootstrap.LEAST);

    assertThat(new ArrivalBootstrap(seen, last(seen)).size()).isEqualTo(ArrivalBootstrap.LEAST);
    ArrivalBootstrap fewer = new ArrivalBootstrap(seen.subList(1, seen.size()), last(seen));
    assertThat(fewer.size()).isZero();
    assertThat(draw(fewer, 1)).isEmpty();
  }

  @Test
  void limitsAloneSayNothing() {
    List<Arrival> seen = arrivals(100);
    seen.set(50, new Arrival(seen.get(50).workload(), LIMIT));

    assertThat(new ArrivalBootstrap(seen, last(seen)).size()).isZero();
  }
}
