package dev.sluice.api.sluice;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.sluice.ReservationReader.ReservationTimes.WeeklyTime;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the spec of a CapacityReservation or of a MaintenanceWindow, whoever wrote it, and says
 * what is wrong with it (docs/reservations.md). Never throws; the time is linear in the length of
 * the spec.
 */
public final class ReservationReader {

  /** Of no Workload, so that a class that doesn't exist has no users. */
  private static final long NO_PRIORITY = Long.MIN_VALUE;

  private static final int MOST_SHARES = 16;
  private static final int MOST_ITEMS = 64;
  private static final int MOST_NAMES = 253;
  private static final int MOST_LABEL = 317;
  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");
  private static final Pattern TIME = Pattern.compile("([01]\\d|2[0-3]):([0-5]\\d)|24:00");

  /** The two kinds. */
  public enum Kind {
    /** Keeps a part of a queue's quota for its users. */
    CAPACITY_RESERVATION("CapacityReservation", "capacityreservations"),
    /** Keeps flavors or nodes empty. */
    MAINTENANCE_WINDOW("MaintenanceWindow", "maintenancewindows");

    private final String apiName;
    private final String plural;

    Kind(String apiName, String plural) {
      this.apiName = apiName;
      this.plural = plural;
    }

    /** The kind as the API spells it. */
    public String apiName() {
      return apiName;
    }

    /** The name of the resource. */
    public String plural() {
      return plural;
    }
  }

  /**
   * What a spec says.
   *
   * @param scope what is kept
   * @param localQueues LocalQueues of the users; empty for any
   * @param priorityClasses names of the WorkloadPriorityClasses of the users; empty for any
   * @param lend whether others may use it meanwhile
   * @param times when it is kept
   */
  public record ReservationSpec(
      Scope scope,
      Set<LocalQueueId> localQueues,
      List<String> priorityClasses,
      boolean lend,
      ReservationTimes times) {

    public ReservationSpec {
      localQueues = Set.copyOf(localQueues);
      priorityClasses = List.copyOf(priorityClasses);
    }

    /**
     * What an object with this spec keeps from a time on; empty if nothing any more. A class that
     * doesn't exist has no users.
     *
     * @param name name of the object
     * @param priorities the value of a WorkloadPriorityClass; empty if there is none
     */
    public Optional<ReservedCapacity> kept(
        String name, Function<String, Optional<Long>> priorities, Instant now) {
      return Optional.of(
              new ReservedCapacity(name, scope, users(priorities), lend, times.from(now)))
          .filter(reserved -> !reserved.occurrences().isEmpty());
    }

    private Users users(Function<String, Optional<Long>> priorities) {
      if (!(scope instanceof Scope.OfQueue)) {
        return Users.NOBODY;
      }
      Set<Long> values = new HashSet<>();
      for (String name : priorityClasses) {
        values.add(priorities.apply(name).orElse(NO_PRIORITY));
      }
      return new Users(localQueues, values);
    }
  }

  /**
   * A spec that was read.
   *
   * @param spec what it says; empty if anything is wrong
   * @param faults what is wrong
   */
  public record Reading(Optional<ReservationSpec> spec, List<SpecFault> faults) {

    public Reading {
      faults = List.copyOf(faults);
    }
  }

  private final JsonNode spec;
  private final List<SpecFault> faults = new ArrayList<>();

  private ReservationReader(JsonNode spec) {
    this.spec = spec;
  }

  /** Reads the spec of an object of a kind. */
  public static Reading read(Kind kind, JsonNode spec) {
    return new ReservationReader(spec).read(kind);
  }

  private Reading read(Kind kind) {
    Scope scope =
        switch (kind) {
          case CAPACITY_RESERVATION -> new Scope.OfQueue(queue(), shares());
          case MAINTENANCE_WINDOW -> underMaintenance();
        };
    Set<LocalQueueId> localQueues = new HashSet<>();
    List<String> priorityClasses = List.of();
    if (kind == Kind.CAPACITY_RESERVATION) {
      localQueues.addAll(localQueues());
      priorityClasses = names("spec.users.priorityClasses", "users", "priorityClasses");
      if (faults.isEmpty() && localQueues.isEmpty() && priorityClasses.isEmpty()) {
        fault("spec.users", "", "must name localQueues or priorityClasses");
      }
    }
    Optional<ReservationTimes> times = times();
    return new Reading(
        faults.isEmpty() && times.isPresent()
            ? Optional.of(
                new ReservationSpec(
                    scope,
                    localQueues,
                    priorityClasses,
                    JsonFields.at(spec, "lend").asBoolean(false),
                    times.get()))
            : Optional.empty(),
        faults);
  }

  private void fault(String path, String value, String rule) {
    faults.add(new SpecFault(path, value, rule));
  }

  private String queue() {
    return name("spec.clusterQueue", JsonFields.at(spec, "clusterQueue"));
  }

  private String name(String path, JsonNode value) {
    if (!value.isTextual() || value.asText().isEmpty() || value.asText().length() > MOST_NAMES) {
      fault(path, value.asText(), "must be a name of at most 253 characters");
    }
    return value.asText();
  }

  private List<String> names(String path, String... fields) {
    List<JsonNode> items = items(path, JsonFields.list(spec, fields), 0, MOST_ITEMS);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      names.add(name(path + "[" + i + "]", items.get(i)));
    }
    return names;
  }

  private List<JsonNode> items(String path, List<JsonNode> items, int least, int most) {
    if (items.size() < least || items.size() > most) {
      fault(path, items.size() + " items", "must have " + least + " to " + most);
      return List.of();
    }
    return items;
  }

  private Scope underMaintenance() {
    List<String> flavors = names("spec.flavors", "flavors");
    Map<String, String> labels = nodeLabels();
    if (faults.isEmpty() && flavors.isEmpty() == labels.isEmpty()) {
      fault(
          "spec.flavors",
          flavors.size() + " items",
          "must have 1 to " + MOST_ITEMS + ", or none beside spec.nodeLabels");
    }
    return labels.isEmpty()
        ? new Scope.OfFlavors(new HashSet<>(flavors))
        : new Scope.OfNodes(labels);
  }

  private Map<String, String> nodeLabels() {
    Map<String, String> labels = new HashMap<>();
    JsonNode all = JsonFields.at(spec, "nodeLabels");
    if (all.size() > MOST_SHARES) {
      fault("spec.nodeLabels", all.size() + " labels", "must have 1 to " + MOST_SHARES);
      return labels;
    }
    for (Map.Entry<String, JsonNode> each : all.properties()) {
      if (each.getKey().length() > MOST_LABEL || !each.getValue().isTextual()) {
        fault("spec.nodeLabels", each.getKey(), "must be labels of nodes, such as rack: r7");
      }
      labels.put(each.getKey(), each.getValue().asText());
    }
    return labels;
  }

  private List<Share> shares() {
    List<Share> shares = new ArrayList<>();
    Set<List<String>> kinds = new HashSet<>();
    List<JsonNode> items =
        items("spec.capacity", JsonFields.list(spec, "capacity"), 1, MOST_SHARES);
    for (int i = 0; i < items.size(); i++) {
      String path = "spec.capacity[" + i + "]";
      String flavor = name(path + ".flavor", items.get(i).path("flavor"));
      String resource = name(path + ".resource", items.get(i).path("resource"));
      long amount = amount(path + ".amount", resource, items.get(i).path("amount"));
      if (!kinds.add(List.of(flavor, resource))) {
        fault(path, flavor + " " + resource, "must differ from others in flavor or resource");
      }
      shares.add(new Share(flavor, resource, amount));
    }
    return shares;
  }

  private long amount(String path, String resource, JsonNode value) {
    String text = value.isValueNode() ? value.asText() : "";
    if (!text.isEmpty() && text.length() <= MOST_ITEMS) {
      try {
        long amount = Quantities.amount(resource, text);
        if (amount > 0) {
          return amount;
        }
      } catch (IllegalArgumentException notAQuantity) {
        // told below
      }
    }
    fault(path, text, "must be a quantity above 0, such as 8");
    return 0;
  }

  private List<LocalQueueId> localQueues() {
    List<JsonNode> items =
        items(
            "spec.users.localQueues", JsonFields.list(spec, "users", "localQueues"), 0, MOST_ITEMS);
    List<LocalQueueId> queues = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      String path = "spec.users.localQueues[" + i + "]";
      queues.add(
          new LocalQueueId(
              name(path + ".namespace", items.get(i).path("namespace")),
              name(path + ".name", items.get(i).path("name"))));
    }
    return queues;
  }

  private Optional<ReservationTimes> times() {
    boolean once = JsonFields.isPresent(spec, "start") || JsonFields.isPresent(spec, "end");
    boolean weekly = JsonFields.isPresent(spec, "schedule");
    if (once == weekly) {
      fault(
          "spec",
          once ? "start, end, schedule" : "",
          "must have either start and end, or schedule");
      return Optional.empty();
    }
    return once ? once() : weekly();
  }

  private Optional<ReservationTimes> once() {
    Optional<Instant> start = instant("start");
    Optional<Instant> end = instant("end");
    if (start.isEmpty() || end.isEmpty()) {
      return Optional.empty();
    }
    if (!end.get().isAfter(start.get())) {
      fault("spec.end", end.get().toString(), "must be after spec.start");
      return Optional.empty();
    }
    return Optional.of(
        new ReservationTimes(
            Optional.of(new Occurrence(start.get(), end.get())), ZoneOffset.UTC, List.of()));
  }

  private Optional<Instant> instant(String field) {
    JsonNode value = JsonFields.at(spec, field);
    Optional<Instant> time =
        JsonFields.time(value)
            .filter(each -> !each.isBefore(Instant.EPOCH) && each.isBefore(LATEST));
    if (time.isEmpty()) {
      fault(
          "spec." + field,
          value.asText(),
          "must be a time from 1970 to 9998, such as 2026-12-01T08:00:00Z");
    }
    return time;
  }

  private Optional<ReservationTimes> weekly() {
    String zone = JsonFields.text(spec, "schedule", "timeZone");
    Optional<ZoneId> known = BudgetReader.zone(zone.isEmpty() ? "UTC" : zone);
    if (known.isEmpty()) {
      fault(
          "spec.schedule.timeZone", zone, "must be a time zone of the IANA database, such as UTC");
    }
    List<WeeklyTime> times = new ArrayList<>();
    List<JsonNode> items =
        items("spec.schedule.times", JsonFields.list(spec, "schedule", "times"), 1, MOST_SHARES);
    for (int i = 0; i < items.size(); i++) {
      String path = "spec.schedule.times[" + i + "]";
      Optional<Integer> from = minute(path + ".from", items.get(i).path("from"), false);
      Optional<Integer> to = minute(path + ".to", items.get(i).path("to"), true);
      Set<DayOfWeek> days = days(path + ".days", JsonFields.list(items.get(i), "days"));
      if (from.isPresent() && to.isPresent()) {
        if (from.equals(to)) {
          fault(path + ".to", items.get(i).path("to").asText(), "must differ from from");
        }
        times.add(new WeeklyTime(days, from.get(), to.get()));
      }
    }
    return known.map(each -> new ReservationTimes(Optional.empty(), each, times));
  }

  private Optional<Integer> minute(String path, JsonNode value, boolean isEnd) {
    String text = value.asText();
    Matcher matcher = TIME.matcher(text.length() > MOST_ITEMS ? "" : text);
    if (!matcher.matches() || (!isEnd && matcher.group(1) == null)) {
      fault(path, text, "must be a time of the day from 00:00 to " + (isEnd ? "24:00" : "23:59"));
      return Optional.empty();
    }
    String hour = matcher.group(1);
    return Optional.of(
        hour == null ? 24 * 60 : Integer.parseInt(hour) * 60 + Integer.parseInt(text.substring(3)));
  }

  private Set<DayOfWeek> days(String path, List<JsonNode> items) {
    Set<DayOfWeek> days = new HashSet<>();
    for (JsonNode each : items(path, items, 1, 7)) {
      Optional<DayOfWeek> day = day(each.asText());
      if (day.isEmpty()) {
        fault(path, each.asText(), "must be days from Monday to Sunday");
      }
      day.ifPresent(days::add);
    }
    return days;
  }

  private static Optional<DayOfWeek> day(String name) {
    for (DayOfWeek each : DayOfWeek.values()) {
      String spelled = each.name().charAt(0) + each.name().substring(1).toLowerCase(Locale.ROOT);
      if (spelled.equals(name)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

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
     * The occurrences that aren't over, ascending: those of the next {@link #HORIZON}, {@link
     * #MOST} at most. Those that overlap or follow each other without a pause are one.
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
      return change != null && change.isGap()
          ? change.getInstant()
          : local.atZone(zone).toInstant();
    }

    private static List<Occurrence> merged(List<Occurrence> all) {
      List<Occurrence> merged = new ArrayList<>();
      for (Occurrence each :
          all.stream().sorted(Comparator.comparing(Occurrence::start)).toList()) {
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
}
