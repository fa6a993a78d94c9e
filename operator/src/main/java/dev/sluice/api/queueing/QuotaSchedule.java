package dev.sluice.api.queueing;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The factors of a ClusterQueue's quota by day of the week and time of day, as the annotation
 * {@code sluice.dev/quota-schedule} says them (docs/quota-by-time.md). A factor is a function of
 * the wall clock of the zone alone, also where that is put forward or back.
 */
public final class QuotaSchedule {

  /** The annotation of a ClusterQueue. */
  public static final String ANNOTATION = "sluice.dev/quota-schedule";

  /** What is allowed, after "must be". */
  public static final String RULE =
      "at most 50 rows, separated by ;, after an optional time zone, each with days, a time of day"
          + " or both, and a factor from 0 to 100, such as Europe/Berlin; Mon-Fri 08:00-18:00 0.5;"
          + " Sat,Sun 2";

  private static final int MOST_ROWS = 50;
  private static final int MOST_CHARACTERS = 2000;
  private static final int DAY = 24 * 60;
  private static final int WEEK = 7 * DAY;

  /** A row may lie in an hour that is left out once in these. */
  private static final int WEEKS_AHEAD = 3;

  private static final int MOST_INTERVALS = 16;
  private static final Duration BEHIND = Duration.ofDays(7);
  private static final Duration AHEAD = Duration.ofDays(14);

  private static final BigDecimal MOST = BigDecimal.valueOf(100);
  private static final Pattern FACTOR = Pattern.compile("\\d{1,3}(\\.\\d{1,3})?");
  private static final Pattern TIMES = Pattern.compile("(\\d\\d):([0-5]\\d)-(\\d\\d):([0-5]\\d)");
  private static final List<String> DAYS = List.of("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");

  private final ZoneId zone;

  /** By the minute of the week from which it holds, the factor; the first is at minute 0. */
  private final NavigableMap<Integer, BigDecimal> factors;

  private QuotaSchedule(ZoneId zone, NavigableMap<Integer, BigDecimal> factors) {
    this.zone = zone;
    this.factors = factors;
  }

  /**
   * What holds at a time.
   *
   * @param factor what quota is multiplied by
   * @param until when another factor holds; empty: never
   */
  public record CurrentFactor(BigDecimal factor, Optional<Instant> until) {

    /** For people, in one clause: {@code at factor 0.5 until 2026-01-05T17:00:00Z}. */
    public String text() {
      return "at factor " + factor.toPlainString() + until.map(end -> " until " + end).orElse("");
    }
  }

  /**
   * A time in which a factor other than 1 holds.
   *
   * @param start when it begins, or when that was looked for: a week ago
   * @param end when it is over, or how far is looked: two weeks ahead
   */
  public record Interval(Instant start, Instant end, BigDecimal factor) {}

  /** A row: the minutes of the week that it covers, as pairs of begin and end. */
  private record Row(String text, List<int[]> spans, BigDecimal factor) {}

  /**
   * Reads the value of the annotation.
   *
   * @throws IllegalArgumentException with what is allowed, to be read after "must be"
   */
  public static QuotaSchedule parse(String value) {
    if (value.length() > MOST_CHARACTERS) {
      throw new IllegalArgumentException("at most " + MOST_CHARACTERS + " characters");
    }
    List<String> parts = new ArrayList<>(List.of(value.split(";", -1)));
    parts.replaceAll(String::strip);
    if (parts.getLast().isEmpty()) {
      parts.removeLast();
    }
    ZoneId zone = ZoneOffset.UTC;
    if (!parts.isEmpty() && parts.getFirst().indexOf(' ') < 0) {
      zone = zone(parts.removeFirst());
    }
    if (parts.isEmpty() || parts.size() > MOST_ROWS) {
      throw new IllegalArgumentException(RULE);
    }
    return new QuotaSchedule(zone, table(parts.stream().map(QuotaSchedule::row).toList()));
  }

  /** The schedule of a ClusterQueue; empty if it has none that is allowed. */
  public static Optional<QuotaSchedule> of(@Nullable Map<String, String> annotations) {
    String value = annotations == null ? null : annotations.get(ANNOTATION);
    if (value == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parse(value));
    } catch (IllegalArgumentException notAllowed) {
      return Optional.empty();
    }
  }

  private static ZoneId zone(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException unknown) {
      throw new IllegalArgumentException(RULE, unknown);
    }
  }

  private static Row row(String text) {
    String[] words = text.split(" +", -1);
    if (words.length < 2 || words.length > 3) {
      throw new IllegalArgumentException(RULE);
    }
    int[] times = words.length == 3 || TIMES.matcher(words[0]).matches() ? times(words) : null;
    boolean daily = times != null && words.length == 2;
    List<DayOfWeek> days = daily ? List.of(DayOfWeek.values()) : days(words[0]);
    int begin = times == null ? 0 : times[0];
    int end = times == null ? DAY : times[1];
    List<int[]> spans = new ArrayList<>();
    for (DayOfWeek day : days) {
      int midnight = (day.getValue() - 1) * DAY;
      int from = midnight + begin;
      int to = midnight + end;
      spans.add(new int[] {from, Math.min(to, WEEK)});
      if (to > WEEK) {
        spans.add(new int[] {0, to - WEEK});
      }
    }
    return new Row(text, spans, factor(words[words.length - 1]));
  }

  /** Begin and end of the time of day, in minutes; the end is after the begin, also at night. */
  private static int[] times(String[] words) {
    Matcher matcher = TIMES.matcher(words[words.length - 2]);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(RULE);
    }
    int begin = minute(matcher.group(1), matcher.group(2));
    int end = minute(matcher.group(3), matcher.group(4));
    if (begin > DAY - 1 || end > DAY || begin == end) {
      throw new IllegalArgumentException(
          "a time of day such as 08:00-18:00, 18:00-24:00 or "
              + "22:00-06:00 in \""
              + String.join(" ", words)
              + "\"");
    }
    return new int[] {begin, end > begin ? end : end + DAY};
  }

  private static int minute(String hours, String minutes) {
    return Integer.parseInt(hours) * 60 + Integer.parseInt(minutes);
  }

  private static List<DayOfWeek> days(String text) {
    List<DayOfWeek> days = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      String[] ends = part.split("-", -1);
      DayOfWeek last = day(ends[ends.length - 1]);
      DayOfWeek next = day(ends[0]);
      days.add(next);
      while (next != last) {
        next = next.plus(1);
        days.add(next);
      }
      if (ends.length > 2 || days.size() > DAYS.size()) {
        throw new IllegalArgumentException(RULE);
      }
    }
    return days;
  }

  private static DayOfWeek day(String text) {
    int index = DAYS.indexOf(text);
    if (index < 0) {
      throw new IllegalArgumentException(
          "rows whose days are of " + String.join(", ", DAYS) + ", such as Mon-Fri or Sat,Sun");
    }
    return DayOfWeek.of(index + 1);
  }

  private static BigDecimal factor(String text) {
    BigDecimal factor = FACTOR.matcher(text).matches() ? new BigDecimal(text) : null;
    if (factor == null || factor.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(
          "rows with a factor from 0 to %s with at most three decimals, such as 0.5"
              .formatted(MOST.toPlainString()));
    }
    return factor.stripTrailingZeros();
  }

  private static NavigableMap<Integer, BigDecimal> table(List<Row> rows) {
    record Span(int begin, int end, Row row) {}
    List<Span> spans = new ArrayList<>();
    for (Row row : rows) {
      row.spans().forEach(span -> spans.add(new Span(span[0], span[1], row)));
    }
    spans.sort(Comparator.comparingInt(Span::begin));
    NavigableMap<Integer, BigDecimal> factors = new TreeMap<>(Map.of(0, BigDecimal.ONE));
    Span before = null;
    for (Span span : spans) {
      if (before != null && span.begin() < before.end()) {
        throw new IllegalArgumentException(
            "rows that don't overlap, but \"%s\" and \"%s\" do"
                .formatted(before.row().text(), span.row().text()));
      }
      factors.put(span.begin(), span.row().factor());
      factors.put(span.end(), BigDecimal.ONE);
      before = span;
    }
    return factors;
  }

  /** What holds at {@code now}. */
  public CurrentFactor at(Instant now) {
    BigDecimal factor = factor(now);
    return new CurrentFactor(
        factor,
        changes(now).stream()
            .filter(each -> each.isAfter(now) && factor(each).compareTo(factor) != 0)
            .findFirst());
  }

  /** The factor at a time. */
  public BigDecimal factor(Instant instant) {
    LocalDateTime local = LocalDateTime.ofInstant(instant, zone);
    int minute = (local.getDayOfWeek().getValue() - 1) * DAY + local.get(ChronoField.MINUTE_OF_DAY);
    return factors.floorEntry(minute).getValue();
  }

  /**
   * The present and the next times in which another factor than 1 holds, in order: those of the
   * next two weeks, {@value #MOST_INTERVALS} at most.
   */
  public List<Interval> upcoming(Instant now) {
    Instant today = now.truncatedTo(ChronoUnit.DAYS);
    Instant from = today.minus(BEHIND);
    Instant to = today.plus(AHEAD);
    List<Interval> upcoming = new ArrayList<>();
    NavigableSet<Instant> changes = new TreeSet<>(changes(from).subSet(from, true, to, true));
    changes.add(to);
    Instant start = from;
    BigDecimal factor = factor(from);
    for (Instant change : changes) {
      BigDecimal next = factor(change);
      if (!change.equals(to) && next.compareTo(factor) == 0) {
        continue;
      }
      if (change.isAfter(now)
          && factor.compareTo(BigDecimal.ONE) != 0
          && upcoming.size() < MOST_INTERVALS) {
        upcoming.add(new Interval(start, change, factor));
      }
      start = change;
      factor = next;
    }
    return upcoming;
  }

  /** The greatest factor of a week. */
  public BigDecimal greatest() {
    return Collections.max(factors.headMap(WEEK).values());
  }

  /** The times at which the factor may change, from this week on. */
  private NavigableSet<Instant> changes(Instant now) {
    ZoneRules rules = zone.getRules();
    LocalDate monday =
        LocalDate.ofInstant(now, zone).with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
    NavigableSet<Instant> changes = new TreeSet<>();
    for (int week = 0; week <= WEEKS_AHEAD; week++) {
      LocalDateTime begin = monday.plusWeeks(week).atStartOfDay();
      for (int minute : factors.keySet()) {
        LocalDateTime local = begin.plus(minute, ChronoUnit.MINUTES);
        rules.getValidOffsets(local).forEach(offset -> changes.add(local.toInstant(offset)));
      }
    }
    Instant end = now.plus(Duration.ofDays(7L * WEEKS_AHEAD));
    ZoneOffsetTransition shift = rules.nextTransition(now);
    while (shift != null && shift.getInstant().isBefore(end)) {
      changes.add(shift.getInstant());
      shift = rules.nextTransition(shift.getInstant());
    }
    return changes;
  }
}
