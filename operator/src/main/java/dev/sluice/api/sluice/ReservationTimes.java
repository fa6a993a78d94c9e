package dev.sluice.api.sluice;

import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * When something is reserved: once, or at times of each week (docs/reservations.md#times).
 *
 * @param once from when to when; empty if it is weekly
 * @param zone the time zone of the days and hours of the week
 * @param weekly the times of a week
 */
public record ReservationTimes(Optional<Occurrence> once, ZoneId zone, List<WeeklyTime> weekly) {

  /** How far ahead occurrences of a week are told, beside the next one. */
  public static final Duration HORIZON = Duration.ofDays(28);

  /** The most occurrences that are told. */
  public static final int MOST = 64;

  private static final int MINUTES = 24 * 60;

  public ReservationTimes {
    weekly = List.copyOf(weekly);
  }

  /**
   * A time of some days of each week.
   *
   * @param days the days on which it begins
   * @param from the minute of the day at which it begins
   * @param to the minute of the day at which it ends; if that isn't later, of the next day
   */
  public record WeeklyTime(Set<DayOfWeek> days, int from, int to) {

    public WeeklyTime {
      days = Set.copyOf(days);
    }
  }

  /**
   * The occurrences that aren't over, ascending: those of the next {@link #HORIZON}, {@link #MOST}
   * at most. Those that overlap or follow each other without a pause are one.
   */
  public List<Occurrence> from(Instant now) {
    if (once.isPresent()) {
      return once.filter(each -> each.end().isAfter(now)).stream().toList();
    }
    List<Occurrence> all = new ArrayList<>();
    LocalDate today = now.atZone(zone).toLocalDate();
    // Those before today tell when an occurrence that goes on began, a week at most.
    for (int day = -8; day <= HORIZON.toDays(); day++) {
      LocalDate date = today.plusDays(day);
      for (WeeklyTime each : weekly) {
        if (each.days().contains(date.getDayOfWeek())) {
          int to = each.to() > each.from() ? each.to() : each.to() + MINUTES;
          Instant start = at(date, each.from());
          Instant end = at(date, to);
          if (end.isAfter(start)) {
            all.add(new Occurrence(start, end));
          }
        }
      }
    }
    return merged(all).stream().filter(each -> each.end().isAfter(now)).limit(MOST).toList();
  }

  /** A time in an hour that the clocks skip is the moment at which they do. */
  private Instant at(LocalDate date, int minutes) {
    int ofDay = minutes % MINUTES;
    LocalDateTime local = date.plusDays(minutes / MINUTES).atTime(ofDay / 60, ofDay % 60);
    ZoneOffsetTransition change = zone.getRules().getTransition(local);
    return change != null && change.isGap() ? change.getInstant() : local.atZone(zone).toInstant();
  }

  private static List<Occurrence> merged(List<Occurrence> all) {
    List<Occurrence> merged = new ArrayList<>();
    for (Occurrence each : all.stream().sorted(Comparator.comparing(Occurrence::start)).toList()) {
      Occurrence last = merged.isEmpty() ? null : merged.getLast();
      if (last == null || each.start().isAfter(last.end())) {
        merged.add(each);
      } else if (each.end().isAfter(last.end())) {
        merged.set(merged.size() - 1, new Occurrence(last.start(), each.end()));
      }
    }
    return merged;
  }
}
