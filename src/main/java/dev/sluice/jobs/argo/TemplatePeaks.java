package dev.sluice.jobs.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.jobs.argo.WorkflowRequests.UnknownRequestException;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.workload.PodTemplateParser;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongBinaryOperator;

/**
 * The most that the pods of a Workflow can request at a time, from the templates in its spec: steps
 * follow each other, the steps of a group and the tasks of a DAG run side by side as far as
 * dependencies let them, a loop runs all its items at once, and {@code parallelism} limits how many
 * pods there are. Used once for one Workflow.
 */
final class TemplatePeaks {

  private static final int DEEPEST = 50;
  private static final String ON_EXIT = "onExit";
  private static final String CONTAINER_SET = "containerSet";

  /** Templates that run a pod of their own, and where its main container is. */
  private static final List<String> CONTAINERS = List.of("container", "script");

  private final Map<String, JsonNode> templates = new HashMap<>();
  private final Map<String, Peak> known = new HashMap<>();
  private final Set<String> open = new HashSet<>();
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
   * What runs at most at a time.
   *
   * @param amounts what it requests; of one round where a loop has an unknown number of rounds
   * @param largest what one of its pods requests at most
   * @param endless whether the number of pods is unknown
   * @param onePod whether it is one pod, and not made of other templates
   */
  private record Peak(
      SortedMap<String, Long> amounts,
      SortedMap<String, Long> largest,
      boolean endless,
      boolean onePod) {

    private static final Peak NONE = new Peak(new TreeMap<>(), new TreeMap<>(), false, true);

    private Peak with(Peak other, LongBinaryOperator operator) {
      return new Peak(
          merged(amounts, other.amounts, operator),
          merged(largest, other.largest, Math::max),
          endless || other.endless,
          onePod && other.onePod);
    }

    private Peak and(Peak other) {
      return with(other, ResourceAmounts::add);
    }

    private Peak or(Peak other) {
      return with(other, Math::max);
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
      SortedMap<String, Long> most = multiplied(largest, pods);
      return new Peak(endless ? most : merged(amounts, most, Math::min), largest, false, onePod);
    }

    private static SortedMap<String, Long> multiplied(Map<String, Long> amounts, long count) {
      SortedMap<String, Long> result = new TreeMap<>();
      amounts.forEach((name, amount) -> result.put(name, ResourceAmounts.multiply(amount, count)));
      return result;
    }

    private static SortedMap<String, Long> merged(
        Map<String, Long> one, Map<String, Long> other, LongBinaryOperator operator) {
      SortedMap<String, Long> result = new TreeMap<>(one);
      other.forEach((name, amount) -> result.putIfAbsent(name, 0L));
      result.replaceAll(
          (name, amount) -> operator.applyAsLong(amount, other.getOrDefault(name, 0L)));
      return result;
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
    return peak.amounts();
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
        Peak together = Peak.NONE;
        for (JsonNode step : group.isArray() ? group : List.of(group)) {
          together = together.and(call(step, depth));
        }
        peak = daemons ? peak.and(together) : peak.or(together);
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
    Peak all = Peak.NONE;
    for (JsonNode task : tasks) {
      peaks.add(call(task, depth));
      all = all.and(peaks.getLast());
    }
    if (!order.isKnown()) {
      return all;
    }
    Peak most = Peak.NONE;
    for (int i = 0; i < peaks.size(); i++) {
      Peak beside = Peak.NONE;
      for (int j = 0; j < peaks.size(); j++) {
        beside = i == j || order.areSideBySide(i, j) ? beside.and(peaks.get(j)) : beside;
      }
      most = most.or(beside);
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
    Peak peak = Peak.NONE;
    for (JsonNode hook : JsonFields.at(holder, "hooks")) {
      peak = peak.and(call(hook, depth));
    }
    return peak;
  }

  /** A template that has a pod of its own; pods without containers of the user request nothing. */
  private Peak pod(JsonNode template) throws UnknownRequestException {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    ArrayNode containers = spec.putArray("containers");
    for (String field : CONTAINERS) {
      if (template.path(field) instanceof ObjectNode container) {
        containers.add(requested(withDefaults(field, container)));
      }
    }
    if (template.has(CONTAINER_SET) && defaults.has(CONTAINER_SET)) {
      throw new UnknownRequestException("templateDefaults change a containerSet");
    }
    for (JsonNode container : JsonFields.list(template, CONTAINER_SET, "containers")) {
      containers.add(requested(container));
    }
    for (JsonNode sidecar : withDefaults("sidecars", template)) {
      containers.add(requested(sidecar));
    }
    ArrayNode first = spec.putArray("initContainers");
    for (JsonNode container : withDefaults("initContainers", template)) {
      first.add(requested(container));
    }
    SortedMap<String, Long> amounts = PodTemplateParser.requests(spec);
    return new Peak(amounts, amounts, false, true);
  }

  /** The containers of a list, and those that the defaults have under the same or another name. */
  private List<JsonNode> withDefaults(String field, JsonNode template) {
    Map<String, JsonNode> given = new HashMap<>();
    JsonFields.list(defaults, field)
        .forEach(container -> given.put(JsonFields.text(container, "name"), container));
    List<JsonNode> result = new ArrayList<>();
    for (JsonNode own : JsonFields.list(template, field)) {
      JsonNode before = given.remove(JsonFields.text(own, "name"));
      result.add(
          before instanceof ObjectNode object && own instanceof ObjectNode container
              ? JsonMergePatch.applied(object, container)
              : own);
    }
    result.addAll(given.values());
    return result;
  }

  private ObjectNode withDefaults(String field, ObjectNode container) {
    return defaults.path(field) instanceof ObjectNode given
        ? JsonMergePatch.applied(given, container)
        : container;
  }

  /** A container with its limits as the requests that it doesn't have. */
  private static ObjectNode requested(JsonNode container) throws UnknownRequestException {
    ObjectNode result = JsonFields.object(container).deepCopy();
    ObjectNode resources = JsonFields.child(result, "resources");
    ObjectNode requests = JsonFields.child(resources, "requests");
    JsonFields.fill(requests, JsonFields.object(resources.path("limits")));
    WorkflowRequests.amounts(requests);
    return result;
  }
}
