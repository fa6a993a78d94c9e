package dev.sluice.queues.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetAccount.Charge;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the status of a Budget says, and reads back (docs/budgets.md#where-it-is-kept). */
public final class BudgetStatus {

  private static final int MOST_CHARACTERS = 161;
  private static final int MOST_ITEMS = 10_000;
  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

  /**
   * Where a limit stands at a time.
   *
   * @param limit the limit
   * @param allowed how much may be spent, with what was carried over
   * @param spent what was spent
   * @param reserved what is reserved for runs that go on
   * @param rate what is spent in a millisecond
   */
  public record LimitBalance(
      Limit limit, BigDecimal allowed, BigDecimal spent, BigDecimal reserved, BigDecimal rate) {

    /** What is left to promise; at least 0. */
    public BigDecimal remaining() {
      return allowed.subtract(spent).subtract(reserved).max(BigDecimal.ZERO);
    }

    /** Whether nothing is left to promise. */
    public boolean isExhausted() {
      return spent.add(reserved).compareTo(allowed) >= 0;
    }

    /** Whether everything is spent. */
    public boolean isSpent() {
      return spent.compareTo(allowed) >= 0;
    }

    /** What is spent of the limit, as a part of it; 1 where nothing is allowed. */
    public BigDecimal fraction() {
      return allowed.signum() <= 0 ? BigDecimal.ONE : spent.divide(allowed, 4, RoundingMode.DOWN);
    }
  }

  private BudgetStatus() {}

  /** Where the limits of a budget stand. */
  public static List<LimitBalance> balances(BudgetAccount.OfBudget budget, Instant now) {
    List<LimitBalance> balances = new ArrayList<>();
    BudgetAccount account = budget.account();
    Instant window = budget.spec().period().countsFrom(account.start(), account.end());
    for (Limit limit : budget.spec().limits()) {
      String key = limit.key();
      BigDecimal spent = account.spent().getOrDefault(key, BigDecimal.ZERO);
      for (Map<String, BigDecimal> part : account.parts()) {
        spent = spent.add(part.getOrDefault(key, BigDecimal.ZERO));
      }
      BigDecimal reserved = BigDecimal.ZERO;
      BigDecimal rate = BigDecimal.ZERO;
      for (Charge charge : account.charges()) {
        BigDecimal each = charge.rates().getOrDefault(key, BigDecimal.ZERO);
        Instant from = charge.since().isAfter(now) ? charge.since() : now;
        rate = rate.add(each);
        Instant since = charge.since().isBefore(window) ? window : charge.since();
        spent = spent.add(each.multiply(millis(since, now)));
        reserved =
            reserved.add(
                each.multiply(
                    charge.until().map(end -> millis(from, end)).orElse(BigDecimal.ZERO)));
      }
      balances.add(
          new LimitBalance(
              limit,
              limit.amount().add(account.carried().getOrDefault(key, BigDecimal.ZERO)),
              spent,
              reserved,
              rate));
    }
    return balances;
  }

  private static BigDecimal millis(Instant from, Instant to) {
    return BigDecimal.valueOf(Math.max(0, to.toEpochMilli() - from.toEpochMilli()));
  }

  /**
   * The status of a budget.
   *
   * @param before the status that it has
   * @param faults what of its spec isn't understood; empty if everything is
   * @param writer who writes it
   * @param told when each event was left, by what it says
   */
  public static ObjectNode of(
      BudgetAccount.OfBudget budget,
      JsonNode before,
      String faults,
      String writer,
      Map<String, Instant> told,
      Instant now) {
    ObjectNode status = JsonMappers.JSON.createObjectNode();
    BudgetAccount account = budget.account();
    Period period = budget.spec().period();
    status
        .putObject("period")
        .put("start", period.countsFrom(account.start(), account.end()).toString())
        .put("end", period.rolling().isPresent() ? null : account.end().toString());
    ArrayNode limits = status.putArray("limits");
    List<LimitBalance> balances = balances(budget, now);
    BigDecimal most = BigDecimal.ZERO;
    Optional<Instant> exhaustion = Optional.empty();
    for (LimitBalance each : balances) {
      String resource = each.limit().resource();
      ObjectNode item = limits.addObject();
      item.put("resource", each.limit().isCost() ? "cost" : resource);
      if (!each.limit().flavors().isEmpty()) {
        ArrayNode flavors = item.putArray("flavors");
        each.limit().flavors().stream().sorted().forEach(flavors::add);
      }
      item.put("limit", Hours.text(resource, each.allowed()));
      item.put("spent", Hours.text(resource, each.spent()));
      item.put("reserved", Hours.text(resource, each.reserved()));
      item.put("remaining", Hours.text(resource, each.remaining()));
      most = most.max(each.fraction());
      exhaustion = earlier(exhaustion, exhaustion(each, budget, now));
    }
    status.put("spent", most.movePointRight(2).setScale(0, RoundingMode.DOWN) + "%");
    if (exhaustion.isPresent()) {
      status.put("expectedExhaustion", exhaustion.get().toString());
    } else {
      status.putNull("expectedExhaustion");
    }
    boolean exhausted = balances.stream().anyMatch(LimitBalance::isExhausted);
    ArrayNode conditions = status.putArray("conditions");
    conditions.add(active(before, faults, now));
    conditions.add(
        condition(
            before,
            "Exhausted",
            exhausted,
            exhausted ? "LimitReached" : "WithinLimits",
            exhausted ? "Nothing is left of a limit" : "Something is left of each limit",
            now));
    ObjectNode node = account(account, writer, now);
    ArrayNode events = node.putArray("told");
    told.forEach((event, at) -> events.addObject().put("event", event).put("at", at.toString()));
    status.set("account", node);
    return status;
  }

  /** The status of a budget whose spec was never understood. */
  public static ObjectNode inactive(JsonNode before, String faults, Instant now) {
    ObjectNode status = JsonMappers.JSON.createObjectNode();
    status.putArray("conditions").add(active(before, faults, now));
    return status;
  }

  private static ObjectNode active(JsonNode before, String faults, Instant now) {
    return faults.isEmpty()
        ? condition(before, "Active", true, "Counting", "The budget counts", now)
        : condition(before, "Active", false, "Invalid", faults, now);
  }

  private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
    return one.isEmpty() || (other.isPresent() && other.get().isBefore(one.get())) ? other : one;
  }

  /** When a limit is spent at the present rate, while what was used leaves a rolling window. */
  private static Optional<Instant> exhaustion(
      LimitBalance balance, BudgetAccount.OfBudget budget, Instant now) {
    BigDecimal left = balance.allowed().subtract(balance.spent());
    if (left.signum() <= 0 || balance.rate().signum() <= 0) {
      return Optional.empty();
    }
    BudgetAccount account = budget.account();
    Duration part = Duration.between(account.start(), account.end());
    int parts = budget.spec().period().rolling().isPresent() ? Period.PARTS : 0;
    Instant from = now;
    Instant end = account.end();
    for (int i = 0; i <= parts; i++) {
      BigDecimal millis = left.divide(balance.rate(), 0, RoundingMode.CEILING);
      if (millis.compareTo(millis(from, end)) < 0) {
        return Optional.of(
            Instant.ofEpochSecond(from.plusMillis(millis.longValue()).getEpochSecond()));
      }
      left = left.subtract(balance.rate().multiply(millis(from, end)));
      int leaving = account.parts().size() + i - Period.PARTS;
      if (leaving >= 0 && leaving < account.parts().size()) {
        left =
            left.add(
                account.parts().get(leaving).getOrDefault(balance.limit().key(), BigDecimal.ZERO));
      }
      from = end;
      end = end.plus(part);
    }
    return Optional.empty();
  }

  /** A condition, with the time at which it got its status, as far as the status before knows. */
  static ObjectNode condition(
      JsonNode before, String type, boolean value, String reason, String message, Instant now) {
    String status = value ? "True" : "False";
    String since = now.toString();
    for (JsonNode each : JsonFields.list(before, "conditions")) {
      if (JsonFields.text(each, "type").equals(type)
          && JsonFields.text(each, "status").equals(status)) {
        since = JsonFields.text(each, "lastTransitionTime");
      }
    }
    return JsonMappers.JSON
        .createObjectNode()
        .put("type", type)
        .put("status", status)
        .put("reason", reason)
        .put("message", message)
        .put("lastTransitionTime", since);
  }

  /**
   * The account as far as the status has room for it. Workloads that got quota before the budget
   * came may be more than it can name: what those use that it doesn't name is settled, and whoever
   * reads the account counts them from then on. Those that are about to start are named first.
   */
  private static ObjectNode account(BudgetAccount account, String writer, Instant now) {
    Map<String, BigDecimal> spent = new HashMap<>(account.spent());
    List<Charge> named = new ArrayList<>();
    int bytes = 0;
    for (Charge charge :
        account.charges().stream().sorted(Comparator.comparing(Charge::written)).toList()) {
      bytes += Charge.bytes(charge.rates());
      if (bytes <= BudgetAccount.MOST_BYTES) {
        named.add(charge);
      } else {
        charge
            .rates()
            .forEach(
                (key, rate) ->
                    spent.merge(key, rate.multiply(millis(charge.since(), now)), BigDecimal::add));
      }
    }
    ObjectNode node = JsonMappers.JSON.createObjectNode();
    node.put("writer", writer);
    node.put("start", account.start().toString());
    node.put("end", account.end().toString());
    node.set("spent", amounts(spent));
    node.set("carried", amounts(account.carried()));
    ArrayNode parts = node.putArray("parts");
    account.parts().forEach(part -> parts.add(amounts(part)));
    ArrayNode charges = node.putArray("charges");
    for (Charge charge : named) {
      ObjectNode item = charges.addObject();
      item.put("uid", charge.uid());
      item.put("since", charge.since().toString());
      charge.until().ifPresent(until -> item.put("until", until.toString()));
      item.put("written", charge.written());
      item.set("rates", amounts(charge.rates()));
    }
    return node;
  }

  private static ArrayNode amounts(Map<String, BigDecimal> amounts) {
    ArrayNode items = JsonMappers.JSON.createArrayNode();
    amounts.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            each ->
                items
                    .addObject()
                    .put("limit", each.getKey())
                    .put("amount", each.getValue().toPlainString()));
    return items;
  }

  /** When each event was left, as far as the status tells and not later than now. */
  public static Map<String, Instant> told(JsonNode status, Instant now) {
    Map<String, Instant> told = new HashMap<>();
    for (JsonNode each : JsonFields.list(JsonFields.at(status, "account"), "told")) {
      time(each.path("at"))
          .ifPresent(at -> told.put(JsonFields.text(each, "event"), at.isAfter(now) ? now : at));
    }
    return told;
  }

  /** Who wrote the account in a status; empty if there is none. */
  public static String writer(JsonNode status) {
    return JsonFields.text(status, "account", "writer");
  }

  /** The account in a status; empty if there is none that can be read. */
  public static Optional<BudgetAccount> read(JsonNode status) {
    JsonNode node = JsonFields.at(status, "account");
    Optional<Instant> start = time(node.path("start"));
    Optional<Instant> end = time(node.path("end"));
    Map<String, BigDecimal> spent = amounts(node.path("spent"));
    Map<String, BigDecimal> carried = amounts(node.path("carried"));
    if (start.isEmpty()
        || end.isEmpty()
        || !start.get().isBefore(end.get())
        || spent == null
        || carried == null) {
      return Optional.empty();
    }
    List<Map<String, BigDecimal>> parts = new ArrayList<>();
    List<Charge> charges = new ArrayList<>();
    for (JsonNode each : JsonFields.list(node, "parts")) {
      Map<String, BigDecimal> part = amounts(each);
      if (part == null || parts.size() >= MOST_ITEMS) {
        return Optional.empty();
      }
      parts.add(part);
    }
    for (JsonNode each : JsonFields.list(node, "charges")) {
      Optional<Charge> charge = charge(each);
      if (charge.isEmpty() || charges.size() >= MOST_ITEMS) {
        return Optional.empty();
      }
      charges.add(charge.get());
    }
    return Optional.of(new BudgetAccount(start.get(), end.get(), spent, carried, parts, charges));
  }

  private static Optional<Charge> charge(JsonNode item) {
    Map<String, BigDecimal> rates = amounts(item.path("rates"));
    String uid = JsonFields.text(item, "uid");
    return uid.isEmpty() || rates == null
        ? Optional.empty()
        : time(item.path("since"))
            .map(
                since ->
                    new Charge(
                        uid,
                        since,
                        time(item.path("until")),
                        item.path("written").asBoolean(),
                        rates));
  }

  /** A time of an account; empty for those with which nobody can calculate. */
  private static Optional<Instant> time(JsonNode field) {
    return JsonFields.time(field)
        .filter(time -> !time.isBefore(Instant.EPOCH) && !time.isAfter(LATEST));
  }

  /** Amounts by limit; null if something else is there. */
  private static @Nullable Map<String, BigDecimal> amounts(JsonNode items) {
    Map<String, BigDecimal> amounts = new HashMap<>();
    for (JsonNode each : items) {
      String text = JsonFields.text(each, "amount");
      if (!text.matches("\\d{1,60}(\\.\\d{1,100})?") || text.length() > MOST_CHARACTERS) {
        return null;
      }
      BigDecimal amount = new BigDecimal(text);
      amounts.put(
          JsonFields.text(each, "limit"),
          amount.signum() == 0 ? BigDecimal.ZERO : amount.stripTrailingZeros());
    }
    return amounts;
  }
}
