package dev.sluice.core.budget;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.budget.AccountBook.Calendar;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Unit;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page's table of periods (docs/budgets.md#periods): a time, and the period that it is in. */
class CalendarTest {

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          Hourly,    UTC,                 2026-03-01T10:15:00Z,     2026-03-01T10:00:00Z, 2026-03-01T11:00:00Z
          Hourly,    UTC,                 2026-03-01T10:00:00Z,     2026-03-01T10:00:00Z, 2026-03-01T11:00:00Z
          Hourly,    UTC,                 2026-03-01T10:59:59.999Z, 2026-03-01T10:00:00Z, 2026-03-01T11:00:00Z
          Hourly,    UTC,                 2026-12-31T23:30:00Z,     2026-12-31T23:00:00Z, 2027-01-01T00:00:00Z
          Hourly,    Asia/Kolkata,        2026-03-01T10:15:00Z,     2026-03-01T09:30:00Z, 2026-03-01T10:30:00Z
          Hourly,    Asia/Kathmandu,      2026-03-01T10:20:00Z,     2026-03-01T10:15:00Z, 2026-03-01T11:15:00Z
          Hourly,    Europe/Berlin,       2026-03-29T00:30:00Z,     2026-03-29T00:00:00Z, 2026-03-29T01:00:00Z
          Hourly,    Europe/Berlin,       2026-03-29T01:30:00Z,     2026-03-29T01:00:00Z, 2026-03-29T02:00:00Z
          Hourly,    Europe/Berlin,       2026-10-25T00:30:00Z,     2026-10-25T00:00:00Z, 2026-10-25T01:00:00Z
          Hourly,    Europe/Berlin,       2026-10-25T01:30:00Z,     2026-10-25T01:00:00Z, 2026-10-25T02:00:00Z
          Daily,     UTC,                 2026-03-01T00:00:00Z,     2026-03-01T00:00:00Z, 2026-03-02T00:00:00Z
          Daily,     UTC,                 2026-02-28T23:59:59Z,     2026-02-28T00:00:00Z, 2026-03-01T00:00:00Z
          Daily,     UTC,                 2028-02-28T12:00:00Z,     2028-02-28T00:00:00Z, 2028-02-29T00:00:00Z
          Daily,     UTC,                 2028-02-29T12:00:00Z,     2028-02-29T00:00:00Z, 2028-03-01T00:00:00Z
          Daily,     UTC,                 2026-12-31T12:00:00Z,     2026-12-31T00:00:00Z, 2027-01-01T00:00:00Z
          Daily,     Europe/Berlin,       2026-01-15T22:59:59Z,     2026-01-14T23:00:00Z, 2026-01-15T23:00:00Z
          Daily,     Europe/Berlin,       2026-01-15T23:00:00Z,     2026-01-15T23:00:00Z, 2026-01-16T23:00:00Z
          Daily,     Europe/Berlin,       2026-07-15T22:00:00Z,     2026-07-15T22:00:00Z, 2026-07-16T22:00:00Z
          Daily,     Europe/Berlin,       2026-03-28T23:00:00Z,     2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z
          Daily,     Europe/Berlin,       2026-03-29T12:00:00Z,     2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z
          Daily,     Europe/Berlin,       2026-10-25T12:00:00Z,     2026-10-24T22:00:00Z, 2026-10-25T23:00:00Z
          Daily,     America/New_York,    2026-03-08T12:00:00Z,     2026-03-08T05:00:00Z, 2026-03-09T04:00:00Z
          Daily,     America/New_York,    2026-11-01T12:00:00Z,     2026-11-01T04:00:00Z, 2026-11-02T05:00:00Z
          Daily,     America/Sao_Paulo,   2018-11-04T12:00:00Z,     2018-11-04T03:00:00Z, 2018-11-05T02:00:00Z
          Daily,     America/Sao_Paulo,   2018-11-04T02:59:59Z,     2018-11-03T03:00:00Z, 2018-11-04T03:00:00Z
          Daily,     America/Sao_Paulo,   2018-02-18T02:30:00Z,     2018-02-17T02:00:00Z, 2018-02-18T03:00:00Z
          Daily,     America/Havana,      2026-11-01T04:30:00Z,     2026-11-01T04:00:00Z, 2026-11-02T05:00:00Z
          Daily,     America/Havana,      2026-11-01T05:30:00Z,     2026-11-01T04:00:00Z, 2026-11-02T05:00:00Z
          Daily,     Pacific/Apia,        2011-12-30T09:00:00Z,     2011-12-29T10:00:00Z, 2011-12-30T10:00:00Z
          Daily,     Pacific/Apia,        2011-12-30T10:00:00Z,     2011-12-30T10:00:00Z, 2011-12-31T10:00:00Z
          Daily,     Australia/Lord_Howe, 2026-10-03T20:00:00Z,     2026-10-03T13:30:00Z, 2026-10-04T13:00:00Z
          Daily,     Australia/Lord_Howe, 2026-04-04T20:00:00Z,     2026-04-04T13:00:00Z, 2026-04-05T13:30:00Z
          Daily,     Pacific/Kiritimati,  2026-01-01T09:59:59Z,     2025-12-31T10:00:00Z, 2026-01-01T10:00:00Z
          Weekly,    UTC,                 2026-11-27T12:00:00Z,     2026-11-23T00:00:00Z, 2026-11-30T00:00:00Z
          Weekly,    UTC,                 2026-11-23T00:00:00Z,     2026-11-23T00:00:00Z, 2026-11-30T00:00:00Z
          Weekly,    UTC,                 2026-11-22T23:59:59Z,     2026-11-16T00:00:00Z, 2026-11-23T00:00:00Z
          Weekly,    UTC,                 2027-01-01T12:00:00Z,     2026-12-28T00:00:00Z, 2027-01-04T00:00:00Z
          Weekly,    UTC,                 2024-02-29T12:00:00Z,     2024-02-26T00:00:00Z, 2024-03-04T00:00:00Z
          Weekly,    Europe/Berlin,       2026-03-29T12:00:00Z,     2026-03-22T23:00:00Z, 2026-03-29T22:00:00Z
          Weekly,    Europe/Berlin,       2026-10-25T12:00:00Z,     2026-10-18T22:00:00Z, 2026-10-25T23:00:00Z
          Weekly,    Asia/Tokyo,          2026-11-22T15:00:00Z,     2026-11-22T15:00:00Z, 2026-11-29T15:00:00Z
          Monthly,   UTC,                 2026-01-31T12:00:00Z,     2026-01-01T00:00:00Z, 2026-02-01T00:00:00Z
          Monthly,   UTC,                 2026-02-28T12:00:00Z,     2026-02-01T00:00:00Z, 2026-03-01T00:00:00Z
          Monthly,   UTC,                 2028-02-29T12:00:00Z,     2028-02-01T00:00:00Z, 2028-03-01T00:00:00Z
          Monthly,   UTC,                 2026-04-30T23:59:59Z,     2026-04-01T00:00:00Z, 2026-05-01T00:00:00Z
          Monthly,   UTC,                 2026-12-15T00:00:00Z,     2026-12-01T00:00:00Z, 2027-01-01T00:00:00Z
          Monthly,   Europe/Berlin,       2026-03-15T00:00:00Z,     2026-02-28T23:00:00Z, 2026-03-31T22:00:00Z
          Monthly,   Europe/Berlin,       2026-10-15T00:00:00Z,     2026-09-30T22:00:00Z, 2026-10-31T23:00:00Z
          Monthly,   America/New_York,    2026-11-15T00:00:00Z,     2026-11-01T04:00:00Z, 2026-12-01T05:00:00Z
          Monthly,   Pacific/Auckland,    2026-08-31T12:00:00Z,     2026-08-31T12:00:00Z, 2026-09-30T11:00:00Z
          Quarterly, UTC,                 2026-01-01T00:00:00Z,     2026-01-01T00:00:00Z, 2026-04-01T00:00:00Z
          Quarterly, UTC,                 2026-05-31T12:00:00Z,     2026-04-01T00:00:00Z, 2026-07-01T00:00:00Z
          Quarterly, UTC,                 2026-08-31T12:00:00Z,     2026-07-01T00:00:00Z, 2026-10-01T00:00:00Z
          Quarterly, UTC,                 2026-12-31T23:59:59Z,     2026-10-01T00:00:00Z, 2027-01-01T00:00:00Z
          Quarterly, Europe/Berlin,       2026-02-28T12:00:00Z,     2025-12-31T23:00:00Z, 2026-03-31T22:00:00Z
          Yearly,    UTC,                 2026-07-01T00:00:00Z,     2026-01-01T00:00:00Z, 2027-01-01T00:00:00Z
          Yearly,    UTC,                 2028-12-31T23:59:59Z,     2028-01-01T00:00:00Z, 2029-01-01T00:00:00Z
          Yearly,    UTC,                 1969-12-31T23:59:59Z,     1969-01-01T00:00:00Z, 1970-01-01T00:00:00Z
          Yearly,    Europe/Berlin,       2026-12-31T23:00:00Z,     2026-12-31T23:00:00Z, 2027-12-31T23:00:00Z
          Yearly,    Australia/Sydney,    2026-12-31T12:59:59Z,     2025-12-31T13:00:00Z, 2026-12-31T13:00:00Z
          Yearly,    America/Los_Angeles, 2026-01-01T07:59:59Z,     2025-01-01T08:00:00Z, 2026-01-01T08:00:00Z
          """)
  void aTimeIsInThePeriodOfItsZone(
      String unit, String zone, Instant at, Instant begin, Instant end) {
    Period period = new Period(Unit.valueOf(unit.toUpperCase(Locale.ROOT)), zone, Optional.empty());
    assertThat(Calendar.begin(period, at)).isEqualTo(begin);
    assertThat(Calendar.end(period, at)).isEqualTo(end);
  }

  /** Periods follow one another without a gap, whatever the clocks do. */
  @ParameterizedTest
  @CsvSource({
    "HOURLY, Australia/Lord_Howe",
    "HOURLY, Europe/Berlin",
    "DAILY, America/Sao_Paulo",
    "DAILY, Pacific/Apia",
    "WEEKLY, Asia/Gaza",
    "MONTHLY, Africa/Casablanca"
  })
  void periodsFollowOneAnother(Unit unit, String zone) {
    Period period = new Period(unit, zone, Optional.empty());
    Instant at = Instant.parse("2011-12-01T00:00:00Z");
    for (int i = 0; i < 5_000; i++) {
      Instant end = Calendar.end(period, at);
      assertThat(end).isAfter(at);
      assertThat(Calendar.begin(period, end)).isEqualTo(end);
      at = end;
    }
  }

  @Test
  void aWindowHasParts() {
    Period period = new Period(Unit.DAILY, "UTC", Optional.of(Duration.ofHours(96)));
    Instant at = Instant.parse("2026-03-29T10:20:00Z");
    assertThat(Calendar.begin(period, at)).isEqualTo(Instant.parse("2026-03-29T10:00:00Z"));
    assertThat(Calendar.end(period, at)).isEqualTo(Instant.parse("2026-03-29T11:00:00Z"));
  }
}
