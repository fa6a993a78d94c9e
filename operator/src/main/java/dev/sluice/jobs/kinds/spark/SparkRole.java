package dev.sluice.jobs.kinds.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.TopologyRequests;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A role of pods in a SparkApplication, and the field of the spec that describes its pods: partly
 * in a pod template, partly in fields of its own, which come on top of the template.
 */
enum SparkRole {
  /** The one pod that is created first. */
  DRIVER("driver", "spark-kubernetes-driver"),
  /** The pods that the driver creates. */
  EXECUTOR("executor", "spark-kubernetes-executor");

  private static final String TEMPLATE = "template";
  private static final String LABELS = "labels";
  private static final String ANNOTATIONS = "annotations";
  private static final String NODE_SELECTOR = "nodeSelector";
  private static final String TOLERATIONS = "tolerations";
  private static final String GATES = "schedulingGates";

  /** The container of a template that is the executor's, if the template has one of this name. */
  private static final String EXECUTOR_CONTAINER = "executor";

  private static final Pattern JAVA_MEMORY =
      Pattern.compile("([0-9]++)\\s*+(?:([kmgtp])b?|(b))?", Pattern.CASE_INSENSITIVE);

  /** No amount of memory is longer; the API server takes any text for one. */
  private static final int LONGEST_MEMORY = 64;

  private final String field;
  private final String container;

  SparkRole(String field, String container) {
    this.field = field;
    this.container = container;
  }

  /** The name of the pod set. */
  String podSetName() {
    return field;
  }

  /** How many pods. */
  int count(JsonNode object) {
    return resources(object).count();
  }

  /** What Spark requests for a pod of the role. */
  SparkResources resources(JsonNode object) {
    return new SparkResources(object, field);
  }

  private JsonNode in(JsonNode object) {
    return JsonFields.at(object, "spec", field);
  }

  PodSetTemplate podSet(JsonNode object) {
    ObjectNode template = template(object);
    return new PodSetTemplate(
        podSetName(), count(object), 0, template, TopologyRequests.of(template, ""));
  }

  ReviewedPodSet reviewed(JsonNode object) {
    return new ReviewedPodSet(
        "spec." + field + "." + ANNOTATIONS,
        count(object),
        JsonFields.annotations(template(object)));
  }

  // ---- the template that the object's fields amount to

  private ObjectNode template(JsonNode object) {
    JsonNode role = in(object);
    ObjectNode template = JsonFields.object(role.path(TEMPLATE)).deepCopy();
    ObjectNode metadata = JsonFields.child(template, "metadata");
    putAll(metadata, LABELS, role.path(LABELS));
    putAll(metadata, ANNOTATIONS, role.path(ANNOTATIONS));
    ObjectNode spec = JsonFields.child(template, "spec");
    ArrayNode containers = JsonFields.array(spec.get("containers"));
    spec.set("containers", containers);
    compute(object, role, main(containers));
    append(spec, "containers", role.path("sidecars"));
    append(spec, "initContainers", role.path("initContainers"));
    append(spec, "volumes", JsonFields.at(object, "spec", "volumes"));
    append(spec, TOLERATIONS, role.path(TOLERATIONS));
    putAll(spec, NODE_SELECTOR, JsonFields.at(object, "spec", NODE_SELECTOR));
    putAll(spec, NODE_SELECTOR, role.path(NODE_SELECTOR));
    for (String taken : List.of("affinity", "priorityClassName", "runtimeClassName")) {
      if (role.hasNonNull(taken)) {
        spec.set(taken, role.get(taken).deepCopy());
      }
    }
    return template;
  }

  /** The container that Spark runs in. */
  private ObjectNode main(ArrayNode containers) {
    ObjectNode first = null;
    for (JsonNode each : containers) {
      if (each instanceof ObjectNode found) {
        if (this == EXECUTOR && found.path("name").asText().equals(EXECUTOR_CONTAINER)) {
          return found;
        }
        first = first == null ? found : first;
      }
    }
    return first == null ? containers.addObject().put("name", container) : first;
  }

  private void compute(JsonNode object, JsonNode role, ObjectNode main) {
    JsonNode image = role.hasNonNull("image") ? role.get("image") : object.at("/spec/image");
    if (image.isTextual()) {
      main.put("image", image.asText());
    }
    append(main, "volumeMounts", role.path("volumeMounts"));
    SparkResources resources = resources(object);
    Map<String, String> requests = new LinkedHashMap<>();
    Map<String, String> limits = new LinkedHashMap<>();
    put(requests, "cpu", resources.cpu(main.at("/resources/requests/cpu").asText("")));
    put(limits, "cpu", resources.cpuLimit());
    put(requests, "memory", resources.memory());
    put(limits, "memory", quantity(JsonFields.text(role, "memoryLimit")));
    resources.devices().forEach((name, amount) -> put(limits, name, amount));
    resources(main, "requests", requests);
    resources(main, "limits", limits);
  }

  private static void put(Map<String, String> amounts, String resource, String amount) {
    if (!resource.isEmpty() && !amount.isEmpty()) {
      amounts.put(resource, amount);
    }
  }

  private static void resources(ObjectNode main, String kind, Map<String, String> amounts) {
    if (!amounts.isEmpty()) {
      ObjectNode target = JsonFields.child(JsonFields.child(main, "resources"), kind);
      amounts.forEach(target::put);
    }
  }

  /** An amount of memory as Java and Spark write it, as a quantity; MiB if it has no unit. */
  private static String quantity(String memory) {
    if (memory.length() > LONGEST_MEMORY) {
      return memory.substring(0, LONGEST_MEMORY);
    }
    Matcher matcher = JAVA_MEMORY.matcher(memory.strip());
    if (!matcher.matches()) {
      return memory;
    }
    if (matcher.group(3) != null) {
      return matcher.group(1);
    }
    String unit = matcher.group(2) == null ? "m" : matcher.group(2).toLowerCase(Locale.ROOT);
    return matcher.group(1) + unit.toUpperCase(Locale.ROOT) + "i";
  }

  private static void putAll(ObjectNode parent, String field, JsonNode map) {
    map.properties().forEach(it -> JsonFields.child(parent, field).set(it.getKey(), it.getValue()));
  }

  private static void append(ObjectNode parent, String field, JsonNode added) {
    if (added.isArray() && !added.isEmpty()) {
      ArrayNode list = JsonFields.array(parent.get(field));
      added.forEach(it -> list.add(it.deepCopy()));
      parent.set(field, list);
    }
  }

  // ---- what a start gives, and a stop takes back

  boolean looksStarted(JsonNode object) {
    return in(object).path(LABELS).has(KueueConstants.PODSET);
  }

  /** Writes into the fields of the role what its template doesn't contradict. */
  void give(ObjectNode job, PodSetInfo start) throws StartConflictException {
    PodTemplateMerger.merge(template(job), start);
    ObjectNode role = JsonFields.child(JsonFields.child(job, "spec"), field);
    putAll(role, LABELS, start.labels());
    putAll(role, ANNOTATIONS, start.annotations());
    putAll(role, NODE_SELECTOR, start.nodeSelector());
    PodTemplateMerger.addTolerations(role, start.tolerations());
    if (!start.schedulingGates().isEmpty()) {
      PodTemplateMerger.addGates(
          JsonFields.child(JsonFields.child(role, TEMPLATE), "spec"), start.schedulingGates());
    }
  }

  private static void putAll(ObjectNode role, String field, Map<String, String> given) {
    given.forEach((key, value) -> JsonFields.child(role, field).put(key, value));
  }

  /**
   * Moves the node selector of the whole application into the roles: it must not have one of its
   * own where a role has one.
   */
  static void shareNodeSelector(ObjectNode job) {
    ObjectNode spec = JsonFields.child(job, "spec");
    if (spec.remove(NODE_SELECTOR) instanceof ObjectNode shared) {
      for (SparkRole role : values()) {
        JsonFields.fill(
            JsonFields.child(JsonFields.child(spec, role.field), NODE_SELECTOR), shared);
      }
    }
  }

  /**
   * Removes what the original did not have.
   *
   * @param original the pod set before the start; without it, only what is known to come from a
   *     start goes
   */
  void takeBack(ObjectNode job, Optional<ObjectNode> original) {
    if (!(in(job) instanceof ObjectNode role)) {
      return;
    }
    if (original.isEmpty()) {
      retain(role, LABELS, key -> !PodTemplateMerger.MARKS.contains(key));
      return;
    }
    JsonNode before = original.get();
    retain(role, LABELS, before.path("metadata").path(LABELS)::has);
    retain(role, ANNOTATIONS, before.path("metadata").path(ANNOTATIONS)::has);
    JsonNode spec = before.path("spec");
    retain(role, NODE_SELECTOR, spec.path(NODE_SELECTOR)::has);
    retainAll(role, TOLERATIONS, it -> PodTemplateMerger.contains(spec.path(TOLERATIONS), it));
    if (role.path(TEMPLATE).path("spec") instanceof ObjectNode pods && pods.has(GATES)) {
      retainAll(pods, GATES, it -> spec.path(GATES).valueStream().anyMatch(it::equals));
      removeIfEmpty(JsonFields.child(role, TEMPLATE), "spec");
      removeIfEmpty(role, TEMPLATE);
    }
  }

  private static void retain(ObjectNode role, String field, Predicate<String> kept) {
    if (role.get(field) instanceof ObjectNode map) {
      map.properties().removeIf(it -> !kept.test(it.getKey()));
      removeIfEmpty(role, field);
    }
  }

  private static void retainAll(ObjectNode holder, String field, Predicate<JsonNode> kept) {
    if (holder.get(field) instanceof ArrayNode list) {
      ArrayNode remaining = list.arrayNode();
      list.valueStream().filter(kept).forEach(remaining::add);
      holder.set(field, remaining);
      removeIfEmpty(holder, field);
    }
  }

  private static void removeIfEmpty(ObjectNode parent, String field) {
    if (parent.path(field).isEmpty()) {
      parent.remove(field);
    }
  }

  /**
   * What Spark requests for a pod of a role: a field of the role counts before the property of
   * {@code spec.sparkConf} that says the same, as the Spark operator passes both to spark-submit
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
        "must be a whole number with a unit of Java: k, m, g, t or p, such as 512m; without a unit"
            + " it is MiB";

    /** Memory as Java and Spark write it; without a unit it is MiB. */
    private static final Pattern MEMORY =
        Pattern.compile(
            "\\s*+([0-9]{1,18})\\s*+(?:([kmgtp])b?|(b))?\\s*+", Pattern.CASE_INSENSITIVE);

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
     * @param ofTemplate what the container of the role's template requests, which counts where it
     *     is more than the number of cores; empty if it requests none
     */
    String cpu(String ofTemplate) {
      String request = JsonFields.text(fields(), "coreRequest");
      String said =
          request.isEmpty() ? conf("spark.kubernetes." + role + ".request.cores") : request;
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
            errors,
            "spark.executor.instances",
            COUNT,
            "must be a whole number that isn't negative");
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
}
