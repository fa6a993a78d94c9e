package dev.sluice.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.LedgerSettings;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.core.model.Explanation;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLEncoder;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What is planned with money and time: budgets and whom they hold, the calendar of reservations,
 * maintenance windows and quota by time of day, and what was used and what that cost. All but the
 * held Workloads and the factors of quota is read with the token of the user, so that the API
 * server decides what he may read; a part that can't be read says why.
 */
final class PlansDocument {

  /** The most objects of a kind that are read. */
  private static final int MOST = 500;

  /** The most Workloads of a budget that are named. */
  private static final int MOST_HELD = 50;

  private static final int LONGEST = 512;
  private static final int USED_DAYS = 30;

  /** The most labels of the ledger that can be chosen. */
  private static final int MOST_LABELS = 20;

  private static final String LABEL = "label:";
  private static final String HELD = Explanation.BUDGET_EXHAUSTED + "Budget ";
  private static final String ERROR = "error";
  private static final String ITEMS = "items";
  private static final String NAME = "name";
  private static final String METADATA = "metadata";
  private static final String STATUS = "status";
  private static final String SPEC = "spec";

  /** Groups of the ledger that the page lets its reader choose. */
  private static final List<String> GROUPS = List.of("queue", "namespace", "user", "owner");

  private final BiFunction<String, String, CompletableFuture<ApiOutcome>> reads;
  private final WorkloadLister workloads;
  private final Supplier<SortedMap<String, List<Interval>>> factors;
  private final InstantSource clock;

  /**
   * Creates a reader.
   *
   * @param reads reads what is at a path, with a token
   * @param sources the Workloads, among which those that are held are looked for, and the factors
   *     of quota
   */
  PlansDocument(
      BiFunction<String, String, CompletableFuture<ApiOutcome>> reads, DashboardSources sources) {
    this.reads = reads;
    this.workloads = sources.workloads();
    this.factors = sources.expected()::factors;
    this.clock = sources.clock();
  }

  /**
   * Budgets, where they stand, and whom they hold; blocks until the API server has answered.
   *
   * @param namespaces whose Workloads are named; others are counted
   */
  ObjectNode budgets(String token, Predicate<String> namespaces) {
    ObjectNode document = begun();
    List<JsonNode> budgets = list(document, "budgets", token);
    Map<String, List<CachedWorkload>> held = budgets.isEmpty() ? Map.of() : held();
    ArrayNode items = document.putArray(ITEMS);
    for (JsonNode budget : budgets) {
      ObjectNode item = items.addObject();
      String name = JsonFields.text(budget, METADATA, NAME);
      JsonNode spec = budget.path(SPEC);
      item.put(NAME, name)
          .put("scope", scope(spec.path("scope")))
          .put("period", shown(JsonFields.text(spec, "period")))
          .put("rolling", shown(JsonFields.text(spec, "rolling")))
          .put("action", shown(JsonFields.text(spec, "action")))
          .put("start", shown(JsonFields.text(budget, STATUS, "period", "start")))
          .put("end", shown(JsonFields.text(budget, STATUS, "period", "end")))
          .put("exhaustion", shown(JsonFields.text(budget, STATUS, "expectedExhaustion")))
          .put("exhausted", condition(budget, "Exhausted", "True").isObject())
          .put("fault", shown(JsonFields.text(condition(budget, "Active", "False"), "message")));
      limits(item.putArray("limits"), JsonFields.list(budget, STATUS, "limits"));
      held(item, held.getOrDefault(name, List.of()), namespaces);
    }
    return document;
  }

  private static String scope(JsonNode scope) {
    JsonNode selector = scope.path("namespaceSelector");
    if (selector.isObject()) {
      return shown(
          selector.isEmpty()
              ? "all namespaces"
              : "namespaces with " + selector.toString().replaceAll("[{}\"]", ""));
    }
    JsonNode local = scope.path("localQueue");
    if (local.isObject()) {
      return shown(
          "LocalQueue " + JsonFields.text(local, "namespace") + "/" + JsonFields.text(local, NAME));
    }
    return shown(
        scope.has("cohort")
            ? "cohort " + JsonFields.text(scope, "cohort")
            : "ClusterQueue " + JsonFields.text(scope, "clusterQueue"));
  }

  private static void limits(ArrayNode items, List<JsonNode> limits) {
    for (JsonNode limit : limits) {
      if (JsonFields.text(limit, "limit").isEmpty()) {
        continue;
      }
      ObjectNode item = items.addObject();
      item.put("resource", shown(JsonFields.text(limit, "resource")));
      ArrayNode flavors = item.putArray("flavors");
      JsonFields.texts(limit, "flavors").forEach(each -> flavors.add(shown(each)));
      for (String field : List.of("limit", "spent", "reserved", "remaining")) {
        item.put(field, shown(JsonFields.text(limit, field)));
      }
      BigDecimal whole = number(limit, "limit");
      item.put("spentPart", part(number(limit, "spent"), whole));
      item.put("reservedPart", part(number(limit, "reserved"), whole));
    }
  }

  private static BigDecimal number(JsonNode limit, String field) {
    String text = JsonFields.text(limit, field);
    return text.matches("\\d{1,60}(\\.\\d{1,10})?") ? new BigDecimal(text) : BigDecimal.ZERO;
  }

  /** A part of the whole; of nothing everything is spent. */
  private static double part(BigDecimal amount, BigDecimal whole) {
    return whole.signum() == 0 ? 1 : amount.divide(whole, 4, RoundingMode.HALF_UP).doubleValue();
  }

  /** Workloads that are held, by the name of the budget that their message begins with. */
  private Map<String, List<CachedWorkload>> held() {
    return StreamSupport.stream(workloads.all().spliterator(), false)
        .filter(workload -> message(workload).startsWith(HELD))
        .collect(
            Collectors.groupingBy(
                workload -> message(workload).substring(HELD.length()).split(" ", 2)[0],
                HashMap::new,
                Collectors.toList()));
  }

  private static String message(CachedWorkload workload) {
    return workload
        .status()
        .condition("QuotaReserved")
        .filter(condition -> condition.status().equals("False"))
        .map(CachedWorkload.Condition::message)
        .orElse("");
  }

  private static void held(
      ObjectNode item, List<CachedWorkload> held, Predicate<String> namespaces) {
    item.put("holds", held.size());
    ArrayNode items = item.putArray("held");
    held.stream()
        .filter(workload -> namespaces.test(workload.id().namespace()))
        .sorted(Comparator.comparing(CachedWorkload::createdAt))
        .limit(MOST_HELD)
        .forEach(
            workload -> {
              ObjectNode row = items.addObject();
              row.put("namespace", workload.id().namespace())
                  .put(NAME, workload.id().name())
                  .put("message", shown(message(workload)));
              workload
                  .owner()
                  .ifPresent(
                      owner ->
                          row.putObject("owner").put("kind", owner.kind()).put(NAME, owner.name()));
            });
  }

  /**
   * When capacity is reserved, flavors or nodes are under maintenance, and quota is at another
   * factor than 1; the next first.
   *
   * @param queues whether ClusterQueues are named
   */
  ObjectNode calendar(String token, boolean queues) {
    ObjectNode document = begun();
    List<ObjectNode> items = new ArrayList<>();
    for (JsonNode each : list(document, "capacityreservations", token)) {
      String capacity =
          JsonFields.list(each, SPEC, "capacity").stream()
              .map(
                  item ->
                      "%s %s of %s"
                          .formatted(
                              JsonFields.at(item, "amount").asText(),
                              JsonFields.text(item, "resource"),
                              JsonFields.text(item, "flavor")))
              .collect(Collectors.joining(", "));
      items.add(
          planned(each, "CapacityReservation", capacity)
              .put("queue", shown(JsonFields.text(each, SPEC, "clusterQueue")))
              .put("users", users(each.path(SPEC).path("users"))));
    }
    for (JsonNode each : list(document, "maintenancewindows", token)) {
      items.add(
          planned(
              each,
              "MaintenanceWindow",
              Stream.concat(
                      JsonFields.texts(each.path(SPEC), "flavors").stream(),
                      each.path(SPEC).path("nodeLabels").properties().stream()
                          .map(
                              label ->
                                  "nodes %s=%s"
                                      .formatted(label.getKey(), label.getValue().asText())))
                  .collect(Collectors.joining(", "))));
    }
    if (queues) {
      schedules(items);
    }
    items.sort(
        Comparator.comparing((ObjectNode item) -> first(item).isEmpty())
            .thenComparing(PlansDocument::first)
            .thenComparing(item -> item.path(NAME).asText()));
    document.putArray(ITEMS).addAll(items);
    return document;
  }

  /** An item for each factor of a queue, with the times at which it holds. */
  private void schedules(List<ObjectNode> items) {
    factors
        .get()
        .forEach(
            (queue, intervals) ->
                intervals.stream()
                    .collect(
                        Collectors.groupingBy(
                            Interval::factor, LinkedHashMap::new, Collectors.toList()))
                    .forEach((factor, times) -> items.add(scheduled(queue, factor, times))));
  }

  private static ObjectNode scheduled(String queue, BigDecimal factor, List<Interval> times) {
    ObjectNode item =
        JsonMappers.JSON
            .createObjectNode()
            .put("kind", "QuotaSchedule")
            .put(NAME, queue)
            .put("queue", queue)
            .put("keeps", "quota at factor " + factor.toPlainString());
    ArrayNode occurrences = item.putArray("occurrences");
    times.forEach(
        each ->
            occurrences
                .addObject()
                .put("start", each.start().toString())
                .put("end", each.end().toString()));
    return item;
  }

  private static String first(ObjectNode item) {
    return item.at("/occurrences/0/start").asText("");
  }

  private static ObjectNode planned(JsonNode object, String kind, String keeps) {
    ObjectNode item =
        JsonMappers.JSON
            .createObjectNode()
            .put("kind", kind)
            .put(NAME, JsonFields.text(object, METADATA, NAME))
            .put("keeps", shown(keeps))
            .put("state", shown(JsonFields.text(object, STATUS, "state")))
            .put("lend", object.at("/spec/lend").asBoolean())
            .put("fault", shown(JsonFields.text(condition(object, "Active", "False"), "message")));
    ArrayNode occurrences = item.putArray("occurrences");
    JsonFields.list(object, STATUS, "occurrences")
        .forEach(
            each ->
                occurrences
                    .addObject()
                    .put("start", shown(JsonFields.text(each, "start")))
                    .put("end", shown(JsonFields.text(each, "end"))));
    return item;
  }

  private static String users(JsonNode users) {
    List<String> names = new ArrayList<>();
    JsonFields.list(users, "localQueues")
        .forEach(
            each ->
                names.add(JsonFields.text(each, "namespace") + "/" + JsonFields.text(each, NAME)));
    JsonFields.texts(users, "priorityClasses").forEach(each -> names.add("class " + each));
    return shown(String.join(", ", names));
  }

  /**
   * What was used in the last 30 days and today, day by day, and what that cost, as the ledger
   * tells the user.
   *
   * @param by a group; by queue if it is none that can be chosen
   */
  ObjectNode usage(String token, String by) {
    ObjectNode document = begun();
    boolean label =
        by.startsWith(LABEL) && KubernetesNames.isLabelKey(by.substring(LABEL.length()));
    String group = label || GROUPS.contains(by) ? by : GROUPS.getFirst();
    Instant begin = clock.instant().truncatedTo(ChronoUnit.DAYS).minus(USED_DAYS, ChronoUnit.DAYS);
    document.put("by", group);
    ApiOutcome outcome =
        reads
            .apply(
                "/apis/%s/%s/%s?by=%s,day&since=%s"
                    .formatted(
                        VisibilityApi.GROUP,
                        VisibilityApi.VERSIONS.getFirst(),
                        VisibilityApi.USAGE,
                        URLEncoder.encode(group, UTF_8),
                        URLEncoder.encode(begin.toString(), UTF_8)),
                token)
            .join();
    if (outcome instanceof ApiOutcome.Gone) {
      return document.put("absent", true);
    }
    ClusterDocument.read(document, outcome, "list usage")
        .ifPresent(
            usage -> {
              document
                  .put("currency", shown(JsonFields.text(usage, "currency")))
                  .put("incomplete", usage.path("incomplete").asBoolean());
              ArrayNode groups = document.putArray("groups");
              GROUPS.forEach(groups::add);
              JsonFields.texts(usage, "labels").stream()
                  .limit(MOST_LABELS)
                  .filter(key -> !key.equals(LedgerSettings.USER_LABEL))
                  .forEach(key -> groups.add(LABEL + shown(key)));
              UsageByDay byDay = new UsageByDay(begin, USED_DAYS + 1);
              usage.path("rows").valueStream().forEach(row -> byDay.add(row, group));
              byDay.write(document, MOST);
            });
    return document;
  }

  private List<JsonNode> list(ObjectNode document, String plural, String token) {
    ApiOutcome outcome =
        reads
            .apply(
                "/apis/%s/%s/%s?limit=%d"
                    .formatted(ApiVersions.SLUICE_GROUP, ApiVersions.SLUICE_VERSION, plural, MOST),
                token)
            .join();
    ObjectNode part = JsonMappers.JSON.createObjectNode();
    Optional<JsonNode> found = ClusterDocument.read(part, outcome, "list " + plural);
    String why = JsonFields.text(part, ERROR);
    if (!why.isEmpty()) {
      String before = JsonFields.text(document, ERROR);
      document.put(ERROR, before.isEmpty() ? why : before + "; " + why);
    }
    return found.map(list -> JsonFields.list(list, ITEMS)).orElse(List.of());
  }

  private static JsonNode condition(JsonNode object, String type, String status) {
    return JsonFields.list(object, STATUS, "conditions").stream()
        .filter(each -> JsonFields.text(each, "type").equals(type))
        .filter(each -> JsonFields.text(each, STATUS).equals(status))
        .findFirst()
        .orElse(object.path("none"));
  }

  static String shown(String text) {
    return TextLimits.shown(text, LONGEST);
  }

  private ObjectNode begun() {
    return JsonMappers.JSON.createObjectNode().put("at", clock.instant().toString());
  }

  /**
   * What the ledger tells of some days, as the page shows it: sums of all days in a table, and days
   * beside each other for the groups that used most. Not thread-safe.
   */
  private static final class UsageByDay {

    /** The most groups of a resource that are plotted. */
    private static final int MOST_PLOTS = 12;

    private static final String COST = "cost";
    private static final String RESERVED = "reserved";
    private static final String RESOURCE = "resource";
    private static final List<String> AMOUNTS =
        List.of(RESERVED, "run", "waited", "lost", COST, "saved");

    private final Instant begin;
    private final int days;
    private final Map<Line, BigDecimal[]> sums = new LinkedHashMap<>();

    /** By resource, and by group. */
    private final Map<String, Map<String, double[]>> plots = new TreeMap<>();

    private record Line(String group, String flavor, String resource) {}

    /** Days in UTC from the begin of one on. */
    UsageByDay(Instant begin, int days) {
      this.begin = begin;
      this.days = days;
    }

    /** Adds a row of the ledger's document, with the name of its group. */
    void add(JsonNode row, String group) {
      Line line =
          new Line(
              PlansDocument.shown(JsonFields.text(row.path("by"), group)),
              PlansDocument.shown(JsonFields.text(row, "flavor")),
              PlansDocument.shown(JsonFields.text(row, RESOURCE)));
      BigDecimal[] sum = sums.computeIfAbsent(line, any -> zeros());
      for (int i = 0; i < sum.length; i++) {
        sum[i] = sum[i].add(number(row, AMOUNTS.get(i)));
      }
      OptionalInt day = day(JsonFields.text(row, "since"));
      if (day.isPresent()) {
        plot(line.resource(), line.group(), day.getAsInt(), number(row, RESERVED));
        plot(COST, line.group(), day.getAsInt(), number(row, COST));
      }
    }

    private static BigDecimal[] zeros() {
      BigDecimal[] zeros = new BigDecimal[AMOUNTS.size()];
      Arrays.fill(zeros, BigDecimal.ZERO);
      return zeros;
    }

    private void plot(String what, String group, int day, BigDecimal value) {
      if (value.signum() != 0) {
        plots.computeIfAbsent(what, any -> new TreeMap<>())
                .computeIfAbsent(group, any -> new double[days])[day] +=
            value.doubleValue();
      }
    }

    private OptionalInt day(String since) {
      try {
        long day = Math.floorDiv(Duration.between(begin, Instant.parse(since)).toSeconds(), 86_400);
        return day < 0 || day >= days ? OptionalInt.empty() : OptionalInt.of((int) day);
      } catch (DateTimeException | ArithmeticException e) {
        return OptionalInt.empty();
      }
    }

    private static BigDecimal number(JsonNode row, String field) {
      try {
        return new BigDecimal(PlansDocument.shown(JsonFields.text(row, field)));
      } catch (NumberFormatException e) {
        return BigDecimal.ZERO;
      }
    }

    /** Writes the rows in the order of groups, and the plots, those that used most first. */
    void write(ObjectNode document, int most) {
      ArrayNode rows = document.putArray("rows");
      sums.entrySet().stream()
          .sorted(
              Comparator.comparing((Entry<Line, BigDecimal[]> each) -> each.getKey().group())
                  .thenComparing(each -> each.getKey().flavor())
                  .thenComparing(each -> each.getKey().resource()))
          .limit(most)
          .forEach(
              each -> {
                ObjectNode item =
                    rows.addObject()
                        .put("group", each.getKey().group())
                        .put("flavor", each.getKey().flavor())
                        .put(RESOURCE, each.getKey().resource());
                for (int i = 0; i < AMOUNTS.size(); i++) {
                  item.put(AMOUNTS.get(i), each.getValue()[i].toPlainString());
                }
              });
      document.put("more", Math.max(0, sums.size() - most));
      document.put("begin", begin.toString()).put("days", days);
      ArrayNode all = document.putArray("plots");
      plots.forEach(
          (what, groups) -> {
            ObjectNode plot = all.addObject().put("of", what);
            plot.put("others", Math.max(0, groups.size() - MOST_PLOTS));
            ArrayNode drawn = plot.putArray("groups");
            groups.entrySet().stream()
                .sorted(Comparator.comparing(each -> -Arrays.stream(each.getValue()).sum()))
                .limit(MOST_PLOTS)
                .forEach(
                    each -> {
                      ArrayNode values =
                          drawn.addObject().put("group", each.getKey()).putArray("values");
                      Arrays.stream(each.getValue()).forEach(values::add);
                    });
          });
    }
  }
}
