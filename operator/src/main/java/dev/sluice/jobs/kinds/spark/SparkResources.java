package dev.sluice.jobs.kinds.spark;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What Spark requests for a pod of a role: a field of the role counts before the property of {@code
 * spec.sparkConf} that says the same, as the Spark operator passes both to spark-submit
 * (docs/spark.md#pod-sets).
 *
 * @param object the SparkApplication
 * @param role {@code driver} or {@code executor}
 */
record SparkResources(JsonNode object, String role) {

  private static final String EXECUTOR = "executor";
  private static final String CONF = "sparkConf";
  private static final BigDecimal LEAST_OVERHEAD = BigDecimal.valueOf(384);
  private static final BigDecimal FACTOR = new BigDecimal("0.1");
  private static final BigDecimal FACTOR_WITHOUT_JVM = new BigDecimal("0.4");
  private static final Set<String> WITHOUT_JVM = Set.of("Python", "R");
  private static final BigDecimal BYTES_PER_MIB = BigDecimal.valueOf(1L << 20);
  private static final String UNITS = "bkmgtp";
  private static final String MEMORY_FORM =
      "must be a whole number with a unit of Java: k, m, g, t or p, such as 512m; without a unit it"
          + " is MiB";

  /** Memory as Java and Spark write it; without a unit it is MiB. */
  private static final Pattern MEMORY =
      Pattern.compile("\\s*+([0-9]{1,18})\\s*+(?:([kmgtp])b?|(b))?\\s*+", Pattern.CASE_INSENSITIVE);

  /** How many executors Spark starts without dynamic allocation if no number is configured. */
  private static final int EXECUTORS_BY_DEFAULT = 2;

  private static final Pattern COUNT = Pattern.compile("[0-9]{1,9}");
  private static final Pattern FACTOR_FORM = Pattern.compile("[0-9]{1,9}(?:\\.[0-9]{1,9})?");

  /**
   * How many pods. Of executors as many as Spark starts where nothing says a number, and 0 where
   * what is said is none: Spark doesn't start with it.
   */
  int count() {
    if (!role.equals(EXECUTOR)) {
      return 1;
    }
    JsonNode field = field("instances");
    if (field.isNumber()) {
      return Math.max(0, field.asInt());
    }
    String said = property("instances");
    return said.isEmpty()
        ? EXECUTORS_BY_DEFAULT
        : COUNT.matcher(said).matches() ? Integer.parseInt(said) : 0;
  }

  /**
   * The CPU that is requested, as a quantity.
   *
   * @param ofTemplate what the container of the role's template requests, which counts where it is
   *     more than the number of cores; empty if it requests none
   */
  String cpu(String ofTemplate) {
    String request = JsonFields.text(fields(), "coreRequest");
    String said = request.isEmpty() ? conf("spark.kubernetes." + role + ".request.cores") : request;
    if (!said.isEmpty()) {
      return said;
    }
    String property = property("cores");
    String cores =
        field("cores").isNumber() ? field("cores").asText() : property.isEmpty() ? "1" : property;
    boolean larger =
        isQuantity(ofTemplate)
            && (!isQuantity(cores)
                || Quantities.parse(ofTemplate).compareTo(Quantities.parse(cores)) > 0);
    return larger ? ofTemplate : cores;
  }

  /** The limit of CPU, as a quantity; empty without one. */
  String cpuLimit() {
    String limit = JsonFields.text(fields(), "coreLimit");
    return limit.isEmpty() ? conf("spark.kubernetes." + role + ".limit.cores") : limit;
  }

  /**
   * The memory that is requested, as a quantity: memory, its overhead, and what executors get
   * besides. What can't be read counts 0; {@link #errors} names it.
   */
  String memory() {
    BigDecimal memory = mebibytes(said("memory", "1g"));
    BigDecimal total = memory.add(overhead(memory));
    if (role.equals(EXECUTOR)) {
      total = total.add(mebibytes(property("pyspark.memory")));
      if (conf("spark.memory.offHeap.enabled").equalsIgnoreCase("true")) {
        total = total.add(bytes(conf("spark.memory.offHeap.size")));
      }
    }
    return total.setScale(0, RoundingMode.UP).toBigInteger() + "Mi";
  }

  private BigDecimal overhead(BigDecimal memory) {
    String said = said("memoryOverhead", "");
    if (!said.isEmpty()) {
      return mebibytes(said);
    }
    BigDecimal least = mebibytes(property("minMemoryOverhead")).max(LEAST_OVERHEAD);
    return memory.multiply(factor()).max(least);
  }

  private BigDecimal factor() {
    String spec = JsonFields.text(object, "spec", "memoryOverheadFactor");
    String shared = spec.isEmpty() ? conf("spark.kubernetes.memoryOverheadFactor") : spec;
    String own = property("memoryOverheadFactor");
    boolean jvm = !WITHOUT_JVM.contains(JsonFields.text(object, "spec", "type"));
    BigDecimal otherwise =
        FACTOR_FORM.matcher(shared).matches()
            ? new BigDecimal(shared)
            : jvm ? FACTOR : FACTOR_WITHOUT_JVM;
    if (!FACTOR_FORM.matcher(own).matches()) {
      return otherwise;
    }
    return jvm ? new BigDecimal(own) : new BigDecimal(own).max(otherwise);
  }

  /** Devices, by resource: the field {@code gpu}, and the properties of resources. */
  Map<String, String> devices() {
    Map<String, String> devices = new TreeMap<>();
    Pattern amount = Pattern.compile("spark\\." + role + "\\.resource\\.([^.]{1,63})\\.amount");
    properties()
        .forEach(
            (key, value) -> {
              Matcher matcher = amount.matcher(key);
              if (matcher.matches() && COUNT.matcher(value).matches()) {
                String vendor = property("resource." + matcher.group(1) + ".vendor");
                devices.put((vendor.isEmpty() ? "" : vendor + "/") + matcher.group(1), value);
              }
            });
    JsonNode gpu = field("gpu");
    if (gpu.path("quantity").isNumber() && !gpu.path("name").asText().isEmpty()) {
      devices.put(gpu.path("name").asText(), gpu.path("quantity").asText());
    }
    return devices;
  }

  /** Fields and properties by which the pods of the role can't be counted. */
  List<InvalidField> errors() {
    List<InvalidField> errors = new ArrayList<>();
    for (String field : List.of("memory", "memoryOverhead")) {
      check(errors, "spec." + role + "." + field, field(field), MEMORY, MEMORY_FORM);
      checkProperty(errors, "spark." + role + "." + field, MEMORY, MEMORY_FORM);
    }
    checkProperty(errors, "spark." + role + ".minMemoryOverhead", MEMORY, MEMORY_FORM);
    String factor = "must be a number that isn't negative, such as 0.2";
    checkProperty(errors, "spark." + role + ".memoryOverheadFactor", FACTOR_FORM, factor);
    String quantity = "must be a quantity, such as 2 or 500m";
    quantity(errors, "spark." + role + ".cores", quantity);
    quantity(errors, "spark.kubernetes." + role + ".request.cores", quantity);
    String file = "spark.kubernetes." + role + ".podTemplateFile";
    if (properties().containsKey(file)) {
      errors.add(
          new InvalidField(
              path(file),
              confNode().path(file),
              "must not be set for a job in a queue, because the file can't be read: use spec."
                  + role
                  + ".template"));
    }
    if (role.equals(EXECUTOR)) {
      checkProperty(
          errors, "spark.executor.instances", COUNT, "must be a whole number that isn't negative");
      checkProperty(errors, "spark.executor.pyspark.memory", MEMORY, MEMORY_FORM);
    } else {
      check(
          errors,
          "spec.memoryOverheadFactor",
          JsonFields.at(object, "spec", "memoryOverheadFactor"),
          FACTOR_FORM,
          factor);
      checkProperty(errors, "spark.kubernetes.memoryOverheadFactor", FACTOR_FORM, factor);
      checkProperty(errors, "spark.memory.offHeap.size", MEMORY, MEMORY_FORM);
    }
    return errors;
  }

  private void checkProperty(List<InvalidField> errors, String key, Pattern form, String rule) {
    check(errors, path(key), confNode().path(key), form, rule);
  }

  private static void check(
      List<InvalidField> errors, String path, JsonNode value, Pattern form, String rule) {
    if (!value.isMissingNode() && !value.isNull() && !form.matcher(value.asText()).matches()) {
      errors.add(new InvalidField(path, value, rule));
    }
  }

  private void quantity(List<InvalidField> errors, String key, String rule) {
    String said = conf(key);
    if (!said.isEmpty() && !isQuantity(said)) {
      errors.add(new InvalidField(path(key), confNode().path(key), rule));
    }
  }

  private static boolean isQuantity(String text) {
    try {
      return Quantities.parse(text).signum() >= 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String path(String key) {
    return "spec." + CONF + "[" + key + "]";
  }

  private JsonNode fields() {
    return JsonFields.at(object, "spec", role);
  }

  private JsonNode field(String name) {
    return fields().path(name);
  }

  private JsonNode confNode() {
    return JsonFields.at(object, "spec", CONF);
  }

  private Map<String, String> properties() {
    return JsonFields.map(object, "spec", CONF);
  }

  private String conf(String key) {
    return confNode().path(key).asText("").strip();
  }

  private String property(String name) {
    return conf("spark." + role + "." + name);
  }

  private String said(String name, String otherwise) {
    String field = JsonFields.text(fields(), name);
    String said = field.isEmpty() ? property(name) : field;
    return said.isEmpty() ? otherwise : said;
  }

  /** An amount of memory in MiB; 0 if it can't be read. */
  private static BigDecimal mebibytes(String memory) {
    return amount(memory, BYTES_PER_MIB);
  }

  /** The same of an amount that is in bytes if it has no unit. */
  private static BigDecimal bytes(String memory) {
    return amount(memory, BigDecimal.ONE);
  }

  private static BigDecimal amount(String memory, BigDecimal unit) {
    Matcher matcher = MEMORY.matcher(memory);
    if (!matcher.matches()) {
      return BigDecimal.ZERO;
    }
    return new BigDecimal(matcher.group(1))
        .multiply(
            Optional.ofNullable(matcher.group(2))
                .or(() -> Optional.ofNullable(matcher.group(3)))
                .map(letter -> UNITS.indexOf(letter.toLowerCase(Locale.ROOT)))
                .map(power -> BigDecimal.TWO.pow(10 * power))
                .orElse(unit))
        .divide(BYTES_PER_MIB);
  }
}
