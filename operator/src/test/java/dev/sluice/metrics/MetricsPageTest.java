package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The comparison that {@code MetricsPageIT} makes finds each kind of difference. */
class MetricsPageTest {

  private static final MetricsPage PAGE =
      MetricsPage.of(
          """
          | metric | type | labels | meaning |
          |---|---|---|---|
          | `kueue_waits_seconds` | histogram | `queue` | x |
          | `kueue_ends_total` | counter | `queue`, `reason` | x |
          | `kueue_rare_total` | counter |  | x |
          ## Not there yet
          | metric | what is missing |
          |---|---|
          | `kueue_later` | x |
          """);

  private static final String SCRAPE =
      """
      # HELP kueue_waits_seconds x
      # TYPE kueue_waits_seconds histogram
      kueue_waits_seconds_bucket{queue="a{,}\\"",replica_role="leader",le="1.0"} 1
      kueue_waits_seconds_count{queue="a{,}\\"",replica_role="leader"} 1
      kueue_waits_seconds_sum{queue="a{,}\\"",replica_role="leader"} 0.5
      # TYPE kueue_ends_total counter
      kueue_ends_total{queue="a",reason="b",replica_role="leader"} 1.0
      # TYPE jvm_threads gauge
      jvm_threads 3.0
      """;

  private static final Set<String> RARE = Set.of("kueue_rare_total");

  @Test
  void whatIsServedAsThePageSaysDoesNotDiffer() {
    assertThat(PAGE.differences(SCRAPE, "", RARE)).isEmpty();
  }

  @Test
  void everyDifferenceIsFound() {
    assertThat(PAGE.differences(SCRAPE, "", Set.of()))
        .containsExactly("kueue_rare_total: documented, not served");
    assertThat(PAGE.differences(SCRAPE + "kueue_rare_total 1\n", "", RARE))
        .containsExactly("kueue_rare_total: said not to be served here, and is");
    assertThat(PAGE.differences(SCRAPE + "kueue_later 1\nsluice_more 1\n", "", RARE))
        .containsExactly(
            "kueue_later: served, documented as not there yet",
            "sluice_more: served, not documented");
    assertThat(PAGE.differences(SCRAPE.replace("reason=", "why="), "", RARE))
        .singleElement()
        .asString()
        .startsWith("kueue_ends_total: documented as ");
    assertThat(PAGE.differences(SCRAPE.replace("total counter", "total gauge"), "", RARE))
        .hasSize(1);
  }

  @Test
  void aSampleThatLacksALabelIsFoundBesideOneThatHasIt() {
    assertThat(
            PAGE.differences(
                SCRAPE + "kueue_ends_total{queue=\"a\",replica_role=\"leader\"} 1.0\n", "", RARE))
        .hasSize(1);
  }

  @Test
  void whatBeginsOtherwiseIsNotCompared() {
    assertThat(PAGE.differences("multikueue_more 1\n", "multikueue_", Set.of()))
        .containsExactly("multikueue_more: served, not documented");
  }

  @Test
  void aRowThatIsNoMetricIsRefused() {
    assertThatThrownBy(() -> MetricsPage.of("| `kueue_x` | summary | `queue` | x |"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theProjectsPageHasTables() throws IOException {
    assertThat(MetricsPage.read().names())
        .contains("kueue_pending_workloads", "kueue_local_queue_status", "sluice_events_total");
  }
}
