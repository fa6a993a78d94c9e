package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaScheduleTest {

  private static final String OFFICE = "Europe/Berlin; Mon-Fri 08:00-18:00 0.5; Sat,Sun 2";

  @ParameterizedTest(name = "{0}: {1} until {2}")
  @CsvSource({
    // 2026-01-05 is a Monday, and Berlin is an hour ahead
    "2026-01-05T06:59:59Z, 1, 2026-01-05T07:00:00Z",
    "2026-01-05T07:00:00Z, 0.5, 2026-01-05T17:00:00Z",
    "2026-01-05T16:59:59.999Z, 0.5, 2026-01-05T17:00:00Z",
    "2026-01-05T17:00:00Z, 1, 2026-01-06T07:00:00Z",
    "2026-01-09T17:00:00Z, 1, 2026-01-09T23:00:00Z",
    // Saturday and Sunday are one stretch, which ends with the week
    "2026-01-09T23:00:00Z, 2, 2026-01-11T23:00:00Z",
    "2026-01-11T22:59:59Z, 2, 2026-01-11T23:00:00Z",
    "2026-01-11T23:00:00Z, 1, 2026-01-12T07:00:00Z",
    // in summer Berlin is two hours ahead
    "2026-07-06T06:00:00Z, 0.5, 2026-07-06T16:00:00Z",
    // the weekend in which the clocks are put forward has 47 hours, the other one 49
    "2026-03-27T23:00:00Z, 2, 2026-03-29T22:00:00Z",
    "2026-10-23T22:00:00Z, 2, 2026-10-25T23:00:00Z",
  })
  void theFactorIsThatOfTheWallClock(Instant now, BigDecimal factor, Instant until) {
    assertThat(QuotaSchedule.parse(OFFICE).at(now))
        .isEqualTo(new CurrentFactor(factor, Optional.of(until)));
  }

  @ParameterizedTest(name = "{0} at {1}: {2} until {3}")
  @CsvSource({
    // no zone is UTC; a row without days is of every day
    "12:00-13:00 3, 2026-01-05T12:30:00Z, 3, 2026-01-05T13:00:00Z",
    // a night belongs to the day on which it begins, and Sunday's ends on Monday
    "Sun 22:00-06:00 0, 2026-01-05T05:59:00Z, 0, 2026-01-05T06:00:00Z",
    "Sun 22:00-06:00 0, 2026-01-05T06:00:00Z, 1, 2026-01-11T22:00:00Z",
    "22:00-06:00 0, 2026-01-08T03:00:00Z, 0, 2026-01-08T06:00:00Z",
    // a range of days goes on after Sunday
    "Fri-Mon 2, 2026-01-05T12:00:00Z, 2, 2026-01-06T00:00:00Z",
    "Fri-Mon 2, 2026-01-06T00:00:00Z, 1, 2026-01-09T00:00:00Z",
    // rows of the same factor are one stretch
    "'Mon 00:00-12:00 2; Mon 12:00-24:00 2', 2026-01-05T01:00:00Z, 2, 2026-01-06T00:00:00Z",
    // offsets are zones
    "'+05:30; Mon 2', 2026-01-04T18:30:00Z, 2, 2026-01-05T18:30:00Z",
    "'Asia/Kathmandu; 00:00-12:00 0.001;', 2026-01-05T00:00:00Z, 0.001, 2026-01-05T06:15:00Z",
    // the hour after 02:00 is left out on 2026-03-29: the row is looked for a week later
    "'Europe/Berlin; Sun 02:00-03:00 0', 2026-03-25T00:00:00Z, 1, 2026-04-05T00:00:00Z",
    // an end in that hour is at its begin
    "'Europe/Berlin; Sun 01:00-02:30 0', 2026-03-29T00:30:00Z, 0, 2026-03-29T01:00:00Z",
    // the hour after 02:00 comes twice on 2026-10-25
    "'Europe/Berlin; Sun 02:00-02:30 0', 2026-10-25T00:10:00Z, 0, 2026-10-25T00:30:00Z",
    "'Europe/Berlin; Sun 02:00-02:30 0', 2026-10-25T00:30:00Z, 1, 2026-10-25T01:00:00Z",
    "'Europe/Berlin; Sun 02:00-02:30 0', 2026-10-25T01:00:00Z, 0, 2026-10-25T01:30:00Z",
    // a whole week of another factor never changes
    "Mon-Sun 4, 2026-01-05T00:00:00Z, 4,",
    "'Mon-Fri 4; Sat,Sun 4.0', 2026-01-05T00:00:00Z, 4,",
  })
  void rowsAreOfDaysAndTimes(String schedule, Instant now, BigDecimal factor, Instant until) {
    assertThat(QuotaSchedule.parse(schedule).at(now))
        .isEqualTo(new CurrentFactor(factor, Optional.ofNullable(until)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ";",
        "Europe/Berlin",
        "Mars/Olympus; Mon 1",
        "0.5",
        "Mon",
        "Mon 0.5 1",
        "mon 0.5",
        "Monday 0.5",
        "Mon-Wed-Fri 0.5",
        "Mon- 0.5",
        ",Mon 0.5",
        "Mon,Tue,Mon 0.5",
        "Mon-Sun,Mon 0.5",
        "Mon 08:00 0.5",
        "Mon 8:00-9:00 0.5",
        "Mon 08:00-08:00 0.5",
        "Mon 24:00-06:00 0.5",
        "Mon 08:00-24:01 0.5",
        "Mon 08:60-09:00 0.5",
        "Mon -1",
        "Mon 0.5000",
        "Mon 1e2",
        "Mon 100.001",
        "Mon 101",
        "Mon 0,5",
        "Mon\t0.5",
        "Mon 1;; Tue 1",
        "Mon 1; Europe/Berlin",
        "Mon 12:00-18:00 2; Mon 17:59-19:00 1",
        "Sun 22:00-06:00 0; Mon 05:00-07:00 2",
        "Mon-Sun 1; Tue 2",
      })
  void otherValuesAreRefused(String value) {
    assertThatThrownBy(() -> QuotaSchedule.parse(value))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(QuotaSchedule.of(Map.of(QuotaSchedule.ANNOTATION, value))).isEmpty();
  }

  @Test
  void refusalsNameWhatIsAllowed() {
    assertThatThrownBy(() -> QuotaSchedule.parse("Mon 12:00-18:00 2; Mon 17:59-19:00 1"))
        .hasMessage(
            "rows that don't overlap, but \"Mon 12:00-18:00 2\" and \"Mon 17:59-19:00 1\" do");
    assertThatThrownBy(() -> QuotaSchedule.parse("Mon 101"))
        .hasMessage("rows with a factor from 0 to 100 with at most three decimals, such as 0.5");
    assertThatThrownBy(() -> QuotaSchedule.parse("mon 1"))
        .hasMessageContaining("Mon, Tue, Wed, Thu, Fri, Sat, Sun");
    assertThatThrownBy(() -> QuotaSchedule.parse("Mon 1" + " ".repeat(2000)))
        .hasMessage("at most 2000 characters");
    String many =
        IntStream.range(0, 51)
            .mapToObj("Mon 00:%1$02d-00:%1$02d 1"::formatted)
            .collect(Collectors.joining(";"));
    assertThatThrownBy(() -> QuotaSchedule.parse(many)).hasMessage(QuotaSchedule.RULE);
    assertThat(QuotaSchedule.of(null)).isEmpty();
    assertThat(QuotaSchedule.of(Map.of("other", "Mon 1"))).isEmpty();
  }

  /** The time that is told is the first minute of another factor. */
  @Test
  void theNextChangeIsTheFirstOne() {
    Random random = new Random(7);
    for (String zone :
        new String[] {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"}) {
      QuotaSchedule schedule =
          QuotaSchedule.parse(
              zone + "; Mon-Thu 01:45-02:15 0.5; Sat,Sun 02:10-02:20 2; Fri 23:30-00:45 3");
      for (int i = 0; i < 15; i++) {
        Instant now =
            Instant.parse("2011-12-25T00:00:00Z").plusSeconds(60L * random.nextInt(800_000));
        CurrentFactor current = schedule.at(now);
        Instant until = current.until().orElseThrow();
        for (Instant at = now; at.isBefore(until); at = at.plus(Duration.ofMinutes(1))) {
          assertThat(schedule.at(at).factor()).as("%s at %s", zone, at).isEqualTo(current.factor());
        }
        assertThat(schedule.at(until).factor()).isNotEqualTo(current.factor());
      }
    }
  }

  @Test
  void aStandingIsOneClause() {
    assertThat(QuotaSchedule.parse(OFFICE).at(Instant.parse("2026-01-05T07:00:00Z")).text())
        .isEqualTo("at factor 0.5 until 2026-01-05T17:00:00Z");
    assertThat(QuotaSchedule.parse("Mon-Sun 20").at(Instant.EPOCH).text())
        .isEqualTo("at factor 20");
  }

  @Test
  void whatComesNext() {
    Instant now = Instant.parse("2026-01-05T10:00:00Z"); // a Monday
    assertThat(QuotaSchedule.parse("Mon,Tue 08:00-18:00 0.5; Sat,Sun 2").upcoming(now))
        .startsWith(
            interval("2026-01-05T08:00:00Z", "2026-01-05T18:00:00Z", "0.5"),
            interval("2026-01-06T08:00:00Z", "2026-01-06T18:00:00Z", "0.5"),
            interval("2026-01-10T00:00:00Z", "2026-01-12T00:00:00Z", "2"))
        .endsWith(interval("2026-01-17T00:00:00Z", "2026-01-19T00:00:00Z", "2"))
        .hasSize(6);
    assertThat(QuotaSchedule.parse("Mon-Sun 0.5").upcoming(now))
        .as("without an end")
        .containsExactly(interval("2025-12-29T00:00:00Z", "2026-01-19T00:00:00Z", "0.5"));
    assertThat(QuotaSchedule.parse("Mon-Sun 1").upcoming(now)).isEmpty();
    assertThat(QuotaSchedule.parse("06:00-07:00 0; 08:00-09:00 3").upcoming(now)).hasSize(16);
    assertThat(QuotaSchedule.parse("Mon-Sun 0.5").greatest()).isEqualByComparingTo("0.5");
    assertThat(QuotaSchedule.parse("Mon 0.5").greatest()).isEqualByComparingTo("1");
  }

  private static Interval interval(String start, String end, String factor) {
    return new Interval(Instant.parse(start), Instant.parse(end), new BigDecimal(factor));
  }
}
