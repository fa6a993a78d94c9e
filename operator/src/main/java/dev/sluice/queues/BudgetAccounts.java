package dev.sluice.queues;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.sluice.BudgetReader;
import dev.sluice.api.sluice.SpecFault;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.queues.status.BudgetStatus;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the engine of Budgets, and keeps what was spent in their statuses: before any admission is
 * written, and from time to time (docs/budgets.md#where-it-is-kept). Does nothing while there is no
 * Budget.
 */
public final class BudgetAccounts implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(BudgetAccounts.class);

  private static final String PATH =
      "apis/" + ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION + "/budgets";

  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration RETRY = Duration.ofMillis(100);

  /** After how long a status that was refused is tried again, unless an admission waits for it. */
  private static final Duration REST = Duration.ofSeconds(5);

  private static final Duration FIGURES = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ATTEMPTS = 5;

  /** While so many writes are slow, no other is begun that no admission waits for. */
  private static final int MOST_SLOW = 2;

  /**
   * What this reads and writes with.
   *
   * @param reflectors watch the Budgets
   * @param eventSink is told of Budgets
   * @param budgets asks the engine for what was spent
   * @param apiClient writes the statuses
   * @param notifier leaves events beside a Budget
   * @param leadership only the leader writes
   * @param drain stops Workloads, given their UIDs and why, because a limit is spent that they use
   * @param balances is told where the limits of a budget stand, by its name; none when it is gone
   */
  public record Connections(
      Reflectors reflectors,
      SchedulerEventSink eventSink,
      Supplier<CompletableFuture<List<BudgetAccount.OfBudget>>> budgets,
      ApiClient apiClient,
      EventNotifier notifier,
      Leadership leadership,
      BiConsumer<Set<String>, String> drain,
      BiConsumer<String, List<BudgetStatus.LimitBalance>> balances) {}

  /** A Budget as it was seen last. */
  private record SeenBudget(
      String name, String uid, String version, Instant createdAt, JsonNode spec, JsonNode status) {

    static SeenBudget of(JsonNode object) {
      JsonNode metadata = object.path("metadata");
      return new SeenBudget(
          metadata.path("name").asText(),
          metadata.path("uid").asText(),
          metadata.path("resourceVersion").asText(),
          JsonFields.time(metadata.path("creationTimestamp")).orElse(Instant.EPOCH),
          object.path("spec"),
          object.path("status"));
    }

    HasMetadata reference() {
      GenericKubernetesResource object = new GenericKubernetesResource();
      object.setApiVersion(ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION);
      object.setKind("Budget");
      object.setMetadata(
          new ObjectMetaBuilder().withName(name).withUid(uid).withResourceVersion(version).build());
      return object;
    }
  }

  /**
   * An admission that waits until it is named.
   *
   * @param attempts how many writes in vain it may see
   */
  private record Wait(WorkloadId id, CompletableFuture<Boolean> named, int attempts) {}

  /** What was written of a budget last. */
  private record LastWrite(BudgetAccount.OfBudget budget, Instant at) {}

  /** A write that takes longer than others wait for it. */
  private record SlowWrite(
      SeenBudget seen,
      BudgetAccount.OfBudget budget,
      String base,
      CompletableFuture<ApiOutcome> outcome) {}

  /** Whether a status has an account. */
  private enum Progress {
    WRITTEN,
    UNWRITTEN,
    /** The API server hasn't answered yet. */
    SLOW
  }

  private final Connections connections;
  private final InstantSource clock;
  private final String self;
  private final Store<SeenBudget> store = new Store<>(SeenBudget::of);
  private final Reflector<Store.Item<SeenBudget>> reflector;
  private final LinkedBlockingQueue<Wait> waits = new LinkedBlockingQueue<>();
  private final Map<String, LastWrite> written = new ConcurrentHashMap<>();

  /** The versions that the engine knows the accounts of, or newer ones by this process. */
  private final Map<String, String> versions = new ConcurrentHashMap<>();

  /**
   * The versions with which somebody else's accounts were told to the engine, by budget: what was
   * decided before may not fit into them.
   */
  private final Map<String, String> takenOver = new ConcurrentHashMap<>();

  /** When events were left, by the UID of the budget and what they say. */
  private final Map<String, Map<String, Instant>> told = new ConcurrentHashMap<>();

  /** What is wrong with budgets as their statuses say, by UID. */
  private final Map<String, String> toldFaults = new ConcurrentHashMap<>();

  /** When statuses were refused, by UID. */
  private final Map<String, Instant> refused = new HashMap<>();

  /** Writes that are waited for no longer, by the UID of the budget. */
  private final Map<String, SlowWrite> slow = new HashMap<>();

  private final Thread thread = Thread.ofVirtual().name("budgets").unstarted(this::run);
  private volatile Runnable presence = () -> {};
  private volatile boolean closed;

  /**
   * Creates the accounts of an operator; nothing is read yet.
   *
   * @param identity names this process among its replicas
   */
  public BudgetAccounts(Connections connections, InstantSource clock, String identity) {
    this.connections = connections;
    this.clock = clock;
    this.self = identity + "/" + UUID.randomUUID();
    this.reflector = connections.reflectors().of("budgets", PATH, store);
    store.observe(this::changed);
  }

  /** Begins to read; completes when all Budgets are known to the engine. */
  public CompletableFuture<Void> start() {
    thread.start();
    return reflector.start();
  }

  /** Calls the listener when there is a first Budget, and when there is none any more. */
  public void onPresence(Runnable listener) {
    presence = listener;
  }

  /**
   * A Budget as it stands.
   *
   * @param since from when on use counts in its period
   */
  public record CountedBudget(BudgetSpec spec, Instant since) {}

  /** The Budget of a name; empty if there is none, or its spec isn't understood. */
  public Optional<CountedBudget> budget(String name) {
    return store
        .find(name)
        .flatMap(
            seen ->
                BudgetReader.read(name, seen.spec())
                    .budget()
                    .map(
                        spec ->
                            new CountedBudget(spec, since(spec, seen.status(), seen.createdAt()))));
  }

  private static Instant since(BudgetSpec spec, JsonNode status, Instant createdAt) {
    return BudgetStatus.read(status)
        .map(account -> spec.period().countsFrom(account.start(), account.end()))
        .filter(createdAt::isBefore)
        .orElse(createdAt);
  }

  /** Whether there is no Budget. */
  public boolean isEmpty() {
    return versions.isEmpty();
  }

  private void changed(@Nullable SeenBudget before, @Nullable SeenBudget after) {
    SeenBudget either = after == null ? before : after;
    if (either == null) {
      return;
    }
    String name = either.name();
    boolean none = versions.isEmpty();
    boolean other = before != null && after != null && !before.uid().equals(after.uid());
    if (after == null || other) {
      versions.remove(name);
      takenOver.remove(name);
      written.remove(name);
      if (before != null) {
        told.remove(before.uid());
        toldFaults.remove(before.uid());
      }
      connections.eventSink().submit(new SchedulerEvent.BudgetRemoved(name));
      connections.balances().accept(name, List.of());
    }
    if (after != null) {
      Optional<BudgetAccount> account = account(after);
      BudgetReader.read(name, after.spec())
          .budget()
          .ifPresent(
              spec ->
                  connections.eventSink().submit(new SchedulerEvent.BudgetChanged(spec, account)));
      if (account.isPresent()) {
        takenOver.put(name, after.version());
      }
      versions.put(name, after.version());
    }
    if (none != versions.isEmpty()) {
      presence.run();
    }
  }

  /** What somebody else wrote. */
  private Optional<BudgetAccount> account(SeenBudget budget) {
    String writer = BudgetStatus.writer(budget.status());
    if (writer.isEmpty() || writer.equals(self)) {
      return Optional.empty();
    }
    Optional<BudgetAccount> account = BudgetStatus.read(budget.status());
    if (account.isEmpty()) {
      LOG.error("budget={} account=unreadable: it is counted from now on", budget.name());
    }
    return account;
  }

  /**
   * Completes with true when every budget that counts a Workload and holds others names it in its
   * status, with false if that fails: then its admission must not be written. At once where there
   * is no budget.
   */
  public CompletableFuture<Boolean> named(WorkloadId id) {
    if (versions.isEmpty()) {
      return CompletableFuture.completedFuture(true);
    }
    Wait wait = new Wait(id, new CompletableFuture<>(), ATTEMPTS);
    waits.add(wait);
    return wait.named();
  }

  private void run() {
    List<Wait> unnamed = new ArrayList<>();
    while (!closed) {
      List<Wait> together = new ArrayList<>(unnamed);
      unnamed.clear();
      try {
        Wait first = waits.poll((together.isEmpty() ? TICK : RETRY).toMillis(), MILLISECONDS);
        if (first != null) {
          together.add(first);
          waits.drainTo(together);
        }
        if (!together.isEmpty() || (!versions.isEmpty() && connections.leadership().leading())) {
          unnamed.addAll(write(together));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException e) {
        LOG.error("budgets=unwritten", e);
      } finally {
        Set<WorkloadId> again = new HashSet<>();
        unnamed.forEach(wait -> again.add(wait.id()));
        together.stream()
            .filter(wait -> !again.contains(wait.id()))
            .forEach(wait -> wait.named().complete(false));
      }
    }
  }

  /**
   * Writes accounts that changed, first those that an admission waits for, and tells the Workloads
   * that wait; returns those that a budget counts which couldn't be written, to be named by the
   * next write. The others needn't wait for it.
   */
  private List<Wait> write(List<Wait> together) throws InterruptedException {
    Set<String> failed = finishSlow();
    Map<String, String> bases = Map.copyOf(versions);
    Map<String, String> others = Map.copyOf(takenOver);
    List<BudgetAccount.OfBudget> budgets = ask();
    // the engine may have decided them before it was told of the account: it decides them anew
    Set<String> decidedBefore = charged(budgets, others.keySet());
    answer(together, decidedBefore::contains, false);
    answer(waits, decidedBefore::contains, false);
    others.forEach(takenOver::remove);
    Instant before = clock.instant().minus(REST);
    refused.values().removeIf(at -> !at.isAfter(before));
    Set<String> waiting = charged(budgets, bases.keySet());
    waiting.retainAll(together.stream().map(wait -> wait.id().uid()).toList());
    answer(together, uid -> !waiting.contains(uid), true);
    Predicate<BudgetAccount.OfBudget> awaited =
        each ->
            each.spec().holds()
                && each.account().charges().stream()
                    .anyMatch(charge -> waiting.contains(charge.uid()));
    List<Wait> unnamed = name(budgets.stream().filter(awaited).toList(), bases, together, failed);
    writeFigures(budgets.stream().filter(awaited.negate()).toList(), bases);
    tellFaults(budgets);
    return unnamed;
  }

  /**
   * Writes the accounts that admissions wait for; returns who isn't named yet.
   *
   * @param failed the UIDs that were in slow writes that failed
   */
  private List<Wait> name(
      List<BudgetAccount.OfBudget> budgets,
      Map<String, String> bases,
      List<Wait> together,
      Set<String> failed)
      throws InterruptedException {
    Set<String> waiting =
        together.stream().map(wait -> wait.id().uid()).collect(Collectors.toSet());
    Set<String> inVain = new HashSet<>();
    Set<String> later = new HashSet<>();
    for (BudgetAccount.OfBudget each : budgets) {
      Progress progress = write(each, bases.get(each.spec().name()), waiting);
      if (progress != Progress.WRITTEN) {
        Set<String> unwritten = progress == Progress.SLOW ? later : inVain;
        each.account().charges().forEach(charge -> unwritten.add(charge.uid()));
      }
    }
    List<Wait> unnamed = new ArrayList<>();
    for (Wait wait : together) {
      String uid = wait.id().uid();
      boolean isUnnamed = inVain.contains(uid) || later.contains(uid);
      int attempts = wait.attempts() - (inVain.contains(uid) || failed.contains(uid) ? 1 : 0);
      if (isUnnamed && attempts > 0) {
        unnamed.add(new Wait(wait.id(), wait.named(), attempts));
      } else {
        wait.named().complete(!isUnnamed);
      }
    }
    return unnamed;
  }

  /**
   * Writes accounts that nobody waits for, the oldest first, and at least one of them: an admission
   * that comes meanwhile goes before the others.
   */
  private void writeFigures(List<BudgetAccount.OfBudget> budgets, Map<String, String> bases)
      throws InterruptedException {
    List<BudgetAccount.OfBudget> oldestFirst =
        budgets.stream()
            .sorted(Comparator.comparing(each -> writtenAt(each.spec().name())))
            .toList();
    for (BudgetAccount.OfBudget each : oldestFirst) {
      if (write(each, bases.get(each.spec().name()), Set.of()) != Progress.UNWRITTEN
          && !waits.isEmpty()) {
        return;
      }
    }
  }

  private Instant writtenAt(String name) {
    LastWrite last = written.get(name);
    return last == null ? Instant.EPOCH : last.at();
  }

  /** The UIDs of Workloads that these budgets count, as far as they hold others. */
  private static Set<String> charged(List<BudgetAccount.OfBudget> budgets, Set<String> names) {
    return budgets.stream()
        .filter(each -> names.contains(each.spec().name()) && each.spec().holds())
        .flatMap(each -> each.account().charges().stream())
        .map(BudgetAccount.Charge::uid)
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** Says of the Workloads with these UIDs whether they may be admitted: they wait no longer. */
  private static void answer(Collection<Wait> admissions, Predicate<String> uids, boolean named) {
    admissions.removeIf(wait -> uids.test(wait.id().uid()) && wait.named().complete(named));
  }

  private List<BudgetAccount.OfBudget> ask() throws InterruptedException {
    try {
      return connections.budgets().get().get(PATIENCE.toMillis(), MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the engine doesn't say what was spent", e);
    }
  }

  /**
   * Writes an account if need be; returns whether the status has it.
   *
   * @param waiting the UIDs of the admissions that wait
   */
  private Progress write(BudgetAccount.OfBudget budget, @Nullable String base, Set<String> waiting)
      throws InterruptedException {
    String name = budget.spec().name();
    Optional<SeenBudget> seen = store.find(name);
    Instant now = clock.instant();
    if (seen.isEmpty() || base == null) {
      return Progress.WRITTEN; // It is deleted: the engine will be told.
    }
    if (budget.found()) {
      return Progress.UNWRITTEN; // Somebody else's account, which wasn't compared yet.
    }
    LastWrite last = written.get(name);
    if (last != null && last.budget().equals(budget) && now.isBefore(last.at().plus(FIGURES))) {
      tell(seen.get(), budget, now);
      return Progress.WRITTEN;
    }
    String uid = seen.get().uid();
    if (slow.containsKey(uid) || (waiting.isEmpty() && slow.size() >= MOST_SLOW)) {
      return Progress.SLOW;
    }
    if (refused.containsKey(uid)
        && budget.account().charges().stream()
            .noneMatch(charge -> waiting.contains(charge.uid()))) {
      return Progress.UNWRITTEN;
    }
    ObjectNode status =
        BudgetStatus.of(
            budget,
            seen.get().status(),
            faults(seen.get()),
            self,
            told(seen.get(), budget, now),
            now);
    SlowWrite write = new SlowWrite(seen.get(), budget, base, patch(seen.get(), base, status));
    if (!answered(write.outcome())) {
      slow.put(uid, write);
      return Progress.SLOW;
    }
    return finish(write) ? Progress.WRITTEN : Progress.UNWRITTEN;
  }

  /** Waits a moment for the answer of the API server; returns whether it came. */
  private static boolean answered(CompletableFuture<ApiOutcome> outcome)
      throws InterruptedException {
    try {
      outcome.get(RETRY.toMillis(), MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      return true; // Whoever reads it sees why.
    } catch (TimeoutException e) {
      return false;
    }
  }

  /** Takes over what was answered late; returns the UIDs of Workloads that aren't named by it. */
  private Set<String> finishSlow() {
    Set<String> failed = new HashSet<>();
    for (SlowWrite each : List.copyOf(slow.values())) {
      if (each.outcome().isDone()) {
        slow.remove(each.seen().uid());
        if (!finish(each)) {
          each.budget().account().charges().forEach(charge -> failed.add(charge.uid()));
        }
      }
    }
    return failed;
  }

  /** Takes the answer over; returns whether the status has the account. */
  private boolean finish(SlowWrite write) {
    SeenBudget seen = write.seen();
    String name = seen.name();
    return switch (write.outcome().join()) {
      case ApiOutcome.Written answer -> {
        if (store.find(name).filter(now -> now.uid().equals(seen.uid())).isPresent()) {
          String version = JsonFields.text(answer.object(), "metadata", "resourceVersion");
          versions.computeIfPresent(
              name, (any, known) -> known.equals(write.base()) ? version : known);
          written.put(name, new LastWrite(write.budget(), clock.instant()));
          tell(seen, write.budget(), clock.instant());
        }
        yield true;
      }
      case ApiOutcome.Gone gone -> true;
      case ApiOutcome.Conflict conflict -> false;
      case ApiOutcome.Refused(int code, String message) -> {
        warn(seen, code, message);
        yield false;
      }
      case ApiOutcome.Unreachable unreachable -> false;
    };
  }

  private void warn(SeenBudget seen, int code, String message) {
    if (refused.putIfAbsent(seen.uid(), clock.instant()) == null) {
      LOG.warn("budget={} status=refused code={} reason=\"{}\"", seen.name(), code, message);
    }
  }

  private CompletableFuture<ApiOutcome> patch(SeenBudget seen, String base, ObjectNode status) {
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    patch.putObject("metadata").put("resourceVersion", base).put("uid", seen.uid());
    patch.set("status", status);
    return connections
        .apiClient()
        .send(ApiRequest.patch("/" + PATH + "/" + seen.name() + "/status", patch));
  }

  private static String faults(SeenBudget budget) {
    return String.join(
        "; ",
        BudgetReader.read(budget.name(), budget.spec()).faults().stream()
            .map(SpecFault::toString)
            .toList());
  }

  /**
   * Says of budgets that the engine doesn't know what is wrong with them, once for each spec, as
   * soon as that can be written.
   */
  private void tellFaults(List<BudgetAccount.OfBudget> budgets) {
    for (SeenBudget each : store.all().toList()) {
      String faults = faults(each);
      if (!faults.isEmpty()
          && budgets.stream().noneMatch(known -> known.spec().name().equals(each.name()))
          && !faults.equals(toldFaults.get(each.uid()))
          && !refused.containsKey(each.uid())) {
        ApiOutcome outcome =
            patch(
                    each,
                    each.version(),
                    BudgetStatus.inactive(each.status(), faults, clock.instant()))
                .join();
        if (outcome instanceof ApiOutcome.Written || outcome instanceof ApiOutcome.Gone) {
          toldFaults.put(each.uid(), faults);
        } else if (outcome instanceof ApiOutcome.Refused(int code, String message)) {
          warn(each, code, message);
        }
      }
    }
  }

  /**
   * Leaves the events of a budget, each once in a period or window, and stops what must not go on.
   */
  private void tell(SeenBudget seen, BudgetAccount.OfBudget budget, Instant now) {
    BudgetReader.Reading reading = BudgetReader.read(seen.name(), seen.spec());
    List<BudgetStatus.LimitBalance> balances = BudgetStatus.balances(budget, now);
    connections.balances().accept(seen.name(), balances);
    told(seen, budget, now);
    Instant end = budget.account().end();
    for (BudgetStatus.LimitBalance balance : balances) {
      String limit = balance.limit().key().replace(BudgetSpec.Limit.COST, "cost");
      for (BigDecimal fraction : reading.notifyAt()) {
        if (balance.fraction().compareTo(fraction) >= 0) {
          once(
              seen,
              "BudgetNearlySpent",
              balance.fraction().movePointRight(2).toBigInteger()
                  + "% of "
                  + limit
                  + " is spent, more than "
                  + fraction.movePointRight(2).toBigInteger()
                  + "%",
              limit + "/" + fraction,
              now);
        }
      }
      if (balance.isExhausted()) {
        once(
            seen,
            "BudgetExhausted",
            budget.spec().period().rolling().isPresent()
                ? "Nothing is left of " + limit + ": use leaves the window from " + end + " on"
                : "Nothing is left of " + limit + " before " + end,
            limit + "/exhausted",
            now);
      }
      if (reading.drains() && balance.isSpent()) {
        Set<String> uids = users(budget.account(), balance.limit());
        if (!uids.isEmpty()) {
          connections
              .drain()
              .accept(uids, "Budget " + seen.name() + " is spent: nothing is left of " + limit);
        }
      }
    }
  }

  /** Who uses what a limit counts: others would be admitted again at once. */
  private static Set<String> users(BudgetAccount account, BudgetSpec.Limit limit) {
    return account.charges().stream()
        .filter(charge -> charge.rates().containsKey(limit.key()))
        .map(BudgetAccount.Charge::uid)
        .collect(Collectors.toSet());
  }

  /**
   * When the events of the period, or of the window, were left: by this process, or by another that
   * wrote it down.
   */
  private Map<String, Instant> told(SeenBudget seen, BudgetAccount.OfBudget budget, Instant now) {
    BudgetAccount account = budget.account();
    Instant since = budget.spec().period().countsFrom(account.start(), account.end());
    Map<String, Instant> events = told.computeIfAbsent(seen.uid(), any -> new TreeMap<>());
    BudgetStatus.told(seen.status(), now).forEach(events::putIfAbsent);
    events.values().removeIf(at -> at.isBefore(since));
    return events;
  }

  private void once(SeenBudget seen, String reason, String note, String event, Instant now) {
    Map<String, Instant> events = told.computeIfAbsent(seen.uid(), any -> new TreeMap<>());
    if (events.putIfAbsent(event, now) == null) {
      connections.notifier().warn(seen.reference(), reason, note);
      written.remove(seen.name()); // The next leader needn't tell it again.
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    reflector.close();
  }
}
