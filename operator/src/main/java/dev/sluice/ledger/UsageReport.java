package dev.sluice.ledger;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.ledger.UsageQuery.Span;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints what was used: as a table, as CSV, and in the columns of others (docs/ledger.md#exports).
 */
public final class UsageReport {

  private static final BigDecimal HOUR = BigDecimal.valueOf(3_600);
  private static final BigDecimal GIB = BigDecimal.valueOf(1L << 30);
  private static final String LABEL = "label:";
  private static final String NAMESPACE = "namespace";
  private static final String HOURS = "-Hours";

  private final UsageRows rows;
  private final List<String> groups;

  /** A report of rows. */
  public UsageReport(UsageRows rows) {
    this.rows = rows;
    this.groups =
        rows.rows().isEmpty() ? List.of() : List.copyOf(rows.rows().getFirst().by().keySet());
  }

  /** The forms of a report. */
  public enum Format {
    /** Hours, rounded, in columns for people. */
    TABLE,
    /** Resource-seconds, exact. */
    CSV,
    /** The document of the operator. */
    JSON,
    /** Columns of the FinOps Open Cost and Usage Specification, as CSV. */
    FOCUS,
    /** Allocations as OpenCost answers them, as JSON. */
    OPENCOST
  }

  /** The report; it ends with a line feed. */
  public String in(Format format) throws IOException {
    return switch (format) {
      case TABLE -> table();
      case CSV -> csv();
      case JSON -> json(UsageDocument.of(rows));
      case FOCUS -> focus();
      case OPENCOST -> json(openCost());
    };
  }

  private static String json(ObjectNode document) throws IOException {
    return JsonMappers.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n";
  }

  private boolean hasSpans() {
    return rows.rows().stream().map(UsageRow::span).distinct().count() > 1;
  }

  private String table() {
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>();
    boolean spans = hasSpans();
    if (spans) {
      head.add("SINCE");
    }
    groups.forEach(group -> head.add(group.toUpperCase(Locale.ROOT)));
    head.addAll(List.of("FLAVOR", "RESOURCE", "RESERVED", "RUN", "WAITED", "LOST", "UNIT"));
    boolean priced = rows.rows().stream().anyMatch(row -> row.cost().signum() > 0);
    if (priced) {
      head.add(("COST " + rows.currency()).strip());
    }
    boolean saved = rows.rows().stream().anyMatch(row -> row.saved().signum() != 0);
    if (saved) {
      head.add("SAVED");
    }
    lines.add(head);
    for (UsageRow row : rows.rows()) {
      List<String> line = new ArrayList<>();
      if (spans) {
        line.add(row.span().since().toString());
      }
      groups.forEach(group -> line.add(shown(row.by().getOrDefault(group, ""))));
      line.add(shown(row.flavor()));
      line.add(row.resource());
      for (BigDecimal seconds : List.of(row.reserved(), row.run(), row.waited(), row.lost())) {
        line.add(hours(row.resource(), seconds).setScale(2, RoundingMode.HALF_UP).toPlainString());
      }
      line.add(unit(row.resource()) + HOURS);
      if (priced) {
        line.add(money(row.cost()));
      }
      if (saved) {
        line.add(money(row.saved()));
      }
      lines.add(line);
    }
    if (priced) {
      lines.add(total(head));
    }
    int numbers = head.indexOf("RESERVED");
    int[] widths = new int[head.size()];
    lines.forEach(
        line -> {
          for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.max(widths[i], line.get(i).length());
          }
        });
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      StringBuilder printed = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        boolean right = i >= numbers && i < numbers + 4 || i > numbers + 4;
        String space = " ".repeat(widths[i] - line.get(i).length());
        printed
            .append(i == 0 ? "" : "  ")
            .append(right ? space + line.get(i) : line.get(i) + space);
      }
      text.append(printed.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private List<String> total(List<String> head) {
    List<String> line = new ArrayList<>(Collections.nCopies(head.size(), ""));
    line.set(0, "total");
    int unit = head.indexOf("UNIT");
    line.set(unit + 1, money(sum(UsageRow::cost)));
    if (head.size() > unit + 2) {
      line.set(unit + 2, money(sum(UsageRow::saved)));
    }
    return line;
  }

  private BigDecimal sum(Function<UsageRow, BigDecimal> of) {
    return rows.rows().stream().map(of).reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private static String money(BigDecimal cost) {
    return cost.setScale(2, RoundingMode.HALF_UP).toPlainString();
  }

  private static String shown(String value) {
    return value.isEmpty() ? "-" : value;
  }

  private String csv() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        Stream.of(
                Stream.of("since", "until"),
                groups.stream(),
                Stream.of(
                    "flavor", "resource", "reserved", "run", "waited", "lost", "cost", "saved"))
            .flatMap(each -> each)
            .toList());
    for (UsageRow row : rows.rows()) {
      line(
          text,
          Stream.of(
                  Stream.of(row.span().since().toString(), row.span().until().toString()),
                  row.by().values().stream(),
                  Stream.of(
                      row.flavor(),
                      row.resource(),
                      row.reserved().toPlainString(),
                      row.run().toPlainString(),
                      row.waited().toPlainString(),
                      row.lost().toPlainString(),
                      row.cost().toPlainString(),
                      row.saved().toPlainString()))
              .flatMap(each -> each)
              .toList());
    }
    return text.toString();
  }

  /** A line of CSV (RFC 4180), whose fields no spreadsheet takes for a formula. */
  private static void line(StringBuilder text, Collection<String> fields) {
    text.append(fields.stream().map(UsageReport::field).collect(Collectors.joining(",")))
        .append("\r\n");
  }

  private static String field(String value) {
    boolean formula = !value.isEmpty() && "=+-@\t\r".indexOf(value.charAt(0)) >= 0;
    String safe = formula && !value.matches("-?[0-9.]+") ? "'" + value : value;
    return safe.matches("(?s).*[\",\r\n].*") ? '"' + safe.replace("\"", "\"\"") + '"' : safe;
  }

  /** Columns by the names of FOCUS 1.2; those of money are empty where nothing has a price. */
  private String focus() throws IOException {
    StringBuilder text = new StringBuilder();
    List<String> own = groups.stream().filter(group -> !group.startsWith(LABEL)).toList();
    line(
        text,
        Stream.concat(
                Stream.of(
                    "BilledCost",
                    "BillingCurrency",
                    "ChargeCategory",
                    "ChargeDescription",
                    "ChargePeriodStart",
                    "ChargePeriodEnd",
                    "ConsumedQuantity",
                    "ConsumedUnit",
                    "EffectiveCost",
                    "ProviderName",
                    "ResourceName",
                    "ServiceCategory",
                    "ServiceName",
                    "SkuId",
                    "SubAccountId",
                    "Tags",
                    "x_Flavor",
                    "x_Resource",
                    "x_RunQuantity",
                    "x_WaitedQuantity",
                    "x_LostQuantity",
                    "x_SavedCost"),
                own.stream().map(UsageReport::ownColumn))
            .toList());
    for (UsageRow row : rows.rows()) {
      ObjectNode tags = JsonNodeFactory.instance.objectNode();
      row.by()
          .forEach(
              (group, value) -> {
                if (group.startsWith(LABEL)) {
                  tags.put(group.substring(LABEL.length()), value);
                }
              });
      line(
          text,
          Stream.concat(
                  Stream.of(
                      cost(row),
                      cost(row).isEmpty() ? "" : rows.currency(),
                      "Usage",
                      "Quota reserved for jobs",
                      row.span().since().toString(),
                      row.span().until().toString(),
                      number(row.resource(), row.reserved()),
                      unit(row.resource()) + HOURS,
                      cost(row),
                      "Sluice",
                      row.by().getOrDefault("workload", ""),
                      "Compute",
                      "Job queueing",
                      row.flavor() + "/" + row.resource(),
                      row.by().getOrDefault(NAMESPACE, ""),
                      JsonMappers.JSON.writeValueAsString(tags),
                      row.flavor(),
                      row.resource(),
                      number(row.resource(), row.run()),
                      number(row.resource(), row.waited()),
                      number(row.resource(), row.lost()),
                      cost(row).isEmpty() ? "" : row.saved().toPlainString()),
                  own.stream().map(group -> row.by().getOrDefault(group, "")))
              .toList());
    }
    return text.toString();
  }

  private static String cost(UsageRow row) {
    return row.cost().signum() == 0 ? "" : row.cost().toPlainString();
  }

  private static String ownColumn(String group) {
    return switch (group) {
      case "queue" -> "x_ClusterQueue";
      case "localqueue" -> "x_LocalQueue";
      default -> "x_" + group.substring(0, 1).toUpperCase(Locale.ROOT) + group.substring(1);
    };
  }

  private static String number(String resource, BigDecimal seconds) {
    BigDecimal hours = hours(resource, seconds);
    return hours.signum() == 0 ? "0" : hours.stripTrailingZeros().toPlainString();
  }

  private static BigDecimal hours(String resource, BigDecimal seconds) {
    BigDecimal divisor = unit(resource).equals("GiB") ? HOUR.multiply(GIB) : HOUR;
    return seconds.divide(divisor, MathContext.DECIMAL64);
  }

  private static String unit(String resource) {
    if (resource.equals(Quantities.CPU)) {
      return "Core";
    }
    boolean bytes =
        resource.equals("memory")
            || resource.equals("ephemeral-storage")
            || resource.startsWith("hugepages-");
    return bytes ? "GiB" : resource;
  }

  /** A list of sets of allocations, one for each span, by the field names of OpenCost. */
  private ObjectNode openCost() {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("code", 200).putArray("data");
    Map<Span, ObjectNode> sets = new LinkedHashMap<>();
    Map<ObjectNode, Map<String, BigDecimal>> sums = new IdentityHashMap<>();
    for (UsageRow row : rows.rows()) {
      ObjectNode set =
          sets.computeIfAbsent(row.span(), any -> document.withArray("data").addObject());
      String name =
          row.by().isEmpty()
              ? "all"
              : row.by().values().stream().map(UsageReport::shown).collect(Collectors.joining("/"));
      ObjectNode allocation =
          set.get(name) instanceof ObjectNode known ? known : allocation(set, name, row);
      sums.computeIfAbsent(allocation, any -> new LinkedHashMap<>())
          .merge(costField(row.resource()), row.cost(), BigDecimal::add);
      Optional<String> field = hoursField(row.resource());
      if (field.isPresent()) {
        sums.computeIfAbsent(allocation, any -> new LinkedHashMap<>())
            .merge(
                field.get(), row.reserved().divide(HOUR, MathContext.DECIMAL64), BigDecimal::add);
      }
    }
    for (ObjectNode set : sets.values()) {
      for (var allocation : set.properties()) {
        complete(
            (ObjectNode) allocation.getValue(),
            sums.getOrDefault((ObjectNode) allocation.getValue(), Map.of()));
      }
    }
    return document;
  }

  private static Optional<String> hoursField(String resource) {
    if (resource.equals(Quantities.CPU)) {
      return Optional.of("cpuCoreHours");
    }
    if (resource.equals("memory")) {
      return Optional.of("ramByteHours");
    }
    return resource.endsWith("/gpu") ? Optional.of("gpuHours") : Optional.empty();
  }

  private static String costField(String resource) {
    if (resource.equals(Quantities.CPU)) {
      return "cpuCost";
    }
    if (resource.equals("memory")) {
      return "ramCost";
    }
    return resource.endsWith("/gpu") ? "gpuCost" : "externalCost";
  }

  private static ObjectNode allocation(ObjectNode set, String name, UsageRow row) {
    ObjectNode allocation = set.putObject(name);
    allocation.put("name", name);
    ObjectNode properties = allocation.putObject("properties");
    row.by()
        .forEach(
            (group, value) -> {
              switch (group) {
                case NAMESPACE -> properties.put(NAMESPACE, value);
                case "kind" -> properties.put("controllerKind", value);
                case "owner" -> properties.put("controller", value);
                default -> {
                  if (group.startsWith(LABEL)) {
                    properties
                        .withObjectProperty("labels")
                        .put(group.substring(LABEL.length()), value);
                  }
                }
              }
            });
    String start = row.span().since().toString();
    String end = row.span().until().toString();
    allocation.putObject("window").put("start", start).put("end", end);
    allocation
        .put("start", start)
        .put("end", end)
        .put("minutes", Duration.between(row.span().since(), row.span().until()).toMinutes());
    return allocation;
  }

  private static void complete(ObjectNode allocation, Map<String, BigDecimal> sums) {
    BigDecimal hours =
        BigDecimal.valueOf(allocation.path("minutes").asLong())
            .divide(BigDecimal.valueOf(60), MathContext.DECIMAL64);
    String[][] fields = {
      {"cpuCores", "cpuCoreHours"}, {"ramBytes", "ramByteHours"}, {"gpuCount", "gpuHours"}
    };
    for (String[] field : fields) {
      BigDecimal used = sums.getOrDefault(field[1], BigDecimal.ZERO);
      BigDecimal average =
          hours.signum() == 0 ? BigDecimal.ZERO : used.divide(hours, MathContext.DECIMAL64);
      allocation.put(field[0], average.doubleValue()).put(field[1], used.doubleValue());
    }
    BigDecimal total = BigDecimal.ZERO;
    for (String field : List.of("cpuCost", "ramCost", "gpuCost", "externalCost")) {
      BigDecimal cost = sums.getOrDefault(field, BigDecimal.ZERO);
      allocation.put(field, cost.doubleValue());
      total = total.add(cost);
    }
    allocation.put("totalCost", total.doubleValue());
  }
}
