package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Reads the ElasticQuotas of one group as one tree. Never throws for what it reads. */
final class ElasticQuotaReader {

  /** The kind of the quotas of Koordinator. */
  static final String KOORDINATOR = "ElasticQuota.scheduling.sigs.k8s.io";

  /** The kind of the quotas of the scheduler plugins. */
  static final String PLUGIN = "ElasticQuota.scheduling.x-k8s.io";

  private static final String KOORDINATOR_ROOT = "koordinator-root-quota";
  private static final String PLUGIN_ROOT = "elastic-quotas";
  private static final String KEYS = "quota.scheduling.koordinator.sh/";

  /** The label that names the quota above one of Koordinator. */
  static final String PARENT = KEYS + "parent";

  /** Quotas that Koordinator makes for itself. */
  private static final Set<String> BUILT_IN =
      Set.of(KOORDINATOR_ROOT, "koordinator-system-quota", "koordinator-default-quota");

  /**
   * An object that declares a quota.
   *
   * @param spec its spec
   */
  record QuotaObject(
      QuotaSource source,
      Map<String, String> labels,
      Map<String, String> annotations,
      JsonNode spec) {}

  private final boolean koordinator;
  private final String kind;
  private final String rootPath;
  private final Map<QuotaSource, List<String>> faults = new LinkedHashMap<>();
  private final Map<QuotaSource, List<String>> ignored = new LinkedHashMap<>();
  private final Map<String, QuotaObject> byName = new LinkedHashMap<>();
  private final Map<String, List<QuotaObject>> children = new HashMap<>();

  /**
   * What was read.
   *
   * @param reading the tree, or why there is none
   * @param notes what is wrong with each object
   * @param warnings what people may not have meant, by object
   */
  record Result(
      QuotaReading reading,
      Map<QuotaSource, List<String>> notes,
      Map<QuotaSource, List<String>> warnings) {}

  private ElasticQuotaReader(boolean koordinator) {
    this.koordinator = koordinator;
    kind = koordinator ? KOORDINATOR : PLUGIN;
    rootPath = koordinator ? KOORDINATOR_ROOT : PLUGIN_ROOT;
  }

  /** Reads the quotas of Koordinator, the oldest first. */
  static Result koordinator(List<QuotaObject> objects) {
    return new ElasticQuotaReader(true).read(objects);
  }

  /** Reads the quotas of the scheduler plugins, the oldest first. */
  static Result plugin(List<QuotaObject> objects) {
    return new ElasticQuotaReader(false).read(objects);
  }

  private Result read(List<QuotaObject> objects) {
    for (QuotaObject object : objects) {
      if (!koordinator || !BUILT_IN.contains(object.source().name())) {
        add(object);
      }
    }
    byName.values().forEach(this::attach);
    Set<String> reached = new HashSet<>();
    List<QuotaDeclaration> top = declarations("", reached, 2);
    byName.forEach(
        (key, object) -> {
          if (!reached.contains(key) && faults.isEmpty()) {
            fault(object, "its parents are a circle");
          }
        });
    QuotaTree tree = new QuotaTree(root(top), true);
    List<String> wrong = new ArrayList<>();
    faults.values().forEach(wrong::addAll);
    QuotaReading reading = QuotaReading.of(tree, wrong, List.of());
    if (wrong.isEmpty()) {
      reading.faults().forEach(fault -> attribute(fault, faults));
    }
    Map<QuotaSource, List<String>> notes = new LinkedHashMap<>(ignored);
    faults.forEach(
        (source, texts) -> notes.computeIfAbsent(source, any -> new ArrayList<>()).addAll(texts));
    Map<QuotaSource, List<String>> warnings = new LinkedHashMap<>();
    reading.warnings().forEach(warning -> attribute(warning, warnings));
    return new Result(reading, notes, warnings);
  }

  private void add(QuotaObject object) {
    String key =
        koordinator
            ? object.source().name()
            : object.source().namespace() + "/" + object.source().name();
    QuotaObject first = byName.putIfAbsent(key, object);
    if (first != null) {
      ignored
          .computeIfAbsent(object.source(), any -> new ArrayList<>())
          .add(
              "it is ignored: an older quota of this name is in the namespace %s"
                  .formatted(first.source().namespace()));
    }
  }

  private void attach(QuotaObject object) {
    String parent = koordinator ? object.labels().getOrDefault(PARENT, "") : "";
    if (parent.isEmpty() || parent.equals(KOORDINATOR_ROOT)) {
      children.computeIfAbsent("", any -> new ArrayList<>()).add(object);
      return;
    }
    QuotaObject above = byName.get(parent);
    if (above == null || !isParent(above)) {
      fault(object, "its parent %s is no quota that others share".formatted(parent));
    } else {
      children.computeIfAbsent(parent, any -> new ArrayList<>()).add(object);
    }
  }

  private boolean isParent(QuotaObject object) {
    return koordinator && "true".equals(object.labels().get(KEYS + "is-parent"));
  }

  private void fault(QuotaObject object, String text) {
    faults.computeIfAbsent(object.source(), any -> new ArrayList<>()).add(text);
  }

  /** What is said of the tree is told of the quota that it begins with; of the root, of all. */
  private void attribute(String text, Map<QuotaSource, List<String>> texts) {
    boolean ofAll = text.startsWith(rootPath + ":");
    for (QuotaObject object : byName.values()) {
      if (ofAll || text.startsWith(path(object) + ":")) {
        texts.computeIfAbsent(object.source(), any -> new ArrayList<>()).add(text);
      }
    }
  }

  private String path(QuotaObject object) {
    return rootPath
        + "/"
        + (koordinator ? "" : object.source().namespace() + "/")
        + object.source().name();
  }

  private List<QuotaDeclaration> declarations(String parent, Set<String> reached, int depth) {
    List<QuotaDeclaration> result = new ArrayList<>();
    for (QuotaObject object : children.getOrDefault(parent, List.of())) {
      if (depth > QuotaTreeReader.DEEPEST) {
        fault(object, "the tree is deeper than %d".formatted(QuotaTreeReader.DEEPEST));
        continue;
      }
      String name = object.source().name();
      reached.add(koordinator ? name : object.source().namespace() + "/" + name);
      boolean inner = isParent(object);
      result.add(
          declaration(object, inner, inner ? declarations(name, reached, depth + 1) : List.of()));
    }
    return result;
  }

  private QuotaDeclaration declaration(
      QuotaObject object, boolean inner, List<QuotaDeclaration> below) {
    List<String> wrong = new ArrayList<>();
    AmountReader amounts = new AmountReader(wrong);
    Map<String, Long> min = amounts.amounts(object.spec().path("min"), "min");
    Map<String, Long> max = amounts.amounts(object.spec().path("max"), "max");
    wrong.forEach(text -> fault(object, text));
    Map<String, Long> lends = new TreeMap<>();
    if (koordinator && "false".equals(object.labels().get(KEYS + "allow-lent-resource"))) {
      min.keySet().forEach(resource -> lends.put(resource, 0L));
    }
    return new QuotaDeclaration(
        object.source(),
        object.source().name(),
        path(object),
        inner ? List.of() : namespaces(object),
        min,
        max,
        lends,
        inner,
        below);
  }

  private List<String> namespaces(QuotaObject object) {
    String text = object.annotations().get(KEYS + "namespaces");
    if (!koordinator || text == null) {
      return List.of(object.source().namespace());
    }
    List<String> result = new ArrayList<>();
    try {
      for (JsonNode each : JsonMappers.JSON.readTree(text)) {
        if (KubernetesNames.isDnsLabel(each.asText())) {
          result.add(each.asText());
        } else {
          fault(object, "\"%s\" is no namespace".formatted(each.asText()));
        }
      }
    } catch (IOException e) {
      fault(object, KEYS + "namespaces is not a list in JSON");
    }
    return result.stream().distinct().toList();
  }

  /** Koordinator's quotas share what there is; those of the scheduler plugins the sum of all. */
  private QuotaDeclaration root(List<QuotaDeclaration> top) {
    Map<String, Long> sum = new TreeMap<>();
    if (!koordinator) {
      for (QuotaDeclaration each : top) {
        each.max().keySet().forEach(resource -> sum.putIfAbsent(resource, 0L));
        each.min().forEach((resource, min) -> sum.merge(resource, min, QuotaArithmetic::plus));
      }
    }
    QuotaSource source = new QuotaSource(kind, "", rootPath, "");
    return new QuotaDeclaration(
        source, rootPath, rootPath, List.of(), Map.of(), sum, Map.of(), true, top);
  }

  /** Reads lists of resources that people wrote. Never throws for what it reads. */
  static final class AmountReader {

    private final List<String> faults;

    /** Notes what is wrong in {@code faults}. */
    AmountReader(List<String> faults) {
      this.faults = faults;
    }

    /**
     * Amounts by resource, in the scheduler's units.
     *
     * @param where for messages
     */
    Map<String, Long> amounts(JsonNode list, String where) {
      Map<String, Long> result = new TreeMap<>();
      if (!list.isMissingNode() && !list.isNull() && !list.isObject()) {
        faults.add(where + " is no list of resources");
      }
      list.properties()
          .forEach(
              entry -> {
                String text = entry.getValue().asText();
                try {
                  long amount = Quantities.amount(entry.getKey(), text);
                  if (amount < 0 || !entry.getValue().isValueNode()) {
                    faults.add(
                        "%s.%s: \"%s\" is less than 0".formatted(where, entry.getKey(), text));
                  } else if (KubernetesNames.isLabelKey(entry.getKey())) {
                    result.put(entry.getKey(), Math.min(amount, QuotaArithmetic.UNLIMITED));
                  } else {
                    faults.add("%s: \"%s\" is no resource".formatted(where, entry.getKey()));
                  }
                } catch (IllegalArgumentException e) {
                  faults.add("%s.%s: \"%s\" is no quantity".formatted(where, entry.getKey(), text));
                }
              });
      return result;
    }
  }
}
