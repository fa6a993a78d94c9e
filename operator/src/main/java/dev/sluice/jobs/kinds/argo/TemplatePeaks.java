package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.jobs.kinds.argo.WorkflowRequests.UnknownRequestException;
import dev.sluice.workload.record.PodTemplateParser;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongBinaryOperator;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The most that the pods of a Workflow can request at a time, from the templates in its spec: steps
 * follow each other, the steps of a group and the tasks of a DAG run side by side as far as
 * dependencies let them, a loop runs all its items at once, and {@code parallelism} limits how many
 * pods there are. Used once for one Workflow.
 */
final class TemplatePeaks {

  private static final int DEEPEST = 50;

  /**
   * The most resources of a Workflow, as many as a ClusterQueue can cover. Each task of a DAG adds
   * up all of them.
   */
  private static final int MOST_RESOURCES = 256;

  /** The most containers in a list of the defaults, which every template gets. */
  private static final int MOST_DEFAULTS = 32;

  /** No quantity is longer. */
  private static final int LONGEST_AMOUNT = 256;

  private static final String ON_EXIT = "onExit";
  private static final String CONTAINER_SET = "containerSet";

  /** Templates that run a pod of their own, and where its main container is. */
  private static final List<String> CONTAINERS = List.of("container", "script");

  private final Map<String, JsonNode> templates = new HashMap<>();
  private final Map<String, Peak> known = new HashMap<>();
  private final Set<String> open = new HashSet<>();

  /** The resources in the order in which they were found, which is that of all amounts. */
  private final Map<String, Integer> resources = new LinkedHashMap<>();

  private final JsonNode defaults;

  /** Whether pods may outlive the step that started them. */
  private final boolean daemons;

  private TemplatePeaks(JsonNode spec) throws UnknownRequestException {
    for (JsonNode template : JsonFields.list(spec, "templates")) {
      templates.put(JsonFields.text(template, "name"), template);
    }
    defaults = JsonFields.at(spec, "templateDefaults");
    daemons =
        defaults.path("daemon").asBoolean()
            || templates.values().stream().anyMatch(each -> each.path("daemon").asBoolean());
    PodSpecPatch.check(spec);
    PodSpecPatch.check(defaults);
  }

  /**
   * What runs at most at a time. Amounts are in the order of {@link #resources}; those that are
   * missing at the end are 0. The arrays are never changed.
   *
   * @param amounts what it requests; of one round where a loop has an unknown number of rounds
   * @param largest what one of its pods requests at most
   * @param endless whether the number of pods is unknown
   * @param onePod whether it is one pod, and not made of other templates
   */
  private record Peak(long[] amounts, long[] largest, boolean endless, boolean onePod) {

    private static final Peak NONE = new Peak(new long[0], new long[0], false, true);

    private Peak and(Peak other) {
      return new Sum().add(this).add(other).peak();
    }

    private Peak or(Peak other) {
      return new Peak(
          merged(amounts, other.amounts, Math::max),
          merged(largest, other.largest, Math::max),
          endless || other.endless,
          onePod && other.onePod);
    }

    private Peak times(long count) {
      return new Peak(multiplied(amounts, count), largest, endless, onePod);
    }

    private Peak withoutEnd() {
      return new Peak(amounts, largest, true, onePod);
    }

    private Peak ofOthers() {
      return new Peak(amounts, largest, endless, false);
    }

    /** With at most so many pods. */
    private Peak limited(long pods) {
      long[] most = multiplied(largest, pods);
      return new Peak(endless ? most : merged(amounts, most, Math::min), largest, false, onePod);
    }

    private static long[] multiplied(long[] amounts, long count) {
      return LongStream.of(amounts)
          .map(amount -> ResourceAmounts.multiply(amount, count))
          .toArray();
    }

    private static long[] merged(long[] one, long[] other, LongBinaryOperator operator) {
      long[] result = Arrays.copyOf(one, Math.max(one.length, other.length));
      for (int i = 0; i < result.length; i++) {
        result[i] = operator.applyAsLong(result[i], i < other.length ? other[i] : 0);
      }
      return result;
    }
  }

  /** What runs side by side, added up in place: a template may have thousands of tasks. */
  private static final class Sum {

    private long[] amounts = new long[0];
    private long[] largest = new long[0];
    private boolean endless;
    private boolean onePod = true;

    private Sum add(Peak peak) {
      if (peak.amounts().length > amounts.length) {
        amounts = Arrays.copyOf(amounts, peak.amounts().length);
      }
      if (peak.largest().length > largest.length) {
        largest = Arrays.copyOf(largest, peak.largest().length);
      }
      for (int i = 0; i < peak.amounts().length; i++) {
        amounts[i] = ResourceAmounts.add(amounts[i], peak.amounts()[i]);
      }
      for (int i = 0; i < peak.largest().length; i++) {
        largest[i] = Math.max(largest[i], peak.largest()[i]);
      }
      endless |= peak.endless();
      onePod &= peak.onePod();
      return this;
    }

    private Peak peak() {
      return new Peak(amounts.clone(), largest.clone(), endless, onePod);
    }
  }

  /** The most that the pods of a Workflow request at a time. */
  static SortedMap<String, Long> of(JsonNode workflow) throws UnknownRequestException {
    JsonNode stored = JsonFields.at(workflow, "status", "storedWorkflowTemplateSpec");
    JsonNode own = JsonFields.at(workflow, "spec");
    boolean refers = own.has("workflowTemplateRef");
    if (refers && !stored.isObject()) {
      throw new UnknownRequestException("its WorkflowTemplate was not read yet");
    }
    JsonNode spec = refers ? stored : own;
    PodSpecPatch.check(own);
    TemplatePeaks peaks = new TemplatePeaks(spec);
    String entrypoint = JsonFields.text(own, "entrypoint");
    Peak peak =
        peaks
            .named(entrypoint.isEmpty() ? JsonFields.text(spec, "entrypoint") : entrypoint, 0)
            .and(peaks.hooks(spec, 0));
    for (JsonNode holder : List.of(spec, own)) {
      String onExit = JsonFields.text(holder, ON_EXIT);
      peak = onExit.isEmpty() ? peak : peak.or(peaks.named(onExit, 0));
    }
    JsonNode limit = JsonFields.at(own.has("parallelism") ? own : spec, "parallelism");
    if (limit.canConvertToLong() && limit.asLong() > 0) {
      peak = peak.limited(limit.asLong());
    }
    if (peak.endless()) {
      throw new UnknownRequestException(
          "a loop or a recursion has no limit, and there is no spec.parallelism");
    }
    return peaks.byResource(peak.amounts());
  }

  private SortedMap<String, Long> byResource(long[] amounts) {
    SortedMap<String, Long> result = new TreeMap<>();
    resources.forEach((name, i) -> result.put(name, i < amounts.length ? amounts[i] : 0));
    return result;
  }

  private long[] inOrder(Map<String, Long> amounts) throws UnknownRequestException {
    for (String name : amounts.keySet()) {
      resources.putIfAbsent(name, resources.size());
      if (resources.size() > MOST_RESOURCES) {
        throw new UnknownRequestException("it requests more than 256 resources");
      }
    }
    long[] result = new long[resources.size()];
    amounts.forEach((name, amount) -> result[resources.getOrDefault(name, 0)] = amount);
    return result;
  }

  private Peak named(String name, int depth) throws UnknownRequestException {
    Peak before = known.get(name);
    if (before != null) {
      return before;
    }
    JsonNode template = templates.get(name);
    if (template == null) {
      throw new UnknownRequestException("it has no template \"" + name + "\"");
    }
    if (!open.add(name)) {
      return Peak.NONE.ofOthers().withoutEnd();
    }
    Peak peak = peak(template, depth);
    open.remove(name);
    known.put(name, peak);
    return peak;
  }

  private Peak peak(JsonNode template, int depth) throws UnknownRequestException {
    if (depth > DEEPEST) {
      throw new UnknownRequestException("its templates call each other too deeply");
    }
    PodSpecPatch.check(template);
    Peak peak = Peak.NONE;
    if (template.has("steps")) {
      for (JsonNode group : JsonFields.list(template, "steps")) {
        Sum together = new Sum();
        for (JsonNode step : group.isArray() ? group : List.of(group)) {
          together.add(call(step, depth));
        }
        peak = daemons ? peak.and(together.peak()) : peak.or(together.peak());
      }
    } else if (template.has("dag")) {
      peak = dag(JsonFields.list(template, "dag", "tasks"), depth);
    } else {
      return pod(template);
    }
    JsonNode limit = JsonFields.at(template, "parallelism");
    boolean limited = limit.canConvertToLong() && limit.asLong() > 0 && peak.onePod();
    return (limited ? peak.limited(limit.asLong()) : peak).ofOthers();
  }

  /** The most over all tasks of what a task and all that may run beside it request. */
  private Peak dag(List<JsonNode> tasks, int depth) throws UnknownRequestException {
    TaskOrder order = new TaskOrder(daemons ? List.of() : tasks);
    List<Peak> peaks = new ArrayList<>();
    for (JsonNode task : tasks) {
      peaks.add(call(task, depth));
    }
    if (!order.isKnown()) {
      Sum all = new Sum();
      peaks.forEach(all::add);
      return all.peak();
    }
    Peak most = Peak.NONE;
    for (int i = 0; i < peaks.size(); i++) {
      Sum beside = new Sum();
      for (int j = 0; j < peaks.size(); j++) {
        if (i == j || order.areSideBySide(i, j)) {
          beside.add(peaks.get(j));
        }
      }
      most = most.or(beside.peak());
    }
    return most;
  }

  /**
   * A step or a task: the template that it names, as often as its loop says, and its hooks. What
   * runs at its exit may run beside others, and beside itself in a loop.
   */
  private Peak call(JsonNode call, int depth) throws UnknownRequestException {
    if (call.has("templateRef")) {
      throw new UnknownRequestException("it refers to templates of other objects");
    }
    Peak once =
        call.has("inline")
            ? peak(call.get("inline"), depth + 1)
            : named(JsonFields.text(call, "template"), depth + 1);
    String onExit = JsonFields.text(call, ON_EXIT);
    Peak exit = onExit.isEmpty() ? Peak.NONE : named(onExit, depth + 1);
    Peak peak = once.and(hooks(call, depth)).and(exit);
    JsonNode items = JsonFields.at(call, "withItems");
    if (items.isArray()) {
      return peak.times(items.size());
    }
    JsonNode sequence = JsonFields.at(call, "withSequence");
    if (sequence.isObject()) {
      return sequence(peak, sequence);
    }
    return call.has("withItems") || call.has("withParam") ? peak.withoutEnd() : peak;
  }

  private static Peak sequence(Peak peak, JsonNode sequence) {
    try {
      String count = sequence.path("count").asText();
      long rounds =
          count.isEmpty()
              ? Math.abs(
                      Long.parseLong(sequence.path("end").asText())
                          - Long.parseLong(sequence.path("start").asText("0")))
                  + 1
              : Long.parseLong(count);
      return peak.times(Math.max(0, rounds));
    } catch (NumberFormatException parameter) {
      return peak.withoutEnd();
    }
  }

  /** Templates that run beside a step, a task or the whole Workflow. */
  private Peak hooks(JsonNode holder, int depth) throws UnknownRequestException {
    Sum sum = new Sum();
    for (JsonNode hook : JsonFields.at(holder, "hooks")) {
      sum.add(call(hook, depth));
    }
    return sum.peak();
  }

  /** A template that has a pod of its own; pods without containers of the user request nothing. */
  private Peak pod(JsonNode template) throws UnknownRequestException {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    ArrayNode containers = spec.putArray("containers");
    for (String field : CONTAINERS) {
      if (template.path(field) instanceof ObjectNode container) {
        containers.add(requested(container, defaults.path(field)));
      }
    }
    if (template.has(CONTAINER_SET) && defaults.has(CONTAINER_SET)) {
      throw new UnknownRequestException("templateDefaults change a containerSet");
    }
    for (JsonNode container : JsonFields.list(template, CONTAINER_SET, "containers")) {
      containers.add(requested(container, MissingNode.getInstance()));
    }
    addWithDefaults("sidecars", template, containers);
    addWithDefaults("initContainers", template, spec.putArray("initContainers"));
    long[] amounts = inOrder(PodTemplateParser.requests(spec, UnaryOperator.identity()));
    return new Peak(amounts, amounts, false, true);
  }

  /** The containers of a list, and those that the defaults have under the same or another name. */
  private void addWithDefaults(String field, JsonNode template, ArrayNode containers)
      throws UnknownRequestException {
    Map<String, JsonNode> given = new LinkedHashMap<>();
    JsonFields.list(defaults, field)
        .forEach(container -> given.put(JsonFields.text(container, "name"), container));
    if (given.size() > MOST_DEFAULTS) {
      throw new UnknownRequestException("templateDefaults have too many " + field);
    }
    for (JsonNode own : JsonFields.list(template, field)) {
      JsonNode before = given.remove(JsonFields.text(own, "name"));
      containers.add(requested(own, before == null ? MissingNode.getInstance() : before));
    }
    for (JsonNode other : given.values()) {
      containers.add(requested(JsonNodeFactory.instance.objectNode(), other));
    }
  }

  /**
   * A container with its limits as the requests that it doesn't have, and nothing else of it.
   *
   * @param defaults the container of the template's defaults, which all templates share
   */
  private static ObjectNode requested(JsonNode container, JsonNode defaults)
      throws UnknownRequestException {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    String restart = JsonFields.text(container, "restartPolicy");
    result.put(
        "restartPolicy", restart.isEmpty() ? JsonFields.text(defaults, "restartPolicy") : restart);
    ObjectNode requests = amounts(container, defaults, "requests");
    JsonFields.fill(requests, amounts(container, defaults, "limits"));
    WorkflowRequests.amounts(requests);
    result.putObject("resources").set("requests", requests);
    return result;
  }

  private static ObjectNode amounts(JsonNode container, JsonNode defaults, String field)
      throws UnknownRequestException {
    JsonNode shared = defaults.path("resources").path(field);
    if (shared.size() > MOST_RESOURCES
        || shared.valueStream().anyMatch(each -> each.asText().length() > LONGEST_AMOUNT)) {
      throw new UnknownRequestException("templateDefaults request too many resources");
    }
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    shared
        .properties()
        .forEach(each -> result.set(each.getKey(), TextNode.valueOf(each.getValue().asText())));
    JsonNode own = container.path("resources").path(field);
    own.properties()
        .forEach(
            each -> {
              if (each.getValue().isNull()) {
                result.remove(each.getKey());
              } else {
                result.set(each.getKey(), each.getValue());
              }
            });
    return result;
  }

  /**
   * Patches of pod specs in a Workflow: those that could change what its pods request are refused.
   */
  private static final class PodSpecPatch {

    private static final String FIELD = "podSpecPatch";

    /** A longer patch isn't read. */
    private static final int LONGEST = 64 * 1024;

    /** Fields, at any depth of a pod spec, that change what the pod requests. */
    private static final List<String> AMOUNTS =
        List.of("resources", "overhead", "runtimeClassName", "resourceClaims");

    /**
     * A parameter, and what YAML calls anchors, aliases and tags: the text isn't what Argo reads.
     */
    private static final List<String> INDIRECT = List.of("{{", "&", "*", "!");

    private PodSpecPatch() {}

    /**
     * Reads the patch of a Workflow's spec or of a template, if it has one.
     *
     * @throws UnknownRequestException if the patch changes what pods request, or could
     */
    static void check(JsonNode holder) throws UnknownRequestException {
      String patch = JsonFields.text(holder, FIELD);
      if (patch.isEmpty()) {
        return;
      }
      if (patch.length() > LONGEST || INDIRECT.stream().anyMatch(patch::contains)) {
        throw new UnknownRequestException(FIELD + " can't be read before the pods are made");
      }
      try {
        check(JsonMappers.STRICT_YAML.readTree(patch), 0);
      } catch (JsonProcessingException e) {
        throw new UnknownRequestException(FIELD + " can't be read");
      }
    }

    /** Argo takes the names of fields in any case. */
    private static void check(JsonNode node, int depth) throws UnknownRequestException {
      for (Map.Entry<String, JsonNode> field : node.properties()) {
        if (AMOUNTS.stream().anyMatch(field.getKey()::equalsIgnoreCase)) {
          throw new UnknownRequestException(FIELD + " changes " + field.getKey());
        }
      }
      if (depth > 50) {
        throw new UnknownRequestException(FIELD + " is nested too deeply");
      }
      for (JsonNode child : node) {
        check(child, depth + 1);
      }
    }
  }

  /** Which tasks of a DAG can't run side by side, because one waits for the end of the other. */
  private static final class TaskOrder {

    /** Of more tasks the order isn't followed: that would take too long for each reading. */
    private static final int MOST = 500;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_-]*");

    /** Expressions that can be true before all tasks that they name have ended. */
    private static final Pattern EARLY = Pattern.compile("\\|\\||!|Any|Daemoned");

    private final boolean known;

    /** By task: those that end before it begins. */
    private final List<BitSet> before = new ArrayList<>();

    TaskOrder(List<JsonNode> tasks) {
      known = !tasks.isEmpty() && tasks.size() <= MOST;
      if (!known) {
        return;
      }
      Map<String, Integer> places = new HashMap<>();
      for (int i = 0; i < tasks.size(); i++) {
        places.put(JsonFields.text(tasks.get(i), "name"), i);
      }
      for (JsonNode task : tasks) {
        BitSet direct = new BitSet();
        JsonFields.texts(task, "dependencies").forEach(name -> add(direct, places.get(name)));
        String depends = JsonFields.text(task, "depends");
        if (!EARLY.matcher(depends).find()) {
          Matcher names = NAME.matcher(depends);
          while (names.find()) {
            add(direct, places.get(names.group()));
          }
        }
        before.add(direct);
      }
      for (int via = 0; via < tasks.size(); via++) {
        for (BitSet each : before) {
          if (each.get(via)) {
            each.or(before.get(via));
          }
        }
      }
    }

    private static void add(BitSet set, @Nullable Integer place) {
      if (place != null) {
        set.set(place);
      }
    }

    /** Whether anything is known of the order. */
    boolean isKnown() {
      return known;
    }

    /** Whether two tasks may run at the same time. */
    boolean areSideBySide(int one, int other) {
      return !before.get(one).get(other) && !before.get(other).get(one);
    }
  }
}
