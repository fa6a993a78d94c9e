package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No admission is written before the budgets name it (docs/budgets.md#where-it-is-kept). */
class BudgetAccountsTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
  private static final long LIMIT_SECONDS = 60;

  private static final String BUDGET =
      """
      {"metadata": {"name": "%1$s", "uid": "uid-%1$s", "resourceVersion": "5"},
       "spec": {"scope": {"clusterQueue": "queue"}, "limits": [{"resource": "cpu", "hours": 1}]}}
      """;

  private static final String PAST_LEADERS =
      """
      "status": {"account": {"writer": "another", "start": "2026-03-01T00:00:00Z",
        "end": "2026-04-01T00:00:00Z", "spent": [], "carried": []}},
      """;

  private static BudgetAccount.OfBudget account(String name, String uid, boolean holds) {
    BudgetSpec spec =
        new BudgetSpec(
            name,
            new Scope.OfClusterQueue("queue"),
            List.of(new Limit("cpu", Set.of(), BigDecimal.TEN)),
            new Period(Unit.MONTHLY, "UTC", Optional.empty()),
            BigDecimal.ZERO,
            holds,
            true);
    BudgetAccount.Charge charge =
        new BudgetAccount.Charge(uid, NOW, Optional.empty(), false, Map.of("cpu", BigDecimal.ONE));
    return new BudgetAccount.OfBudget(
        spec,
        new BudgetAccount(
            Instant.parse("2026-03-01T00:00:00Z"),
            Instant.parse("2026-04-01T00:00:00Z"),
            Map.of(),
            Map.of(),
            List.of(),
            List.of(charge)),
        false);
  }

  private static BudgetAccounts accounts(
      KubernetesClient client, List<BudgetAccount.OfBudget> budgets) {
    return accounts(client, budgets, (uids, why) -> {});
  }

  private static BudgetAccounts accounts(
      KubernetesClient client,
      List<BudgetAccount.OfBudget> budgets,
      BiConsumer<Set<String>, String> drain) {
    return accounts(client, () -> budgets, drain, (object, reason, note) -> {}, () -> NOW);
  }

  private static BudgetAccounts accounts(
      KubernetesClient client,
      Supplier<List<BudgetAccount.OfBudget>> budgets,
      BiConsumer<Set<String>, String> drain,
      EventNotifier notifier,
      InstantSource clock) {
    return new BudgetAccounts(
        new BudgetAccounts.Connections(
            new Reflectors(client, () -> NOW, new Random(1), new ReadErrorLog()),
            event -> {},
            () -> CompletableFuture.completedFuture(budgets.get()),
            new ApiClient(client, ApiClient.Options.atATime(2)),
            notifier,
            Leadership.alone(() -> true),
            drain,
            (name, balances) -> {}),
        clock,
        "me");
  }

  private static boolean named(BudgetAccounts accounts, String uid) throws Exception {
    return accounts.named(new WorkloadId(uid, "ns", uid)).get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  /** Writes of a budget fail so often, and then succeed. */
  private static PlayedApi.Answer answer(
      PlayedApi.Asked request, String failing, AtomicInteger failures) {
    if (request.method().equals("PATCH")) {
      boolean fails = request.path().contains(failing) && failures.getAndDecrement() > 0;
      return fails
          ? new PlayedApi.Answer(409, "{\"kind\": \"Status\", \"reason\": \"Conflict\"}")
          : new PlayedApi.Answer(200, BUDGET.formatted("any"));
    }
    return new PlayedApi.Answer(
        200,
        "{\"metadata\": {\"resourceVersion\": \"5\"}, \"items\": [%s, %s]}"
            .formatted(BUDGET.formatted("first"), BUDGET.formatted("second")));
  }

  @ParameterizedTest
  @CsvSource({"0, true", "4, true", "5, false"})
  void anAdmissionSeesFiveWritesBeforeItIsGivenUp(int failures, boolean named) throws Exception {
    AtomicInteger left = new AtomicInteger(failures);
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts = accounts(client, List.of(account("first", "a", true)))) {
      api.play(request -> answer(request, "first", left));
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(named(accounts, "a")).isEqualTo(named);
    }
  }

  @Test
  void othersDoNotWaitForABudgetThatCannotBeWritten() throws Exception {
    AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts =
            accounts(client, List.of(account("first", "a", true), account("second", "b", true)))) {
      api.play(request -> answer(request, "first", left));
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      CompletableFuture<Boolean> unnamed = accounts.named(new WorkloadId("a", "ns", "a"));
      assertThat(named(accounts, "b")).isTrue();
      assertThat(named(accounts, "of-no-budget")).isTrue();
      assertThat(unnamed.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isFalse();
    }
  }

  /** A past leader named others meanwhile: what was decided before may not fit beside them. */
  @Test
  void anAdmissionThatWasDecidedWithoutTheAccountOfAPastLeaderIsDecidedAnew() throws Exception {
    CompletableFuture<Void> decided = new CompletableFuture<>();
    Supplier<List<BudgetAccount.OfBudget>> budgets =
        () -> {
          decided.join();
          return List.of(account("first", "a", true), account("second", "b", true));
        };
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts =
            accounts(client, budgets, (uids, why) -> {}, (object, reason, note) -> {}, () -> NOW)) {
      api.play(
          request -> {
            PlayedApi.Answer answer = answer(request, "none", new AtomicInteger());
            return new PlayedApi.Answer(
                answer.code(),
                answer
                    .body()
                    .replace(
                        "\"metadata\": {\"name\": \"first\"",
                        PAST_LEADERS + "\"metadata\": {\"name\": \"first\""));
          });
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      CompletableFuture<Boolean> before = accounts.named(new WorkloadId("a", "ns", "a"));
      CompletableFuture<Boolean> other = accounts.named(new WorkloadId("b", "ns", "b"));
      decided.complete(null);
      assertThat(before.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isFalse();
      assertThat(other.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(named(accounts, "a")).isTrue();
    }
  }

  @Test
  void othersDoNotWaitForABudgetWhoseWriteIsNotAnswered() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    AtomicInteger writes = new AtomicInteger();
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts =
            accounts(client, List.of(account("first", "a", true), account("second", "b", true)))) {
      api.play(
          request -> {
            if (request.path().endsWith("first/status")) {
              writes.incrementAndGet();
              awaited(slow);
            }
            return answer(request, "none", new AtomicInteger());
          });
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      CompletableFuture<Boolean> waiting = accounts.named(new WorkloadId("a", "ns", "a"));
      await().until(() -> writes.get() == 1);
      assertThat(named(accounts, "b")).isTrue();
      assertThat(named(accounts, "of-no-budget")).isTrue();
      assertThat(waiting).isNotDone();
      assertThat(writes).hasValue(1);
      slow.countDown();
      assertThat(waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The Budget has two limits, of which the GPUs' is spent from the beginning. */
  private static BudgetAccount.OfBudget withoutGpus() {
    BudgetAccount.OfBudget withCpus = account("first", "cpus", true);
    List<BudgetAccount.Charge> charges = new ArrayList<>(withCpus.account().charges());
    charges.add(
        new BudgetAccount.Charge(
            "gpus", NOW, Optional.empty(), false, Map.of("gpu", BigDecimal.ONE)));
    return new BudgetAccount.OfBudget(
        new BudgetSpec(
            "first",
            withCpus.spec().scope(),
            List.of(
                new Limit("cpu", Set.of(), BigDecimal.valueOf(Long.MAX_VALUE)),
                new Limit("gpu", Set.of(), BigDecimal.ZERO)),
            withCpus.spec().period(),
            BigDecimal.ZERO,
            true,
            true),
        new BudgetAccount(
            withCpus.account().start(),
            withCpus.account().end(),
            Map.of(),
            Map.of(),
            List.of(),
            charges),
        false);
  }

  @Test
  void onlyWhoUsesWhatIsSpentIsDrained() throws Exception {
    Map<String, Set<String>> drained = new ConcurrentHashMap<>();
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts =
            accounts(client, List.of(withoutGpus()), (uids, why) -> drained.put(why, uids))) {
      api.play(
          request -> {
            PlayedApi.Answer answer = answer(request, "first", new AtomicInteger());
            return new PlayedApi.Answer(
                answer.code(),
                answer
                    .body()
                    .replace(
                        "[{\"resource\": \"cpu\", \"hours\": 1}]",
                        "[{\"resource\": \"cpu\", \"hours\": 9}, {\"resource\": \"gpu\","
                            + " \"hours\": 0}], \"action\": \"HoldAndDrain\""));
          });
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(named(accounts, "cpus")).isTrue();
      await().until(() -> !drained.isEmpty());
      assertThat(drained)
          .containsOnly(entry("Budget first is spent: nothing is left of gpu", Set.of("gpus")));
    }
  }

  @Test
  void aBudgetThatOnlyWarnsHoldsNobodyUp() throws Exception {
    AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts = accounts(client, List.of(account("first", "a", false)))) {
      api.play(request -> answer(request, "first", left));
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(named(accounts, "a")).isTrue();
    }
  }

  @Test
  void anAccountThatIsRefusedRestsUnlessAnAdmissionNeedsIt() throws Exception {
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts = accounts(client, List.of(account("first", "a", true)))) {
      api.play(
          request ->
              request.method().equals("PATCH")
                  ? new PlayedApi.Answer(403, "{\"kind\": \"Status\", \"reason\": \"Forbidden\"}")
                  : answer(request, "none", new AtomicInteger()));
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      for (int i = 0; i < 3; i++) {
        assertThat(named(accounts, "any")).isTrue();
      }
      assertThat(api.asked("PATCH", "first/status")).hasSize(1);
      assertThat(named(accounts, "a")).isFalse();
      assertThat(api.asked("PATCH", "first/status")).hasSize(6);
    }
  }

  /** Somebody changed a label meanwhile, the API server was away, and the role isn't there yet. */
  @Test
  void whatIsWrongIsToldUntilItIsWritten() throws Exception {
    AtomicInteger writes = new AtomicInteger();
    int[] codes = {409, 503, 403, 200};
    AtomicReference<Instant> clock = new AtomicReference<>(NOW);
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        BudgetAccounts accounts =
            accounts(
                client, List::of, (uids, why) -> {}, (object, reason, note) -> {}, clock::get)) {
      api.play(
          request -> {
            PlayedApi.Answer answer = answer(request, "none", new AtomicInteger());
            return request.path().endsWith("first/status")
                ? new PlayedApi.Answer(
                    codes[Math.min(writes.getAndIncrement(), codes.length - 1)], answer.body())
                : new PlayedApi.Answer(
                    answer.code(), answer.body().replace("clusterQueue", "someQueue"));
          });
      accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      for (int i = 0; i < codes.length + 2; i++) {
        assertThat(named(accounts, "any")).isTrue();
      }
      assertThat(writes).as("after a refusal").hasValue(codes.length - 1);
      clock.set(NOW.plusSeconds(5));
      for (int i = 0; i < 3; i++) {
        assertThat(named(accounts, "any")).isTrue();
      }
      assertThat(writes).hasValue(codes.length);
      assertThat(api.asked("PATCH", "first/status").getLast().body())
          .contains("\"type\":\"Active\",\"status\":\"False\"");
    }
  }

  /** A window of a week, all of which is spent, and whose last part begins with the hour. */
  private static BudgetAccount.OfBudget spentWindow(int hour) {
    BudgetAccount.OfBudget monthly = account("first", "a", true);
    Instant start = NOW.plusSeconds(3_600L * hour);
    return new BudgetAccount.OfBudget(
        new BudgetSpec(
            "first",
            monthly.spec().scope(),
            monthly.spec().limits(),
            new Period(Unit.MONTHLY, "UTC", Optional.of(Duration.ofHours(96))),
            BigDecimal.ZERO,
            true,
            true),
        new BudgetAccount(
            start,
            start.plusSeconds(3_600),
            Map.of("cpu", BigDecimal.valueOf(20)),
            Map.of(),
            List.of(),
            List.of()),
        false);
  }

  /** Its last part changes each hour here, and another process takes over. */
  @Test
  void whatIsSpentIsToldOnceInAWindow() throws Exception {
    AtomicReference<BudgetAccount.OfBudget> budget = new AtomicReference<>(spentWindow(0));
    AtomicReference<String> status = new AtomicReference<>("{}");
    List<String> told = new CopyOnWriteArrayList<>();
    for (int process = 0; process < 2; process++) {
      try (PlayedApi api = new PlayedApi();
          KubernetesClient client = api.client();
          BudgetAccounts accounts =
              accounts(
                  client,
                  () -> List.of(budget.get()),
                  (uids, why) -> {},
                  (object, reason, note) -> told.add(reason),
                  () -> NOW)) {
        api.play(
            request -> {
              if (request.method().equals("PATCH")) {
                status.set(json(request.body()).path("status").toString());
              }
              PlayedApi.Answer answer = answer(request, "none", new AtomicInteger());
              return new PlayedApi.Answer(
                  answer.code(),
                  answer
                      .body()
                      .replace("\"hours\": 1}]", "\"hours\": 1}], \"notify\": [\"0.8\"]")
                      .replace("\"spec\":", "\"status\": " + status.get() + ", \"spec\":"));
            });
        accounts.start().get(LIMIT_SECONDS, TimeUnit.SECONDS);
        for (int hour = 0; hour < 3; hour++) {
          budget.set(spentWindow(hour));
          for (int i = 0; i < 3; i++) {
            assertThat(named(accounts, "any")).isTrue();
          }
        }
      }
    }
    assertThat(told).containsExactly("BudgetNearlySpent", "BudgetExhausted");
  }

  private static JsonNode json(String body) {
    try {
      return JsonMappers.JSON.readTree(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
