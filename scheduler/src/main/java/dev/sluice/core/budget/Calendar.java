package dev.sluice.core.budget;

import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Unit;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;

/** When the periods of a budget begin and end. */
final class Calendar {

  private Calendar() {}

  /** The begin of the period that contains a time. */
  static Instant begin(Period period, Instant at) {
    if (period.rolling().isPresent()) {
      long part = part(period.rolling().get()).toMillis();
      return Instant.ofEpochMilli(Math.floorDiv(at.toEpochMilli(), part) * part);
    }
    ZonedDateTime local = at.atZone(ZoneId.of(period.zone()));
    return period.unit() == Unit.HOURLY
        ? local.truncatedTo(ChronoUnit.HOURS).toInstant()
        : begin(period.unit(), local.toLocalDate()).atStartOfDay(local.getZone()).toInstant();
  }

  /** The end of the period that contains a time: the first begin of another one after it. */
  static Instant end(Period period, Instant at) {
    if (period.rolling().isPresent()) {
      return begin(period, at).plus(part(period.rolling().get()));
    }
    ZonedDateTime local = at.atZone(ZoneId.of(period.zone()));
    if (period.unit() == Unit.HOURLY) {
      Instant next = local.truncatedTo(ChronoUnit.HOURS).plusHours(1).toInstant();
      Instant sharp = begin(period, next);
      return sharp.isAfter(at) ? sharp : begin(period, next.plus(Duration.ofHours(1)));
    }
    LocalDate day = begin(period.unit(), local.toLocalDate());
    LocalDate next =
        switch (period.unit()) {
          case HOURLY, DAILY -> day.plusDays(1);
          case WEEKLY -> day.plusWeeks(1);
          case MONTHLY -> day.plusMonths(1);
          case QUARTERLY -> day.plusMonths(3);
          case YEARLY -> day.plusYears(1);
        };
    return next.atStartOfDay(local.getZone()).toInstant();
  }

  private static LocalDate begin(Unit unit, LocalDate day) {
    return switch (unit) {
      case HOURLY, DAILY -> day;
      case WEEKLY -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
      case MONTHLY -> day.withDayOfMonth(1);
      case QUARTERLY -> day.with(day.getMonth().firstMonthOfQuarter()).withDayOfMonth(1);
      case YEARLY -> day.withDayOfYear(1);
    };
  }

  /** How long a part of a rolling window is. */
  private static Duration part(Duration window) {
    return Duration.ofMillis(Math.max(1, Math.ceilDiv(window.toMillis(), Period.PARTS)));
  }
}
