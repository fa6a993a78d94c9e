package dev.sluice.reference;

import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Budgets as the page tells them: who used what from when to when is remembered, and everything
 * else is worked out anew whenever somebody asks. Periods are hours of UTC, or windows.
 */
final class ReferenceBudgets {

  private static final long HOUR = 3_600_000;

  /** Somebody used so much of each limit, from then to then, or still does. */
  private static final class Span {
    final String uid;
    final Map<String, Long> amounts;
    final long from;
    @Nullable Long to;
    @Nullable Long promised;

    /** Whether what it uses, or what it may use, changed after it began. */
    boolean changed;

    Span(String uid, Map<String, Long> amounts, long from, @Nullable Long promised) {
      this.uid = uid;
      this.amounts = amounts;
      this.from = from;
      this.promised = promised;
    }

    /** How much of a limit was used between two times. */
    long used(String key, long begin, long end) {
      long last = Math.min(end, to == null ? end : to);
      return amounts.getOrDefault(key, 0L) * Math.max(0, last - Math.max(begin, from));
    }

    /** Whether it was promised to end by a time, and has. */
    boolean kept(long now) {
      return !changed && promised != null && (to == null ? now : to) <= promised;
    }

    /** How much of a limit is promised after a time. */
    long ahead(String key, long after) {
      return to != null || promised == null
          ? 0
          : amounts.getOrDefault(key, 0L) * Math.max(0, promised - Math.max(after, from));
    }
  }

  /** A budget with all that it ever saw. */
  private static final class Book {
    BudgetSpec spec;
    long begin;
    final Map<String, Long> carried = new HashMap<>();
    final List<Span> spans = new ArrayList<>();

    Book(BudgetSpec spec, long now) {
      this.spec = spec;
      this.begin = Math.floorDiv(now, step()) * step();
    }

    long step() {
      return spec.period()
          .rolling()
          .map(window -> Math.ceilDiv(window.toMillis(), 96))
          .orElse(HOUR);
    }

    long spent(String key, long now) {
      return spent(key, now, span -> true);
    }

    long spent(String key, long now, Predicate<Span> counts) {
      long since = spec.period().rolling().isPresent() ? begin - 96 * step() : begin;
      return spans.stream().filter(counts).mapToLong(span -> span.used(key, since, now)).sum();
    }

    /** Those that keep their times spend no more than there is, whatever others do. */
    void check(long now) {
      if (!spec.holds() || !spec.reserves()) {
        return;
      }
      for (Limit limit : spec.limits()) {
        long spent = spent(limit.key(), now, span -> span.kept(now));
        if (BigDecimal.valueOf(spent).compareTo(allowed(limit)) > 0) {
          throw new AssertionError(
              "%s is overspent: %d of %s at %d".formatted(spec, spent, allowed(limit), now));
        }
      }
    }

    long ahead(String key, long after) {
      return spans.stream().mapToLong(span -> span.ahead(key, after)).sum();
    }

    BigDecimal allowed(Limit limit) {
      return limit.amount().add(BigDecimal.valueOf(carried.getOrDefault(limit.key(), 0L)));
    }
  }

  private final ReferenceQueues world;
  private final Map<String, Book> books = new TreeMap<>();

  /** What a unit of each resource costs for an hour, by flavor. */
  final Map<String, Map<String, Long>> prices = new HashMap<>();

  private long now;

  /** Whether somebody who was held may fit now. */
  boolean released;

  ReferenceBudgets(ReferenceQueues world) {
    this.world = world;
  }

  void declare(BudgetSpec spec) {
    Book book = books.get(spec.name());
    if (book == null) {
      books.put(spec.name(), new Book(spec, now));
    } else if (book.spec.equals(spec)) {
      return;
    } else if (book.spec.period().equals(spec.period())) {
      book.spec = spec;
      book.spans.forEach(span -> span.changed = true);
    } else {
      throw new IllegalArgumentException("periods of a budget stay here: " + spec);
    }
    released = true;
  }

  void remove(String name) {
    released |= books.remove(name) != null;
  }

  /**
   * A flavor costs something else: prices of these worlds are whole numbers.
   *
   * @return whether it cost something else before
   */
  boolean price(String flavor, Map<String, BigDecimal> perHour) {
    Map<String, Long> before = prices.getOrDefault(flavor, Map.of());
    Map<String, Long> after = new HashMap<>();
    perHour.forEach((resource, price) -> after.put(resource, price.longValueExact()));
    prices.put(flavor, after);
    if (!after.equals(before)) {
      books.values().forEach(book -> book.spans.forEach(span -> span.changed = true));
    }
    released |=
        !after.equals(before)
            && books.values().stream()
                .flatMap(book -> book.spec.limits().stream())
                .anyMatch(limit -> limit.resource().equals(Limit.COST));
    return !after.equals(before);
  }

  private long worth(Limit limit, FlavorResource of, long amount) {
    return limit.resource().equals(Limit.COST)
        ? amount * prices.getOrDefault(of.flavor(), Map.of()).getOrDefault(of.resource(), 0L)
        : amount;
  }

  /** Time passes: periods that are over are closed. */
  void pass(Instant instant) {
    now = Math.max(now, instant.toEpochMilli());
    for (Book book : books.values()) {
      while (book.begin + book.step() <= now) {
        long end = book.begin + book.step();
        book.check(end);
        if (book.spec.period().rolling().isEmpty()) {
          for (Limit limit : book.spec.limits()) {
            BigDecimal left =
                book.allowed(limit).subtract(BigDecimal.valueOf(book.spent(limit.key(), end)));
            BigDecimal most = limit.amount().multiply(book.spec.carryOver());
            book.carried.put(limit.key(), Math.max(0, left.min(most).longValueExact()));
          }
        }
        book.begin = end;
        released = true;
      }
      book.check(now);
    }
  }

  /** The admission of a Workload was not written: it never ran. */
  void forget(String uid) {
    for (Book book : books.values()) {
      released |= book.spans.removeIf(span -> span.uid.equals(uid) && span.to == null);
    }
  }

  /** Brings what is counted in line with who holds quota now. */
  void count() {
    for (Book book : books.values()) {
      for (ReferenceEntry entry : world.workloads.values()) {
        count(book, entry.id.uid(), entry);
      }
      book.spans.stream()
          .filter(span -> span.to == null && !world.workloads.containsKey(span.uid))
          .toList()
          .forEach(span -> count(book, span.uid, null));
    }
  }

  private void count(Book book, String uid, @Nullable ReferenceEntry entry) {
    Map<String, Long> amounts = new HashMap<>();
    ReferenceEntry.Holding holding = entry == null ? null : entry.holding;
    if (entry != null && holding != null) {
      amounts =
          amounts(book.spec, holding.clusterQueue(), holding.localQueue(), entry.holder().usage());
    }
    Optional<Span> open =
        book.spans.stream().filter(span -> span.uid.equals(uid) && span.to == null).findFirst();
    if (open.isEmpty() ? amounts.isEmpty() : open.get().amounts.equals(amounts)) {
      return;
    }
    open.ifPresent(each -> each.to = now);
    released |= open.isPresent();
    if (!amounts.isEmpty()) {
      Span span = new Span(uid, amounts, now, open.map(each -> each.promised).orElse(null));
      span.changed = open.isPresent();
      book.spans.add(span);
    }
  }

  /** A Workload got quota in this cycle: where runs are reserved, all of its run is promised. */
  void starts(String uid, Optional<Duration> run) {
    count();
    for (Book book : books.values()) {
      if (book.spec.reserves() && run.isPresent()) {
        book.spans.stream()
            .filter(span -> span.uid.equals(uid) && span.to == null)
            .forEach(span -> span.promised = now + run.get().toMillis());
      }
    }
  }

  /** Whether some budget holds a Workload back whatever its flavors. */
  boolean refuses(ReferenceEntry entry, String queue) {
    Map<FlavorResource, Long> amounts = new HashMap<>();
    for (PodSetRequest podSet : entry.workload().shape().podSets()) {
      podSet
          .perPod()
          .forEach(
              (resource, each) ->
                  amounts.merge(
                      new FlavorResource("", resource), each * podSet.count(), Long::sum));
    }
    return refuses(entry, queue, amounts, false);
  }

  /** Whether some budget holds a Workload back that would get this. */
  boolean refuses(ReferenceEntry entry, String queue, Map<FlavorResource, Long> amounts) {
    return refuses(entry, queue, amounts, true);
  }

  private boolean refuses(
      ReferenceEntry entry, String queue, Map<FlavorResource, Long> uses, boolean exactly) {
    Optional<Duration> run = entry.workload().shape().run();
    for (Book book : books.values()) {
      Map<String, Long> amounts = amounts(book.spec, queue, entry.workload().localQueue(), uses);
      if (!book.spec.holds() || amounts.isEmpty()) {
        continue;
      }
      if (book.spec.reserves() && run.isEmpty()) {
        return true;
      }
      for (Limit limit : book.spec.limits()) {
        Long amount = amounts.get(limit.key());
        if (amount != null && !fits(book, limit, amount, run.orElse(Duration.ZERO), exactly)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean fits(Book book, Limit limit, long amount, Duration run, boolean exactly) {
    long spent = book.spent(limit.key(), now);
    long ahead = book.spec.reserves() ? book.ahead(limit.key(), now) : 0;
    if (!book.spec.reserves() || !exactly) {
      return BigDecimal.valueOf(spent + ahead).compareTo(book.allowed(limit)) < 0;
    }
    long end = book.begin + book.step();
    long whole = amount * run.toMillis();
    long later = amount * Math.max(0, run.toMillis() - (end - now));
    return BigDecimal.valueOf(spent + ahead + whole).compareTo(book.allowed(limit)) <= 0
        && BigDecimal.valueOf(book.ahead(limit.key(), end) + later).compareTo(limit.amount()) <= 0;
  }

  private Map<String, Long> amounts(
      BudgetSpec spec, String queue, LocalQueueId localQueue, Map<FlavorResource, Long> uses) {
    boolean counts =
        switch (spec.scope()) {
          case Scope.OfClusterQueue(var name) -> name.equals(queue);
          case Scope.OfCohort(var name) -> above(queue).contains(name);
          case Scope.OfLocalQueue(var id) -> id.equals(localQueue);
          case Scope.OfNamespaces(var labels) ->
              labels.matches(world.namespaces.getOrDefault(localQueue.namespace(), Map.of()));
        };
    Map<String, Long> amounts = new HashMap<>();
    if (counts) {
      for (Limit limit : spec.limits()) {
        long sum =
            uses.entrySet().stream()
                .filter(
                    each ->
                        limit.resource().equals(Limit.COST)
                            || each.getKey().resource().equals(limit.resource()))
                .filter(
                    each ->
                        limit.flavors().isEmpty()
                            || limit.flavors().contains(each.getKey().flavor()))
                .mapToLong(each -> worth(limit, each.getKey(), each.getValue()))
                .sum();
        if (sum > 0) {
          amounts.put(limit.key(), sum);
        }
      }
    }
    return amounts;
  }

  private List<String> above(String queue) {
    List<String> above = new ArrayList<>();
    String name = world.queues.containsKey(queue) ? world.queues.get(queue).cohort() : "";
    while (!name.isEmpty() && !above.contains(name)) {
      above.add(name);
      name = world.cohorts.containsKey(name) ? world.cohorts.get(name).parent() : "";
    }
    return above;
  }
}
