package dev.sluice.core.budget;

import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Unit;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What was spent of one budget, and what the Workloads that hold quota go on to spend. */
final class AccountBook {

  /** The latest time that a run may be reserved until: the last that everybody can write. */
  private static final long LATEST = Instant.parse("9999-01-01T00:00:00Z").toEpochMilli();

  /** Periods that nobody saw are gone through one after another, up to this number of them. */
  private static final int MOST_ROLLS = 10_000;

  /**
   * A Workload that holds quota; times in milliseconds. While its admission isn't written, nothing
   * of it is settled, so that it costs nothing if that fails.
   */
  private static final class OpenCharge {
    private long since;
    private @Nullable Long until;
    private boolean written;
    private Map<String, BigDecimal> rates;

    OpenCharge(long since, Map<String, BigDecimal> rates) {
      this.since = since;
      this.rates = rates;
    }

    private long left(long from) {
      return until == null ? 0 : Math.max(0, until - Math.max(from, since));
    }

    private int bytes() {
      return BudgetAccount.Charge.bytes(rates);
    }
  }

  /**
   * Sums at a time.
   *
   * @param spent what was spent in the period
   * @param reserved what is reserved for the runs that go on
   * @param beyond the part of it after the end of the period
   */
  record Sums(BigDecimal spent, BigDecimal reserved, BigDecimal beyond) {

    /** What was spent and what is reserved. */
    BigDecimal committed() {
      return spent.add(reserved);
    }
  }

  BudgetSpec spec;
  private Instant start;
  private Instant end;
  private final Map<String, BigDecimal> spent = new HashMap<>();
  private final Map<String, BigDecimal> carried = new HashMap<>();
  private final List<Map<String, BigDecimal>> parts = new ArrayList<>();
  private final SortedMap<String, OpenCharge> open = new TreeMap<>();

  /** What was promised in this cycle, and the part of it after the end of the period. */
  private final Map<String, BigDecimal> planned = new HashMap<>();

  private final Map<String, BigDecimal> plannedBeyond = new HashMap<>();
  private int plannedBytes;

  /** How much of the status the charges take. */
  private int bytes;

  /** Sums by key, until something changes. */
  private final Map<String, Sums> sums = new HashMap<>();

  /** Whether the account was read, and not yet compared with who holds quota. */
  boolean found;

  /** An account of which nothing was spent, whose first period began at a time. */
  AccountBook(BudgetSpec spec, Instant now) {
    this.spec = spec;
    this.start = Calendar.begin(spec.period(), now);
    this.end = Calendar.end(spec.period(), now);
  }

  /** An account that was exported. */
  AccountBook(BudgetAccount.OfBudget exportedBudget) {
    this.spec = exportedBudget.spec();
    this.start = exportedBudget.account().start();
    this.end = exportedBudget.account().end();
    this.found = exportedBudget.found();
    spent.putAll(exportedBudget.account().spent());
    carried.putAll(exportedBudget.account().carried());
    parts.addAll(exportedBudget.account().parts());
    for (BudgetAccount.Charge charge : exportedBudget.account().charges()) {
      OpenCharge openCharge = new OpenCharge(charge.since().toEpochMilli(), charge.rates());
      openCharge.until = charge.until().map(Instant::toEpochMilli).orElse(null);
      openCharge.written = charge.written();
      put(charge.uid(), openCharge);
    }
  }

  BudgetAccount.OfBudget export() {
    List<BudgetAccount.Charge> charges = new ArrayList<>();
    open.forEach(
        (uid, charge) ->
            charges.add(
                new BudgetAccount.Charge(
                    uid,
                    Instant.ofEpochMilli(charge.since),
                    Optional.ofNullable(charge.until).map(Instant::ofEpochMilli),
                    charge.written,
                    charge.rates)));
    return new BudgetAccount.OfBudget(
        spec, new BudgetAccount(start, end, spent, carried, List.copyOf(parts), charges), found);
  }

  private void put(String uid, OpenCharge charge) {
    remove(uid);
    open.put(uid, charge);
    bytes += charge.bytes();
  }

  private boolean remove(String uid) {
    OpenCharge charge = open.remove(uid);
    if (charge != null) {
      bytes -= charge.bytes();
    }
    return charge != null;
  }

  /**
   * Takes another spec over; other periods begin anew, with what was spent so far, and nothing
   * carried over from those before.
   */
  void declare(BudgetSpec newSpec, Instant now) {
    boolean periods = !newSpec.period().equals(spec.period());
    spec = newSpec;
    sums.clear();
    if (periods) {
      beginAnew(now);
    }
  }

  private void beginAnew(Instant now) {
    sums.clear();
    open.values().forEach(charge -> settle(charge, now.toEpochMilli()));
    parts.clear();
    carried.clear();
    start = Calendar.begin(spec.period(), now);
    end = Calendar.end(spec.period(), now);
  }

  /**
   * Ends the comparison of an account that was read. Periods that aren't those of the spec are of
   * one that changed while nobody counted, or somebody made them up: they begin anew. No use is
   * settled up to a time to come.
   */
  void compared(Instant now) {
    found = false;
    boolean periodsOfSpec =
        !start.isAfter(now)
            && Calendar.begin(spec.period(), start).equals(start)
            && Calendar.end(spec.period(), start).equals(end);
    open.values().forEach(charge -> charge.since = Math.min(charge.since, now.toEpochMilli()));
    if (periodsOfSpec) {
      roll(now);
    } else {
      beginAnew(now);
    }
  }

  Instant end() {
    return end;
  }

  /** Begins all periods that are due; returns whether there was one. */
  boolean roll(Instant now) {
    sums.clear();
    if (end.isAfter(now)) {
      return false;
    }
    for (int i = 0; i < MOST_ROLLS && !end.isAfter(now); i++) {
      settleAll(end.toEpochMilli());
      if (spec.period().rolling().isPresent()) {
        parts.addLast(Map.copyOf(spent));
        while (parts.size() > Period.PARTS) {
          parts.removeFirst();
        }
      } else {
        carry();
      }
      spent.clear();
      start = end;
      end = Calendar.end(spec.period(), start);
    }
    if (!end.isAfter(now)) { // So many periods later nothing of those before is left in a window.
      settleAll(now.toEpochMilli());
      spent.clear();
      parts.clear();
      start = Calendar.begin(spec.period(), now);
      end = Calendar.end(spec.period(), now);
    }
    return true;
  }

  private void carry() {
    for (Limit limit : spec.limits()) {
      BigDecimal most = limit.amount().multiply(spec.carryOver());
      BigDecimal left = allowed(limit).subtract(sum(limit.key(), end.toEpochMilli()).spent());
      if (most.min(left).signum() > 0) {
        carried.put(limit.key(), plain(most.min(left)));
      } else {
        carried.remove(limit.key());
      }
    }
  }

  /** What may be spent in this period, with what was carried over. */
  BigDecimal allowed(Limit limit) {
    return limit.amount().add(carried.getOrDefault(limit.key(), BigDecimal.ZERO));
  }

  private void settleAll(long at) {
    open.values().stream().filter(charge -> charge.written).forEach(charge -> settle(charge, at));
  }

  /** Settles what was used up to a time, in the parts of the window in which it was used. */
  private void settle(OpenCharge charge, long at) {
    long begin = start.toEpochMilli();
    long length = end.toEpochMilli() - begin;
    for (int i = parts.size() - 1; i >= 0 && charge.since < begin; i--) {
      begin -= length;
      long used = Math.min(at, begin + length) - Math.max(charge.since, begin);
      Map<String, BigDecimal> part = new HashMap<>(parts.get(i));
      add(part, charge.rates, used);
      parts.set(i, Map.copyOf(part));
    }
    add(spent, charge.rates, at - Math.max(charge.since, start.toEpochMilli()));
    charge.since = Math.max(charge.since, at);
  }

  private static void add(
      Map<String, BigDecimal> sums, Map<String, BigDecimal> rates, long millis) {
    if (millis > 0) {
      rates.forEach(
          (key, rate) ->
              sums.merge(
                  key,
                  plain(rate.multiply(BigDecimal.valueOf(millis))),
                  (one, two) -> plain(one.add(two))));
    }
  }

  private static BigDecimal plain(BigDecimal amount) {
    return amount.signum() == 0 ? BigDecimal.ZERO : amount.stripTrailingZeros();
  }

  /**
   * Records what a Workload that holds quota uses from now on.
   *
   * @param rates what it uses of each limit; empty if it uses nothing any more
   * @return whether something may have become free
   */
  boolean charge(String uid, Map<String, BigDecimal> rates, Instant now) {
    OpenCharge charge = open.get(uid);
    if (charge == null) {
      if (!rates.isEmpty()) {
        sums.clear();
        put(uid, new OpenCharge(now.toEpochMilli(), rates));
      }
      return false;
    }
    if (charge.rates.equals(rates)) {
      return false;
    }
    sums.clear();
    settle(charge, now.toEpochMilli());
    remove(uid);
    charge.rates = rates;
    if (!rates.isEmpty()) {
      put(uid, charge);
    }
    return true;
  }

  /** Reserves the rest of a run that began now. */
  void reserve(String uid, long millis) {
    OpenCharge charge = open.get(uid);
    if (charge != null && spec.reserves()) {
      sums.clear();
      charge.until = plus(charge.since, millis);
    }
  }

  private static long plus(long time, long millis) {
    return Math.min(LATEST, time + Math.min(millis, LATEST));
  }

  /** Records that the admission of a Workload is known to be written. */
  void written(String uid) {
    OpenCharge charge = open.get(uid);
    if (charge != null) {
      charge.written = true;
      if (charge.since < start.toEpochMilli()) {
        settle(charge, start.toEpochMilli());
      }
    }
  }

  /** Forgets a Workload that never ran; returns whether something became free. */
  boolean forget(String uid) {
    sums.clear();
    return remove(uid);
  }

  /** The UIDs of Workloads that hold quota. */
  List<String> charged() {
    return List.copyOf(open.keySet());
  }

  /** Whether a Workload holds quota. */
  boolean isCharged(String uid) {
    return open.containsKey(uid);
  }

  /**
   * Ends the charge of a Workload that no longer holds quota, and did so when the account was read.
   *
   * @param evicted since when it waits; empty if it doesn't
   */
  void endFound(String uid, Optional<Instant> evicted, Instant now) {
    OpenCharge charge = open.get(uid);
    if (charge == null) {
      return;
    }
    Instant since = Instant.ofEpochMilli(charge.since);
    boolean evictedSince = evicted.filter(at -> at.isAfter(since)).isPresent();
    if (evicted.isPresent() && !evictedSince && !charge.written) {
      forget(uid); // Its admission was about to be written, and wasn't.
      return;
    }
    Instant ended = evicted.filter(at -> evictedSince && at.isBefore(now)).orElse(now);
    roll(ended);
    charge(uid, Map.of(), ended);
  }

  /**
   * Whether the status couldn't name another Workload with these rates: it has to, before that
   * Workload starts.
   */
  boolean isFull(Map<String, BigDecimal> rates) {
    return bytes + plannedBytes + BudgetAccount.Charge.bytes(rates) > BudgetAccount.MOST_BYTES;
  }

  /** How many Workloads hold quota. */
  int size() {
    return open.size();
  }

  /** What is spent and reserved of a limit. */
  Sums sums(String key, Instant now) {
    return sums.computeIfAbsent(key, any -> sum(key, now.toEpochMilli()));
  }

  private Sums sum(String key, long now) {
    BigDecimal used = spent.getOrDefault(key, BigDecimal.ZERO);
    for (Map<String, BigDecimal> part : parts) {
      used = used.add(part.getOrDefault(key, BigDecimal.ZERO));
    }
    BigDecimal reserved = BigDecimal.ZERO;
    BigDecimal beyond = BigDecimal.ZERO;
    long window = spec.period().countsFrom(start, end).toEpochMilli();
    for (OpenCharge charge : open.values()) {
      BigDecimal rate = charge.rates.get(key);
      if (rate != null) {
        long millis = Math.max(0, now - Math.max(charge.since, window));
        used = used.add(rate.multiply(BigDecimal.valueOf(millis)));
        reserved = reserved.add(rate.multiply(BigDecimal.valueOf(charge.left(now))));
        beyond = beyond.add(rate.multiply(BigDecimal.valueOf(charge.left(end.toEpochMilli()))));
      }
    }
    return new Sums(used, reserved, beyond);
  }

  /** Promises a run to a Workload that the same cycle admits. */
  void plan(Map<String, BigDecimal> rates, long millis, Instant now) {
    if (rates.isEmpty()) {
      return;
    }
    plannedBytes += BudgetAccount.Charge.bytes(rates);
    long beyond = beyond(millis, now);
    rates.forEach(
        (key, rate) -> {
          planned.merge(key, rate.multiply(BigDecimal.valueOf(millis)), BigDecimal::add);
          plannedBeyond.merge(key, rate.multiply(BigDecimal.valueOf(beyond)), BigDecimal::add);
        });
  }

  private long beyond(long millis, Instant now) {
    long left = Math.max(0, end.toEpochMilli() - now.toEpochMilli());
    return Math.max(0, millis - left);
  }

  /** Forgets what was promised: it is charged now. */
  void endCycle() {
    planned.clear();
    plannedBeyond.clear();
    plannedBytes = 0;
  }

  /**
   * Whether a run of so many milliseconds fits into what is left of a limit, in this period and in
   * each later one that it reaches.
   */
  boolean fits(Limit limit, BigDecimal rate, long millis, Instant now) {
    String key = limit.key();
    Sums limitSums = sums(key, now);
    BigDecimal whole = rate.multiply(BigDecimal.valueOf(millis));
    BigDecimal later = rate.multiply(BigDecimal.valueOf(beyond(millis, now)));
    BigDecimal promised = planned.getOrDefault(key, BigDecimal.ZERO);
    BigDecimal promisedLater = plannedBeyond.getOrDefault(key, BigDecimal.ZERO);
    return limitSums.committed().add(promised).add(whole).compareTo(allowed(limit)) <= 0
        && limitSums.beyond().add(promisedLater).add(later).compareTo(limit.amount()) <= 0;
  }

  /** When the periods of a budget begin and end. */
  static final class Calendar {

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
}
