package dev.sluice.app.whatif;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.api.conversion.HubConverter.ConversionException;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.FlavorPrices;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.sluice.BudgetReader;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.forecast.whatif.PlayInput.Happening.DeclarationEvent;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.CohortMapper;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.mapping.MappingResult;
import dev.sluice.queues.mapping.ReferenceLookup;
import dev.sluice.queues.mapping.TopologyMapper;
import dev.sluice.topology.NodeStore;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Declarations in a file, as what the engine is told of them (docs/what-if.md#what-is-changed). */
final class DeclarationFile {

  /** Says that an object doesn't exist. */
  static final String ANNOTATION = "sluice.dev/what-if";

  private static final String REMOVED = "removed";
  private static final long LARGEST = 8L << 20;
  private static final String KINDS =
      "ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Node, Budget,"
          + " WorkloadPriorityClass, List";
  private static final String PRIORITY_CLASS = "WorkloadPriorityClass";

  private static final ReferenceLookup LOOKUP =
      new ReferenceLookup(
          name -> Optional.of(activeCheck(name)),
          _ -> Optional.empty(),
          _ -> true,
          CheckControllers.none());

  private DeclarationFile() {}

  /**
   * A WorkloadPriorityClass.
   *
   * @param value the priority
   * @param rules the rules of preemption of its Workloads
   */
  record PriorityClass(int value, PreemptionRules rules) {}

  /**
   * What is declared.
   *
   * @param events what the engine is told, in order, with the quota that is written down
   * @param priorities WorkloadPriorityClasses, by name
   * @param schedules by what factors the quota of ClusterQueues is multiplied, by name
   * @param annotations of queues; those of a ClusterQueue have an empty namespace
   */
  record Declared(
      List<SchedulerEvent> events,
      Map<String, PriorityClass> priorities,
      Map<String, QuotaSchedule> schedules,
      Map<LocalQueueId, Map<String, String>> annotations) {

    /** Nothing so far. */
    Declared() {
      this(new ArrayList<>(), new TreeMap<>(), new TreeMap<>(), new HashMap<>());
    }

    /** What the engine is told at a time: ClusterQueues have the quota that they have then. */
    List<SchedulerEvent> at(Instant now) {
      return events.stream().map(event -> at(event, now)).toList();
    }

    private SchedulerEvent at(SchedulerEvent event, Instant now) {
      return event instanceof SchedulerEvent.ClusterQueueChanged(var queue)
              && schedules.get(queue.name()) instanceof QuotaSchedule schedule
          ? new SchedulerEvent.ClusterQueueChanged(ClusterQueueMapper.at(queue, schedule, now))
          : event;
    }

    /** What the engine is told when other factors of quota hold, after one time until another. */
    List<DeclarationEvent> later(Instant begin, Instant end) {
      Map<String, SchedulerEvent> queues = new TreeMap<>();
      for (SchedulerEvent event : events) {
        if (event instanceof SchedulerEvent.ClusterQueueChanged(var queue)) {
          queues.put(queue.name(), event);
        } else if (event instanceof SchedulerEvent.ClusterQueueRemoved(var name)) {
          queues.remove(name);
        }
      }
      List<DeclarationEvent> later = new ArrayList<>();
      queues.forEach(
          (name, event) -> {
            QuotaSchedule schedule = schedules.get(name);
            Instant next = schedule == null ? end : schedule.at(begin).until().orElse(end);
            while (schedule != null && next.isBefore(end)) {
              later.add(new DeclarationEvent(next, at(event, next)));
              next = schedule.at(next).until().orElse(end);
            }
          });
      return later;
    }

    /** What is declared, for people. */
    List<String> lines() {
      List<String> lines = new ArrayList<>();
      events.stream()
          // the line of the flavor stands for both
          .filter(event -> !(event instanceof SchedulerEvent.PricesChanged))
          .forEach(event -> lines.add(text(event)));
      priorities.forEach(
          (name, each) -> lines.add(PRIORITY_CLASS + " " + name + ": " + each.value()));
      return lines;
    }
  }

  /**
   * Reads a file of YAML or JSON documents.
   *
   * @throws IOException if it can't be read
   * @throws IllegalArgumentException if it declares something that isn't understood; the message
   *     says which object is wrong and why
   */
  static Declared read(Path file) throws IOException {
    if (Files.size(file) > LARGEST) {
      throw new IllegalArgumentException(file + " is larger than " + LARGEST + " bytes");
    }
    Declared declared = new Declared();
    try (MappingIterator<JsonNode> documents =
        JsonMappers.YAML.readerFor(JsonNode.class).readValues(Files.readAllBytes(file))) {
      while (documents.hasNext()) {
        add(documents.next(), declared);
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(file + ": " + firstLine(e.getOriginalMessage()), e);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(file + ": " + firstLine(e.getMessage()), e);
    }
    return declared;
  }

  private static String firstLine(@Nullable String message) {
    return message == null ? "" : message.lines().findFirst().orElse("");
  }

  /**
   * Adds what an object declares, or those of a list.
   *
   * @throws IllegalArgumentException if it is not understood; the message names it and says why
   */
  static void add(JsonNode document, Declared declared) throws IOException {
    if (document.isNull() || document.isMissingNode()) {
      return;
    }
    if (document.path("kind").asText().equals("List")) {
      for (JsonNode each : document.path("items")) {
        add(each, declared);
      }
      return;
    }
    if (!(document instanceof ObjectNode node)) {
      throw new IllegalArgumentException("a document is no object");
    }
    String name = node.path("metadata").path("name").asText();
    if (name.isEmpty()) {
      throw new IllegalArgumentException("an object has no metadata.name");
    }
    if (node.path("kind").asText().equals(PRIORITY_CLASS)) {
      declared.priorities().put(name, priorityClass(node, name));
      return;
    }
    declared.events().addAll(events(node, name));
    JsonNode metadata = node.path("metadata");
    Map<String, String> annotations = JsonFields.map(metadata, "annotations");
    switch (node.path("kind").asText()) {
      case "ClusterQueue" -> {
        declared.annotations().put(new LocalQueueId("", name), annotations);
        declared.schedules().remove(name);
        QuotaSchedule.of(annotations)
            .ifPresent(schedule -> declared.schedules().put(name, schedule));
      }
      case "LocalQueue" ->
          declared
              .annotations()
              .put(new LocalQueueId(metadata.path("namespace").asText(), name), annotations);
      default -> {}
    }
  }

  private static PriorityClass priorityClass(ObjectNode node, String name) throws IOException {
    String what = PRIORITY_CLASS + " " + name;
    if (node.path("metadata").path("annotations").has(ANNOTATION)) {
      throw new IllegalArgumentException(
          what + ": it can't be taken away; give it the value that its Workloads shall have");
    }
    JsonNode value = hub(node, what).path("value");
    if (!value.canConvertToInt()) {
      throw new IllegalArgumentException(
          "%s: value: %s must be a whole number of 32 bits"
              .formatted(what, value.isMissingNode() ? "nothing" : value));
    }
    Map<String, String> annotations = JsonFields.map(node.path("metadata"), "annotations");
    QueueAnnotations.OfPriorityClass read = QueueAnnotations.ofPriorityClass(annotations);
    QueueAnnotations.sentences(read.faults(), annotations).stream()
        .findFirst()
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException(what + ": " + fault);
            });
    return new PriorityClass(value.intValue(), read.rules());
  }

  /** What the engine is told of an object, and of the prices of a flavor. */
  private static List<SchedulerEvent> events(ObjectNode node, String name) throws IOException {
    SchedulerEvent event = event(node, name);
    return node.path("kind").asText().equals("ResourceFlavor")
        ? List.of(event, new SchedulerEvent.PricesChanged(name, prices(node, event)))
        : List.of(event);
  }

  private static Map<String, BigDecimal> prices(ObjectNode flavor, SchedulerEvent event) {
    FlavorPrices prices =
        event instanceof SchedulerEvent.FlavorChanged
            ? FlavorPrices.of(JsonFields.map(flavor.path("metadata"), "annotations"))
            : FlavorPrices.of(Map.of());
    if (prices.fault().isPresent()) {
      throw new IllegalArgumentException(
          "ResourceFlavor %s: annotation %s: %s; it must be %s"
              .formatted(
                  flavor.at("/metadata/name").asText(),
                  FlavorPrices.ANNOTATION,
                  prices.fault().get(),
                  FlavorPrices.RULE));
    }
    return prices.perHour();
  }

  private static SchedulerEvent event(ObjectNode node, String name) throws IOException {
    String kind = node.path("kind").asText();
    String what = kind + " " + name;
    JsonNode mark = node.path("metadata").path("annotations").path(ANNOTATION);
    if (!mark.isMissingNode() && !mark.asText().equals(REMOVED)) {
      throw new IllegalArgumentException(
          "%s: annotation %s: \"%s\" must be \"%s\""
              .formatted(what, ANNOTATION, mark.asText(), REMOVED));
    }
    boolean removed = !mark.isMissingNode();
    if (kind.equals("Node")) {
      return removed ? new SchedulerEvent.NodeRemoved(name) : node(node);
    }
    if (kind.equals("Budget")) {
      return removed ? new SchedulerEvent.BudgetRemoved(name) : budget(node, name, what);
    }
    ObjectNode hub = hub(node, what);
    return switch (kind) {
      case "ClusterQueue" ->
          removed
              ? new SchedulerEvent.ClusterQueueRemoved(name)
              : clusterQueue(read(hub, ClusterQueue.class), what);
      case "Cohort" ->
          removed ? new SchedulerEvent.CohortRemoved(name) : cohort(read(hub, Cohort.class), what);
      case "LocalQueue" -> {
        if (hub.path("metadata").path("namespace").asText().isEmpty()) {
          throw new IllegalArgumentException(what + " has no metadata.namespace");
        }
        LocalQueue queue = read(hub, LocalQueue.class);
        LocalQueueId id = LocalQueueMapper.id(queue);
        yield removed
            ? new SchedulerEvent.LocalQueueRemoved(id)
            : new SchedulerEvent.LocalQueueChanged(LocalQueueMapper.translate(queue));
      }
      case "ResourceFlavor" ->
          removed
              ? new SchedulerEvent.FlavorRemoved(name)
              : new SchedulerEvent.FlavorChanged(
                  FlavorMapper.translate(read(hub, ResourceFlavor.class)));
      case "Topology" ->
          removed
              ? new SchedulerEvent.TopologyRemoved(name)
              : new SchedulerEvent.TopologyChanged(
                  TopologyMapper.translate(read(hub, Topology.class))
                      .orElseThrow(() -> new IllegalArgumentException(what + " has no levels")));
      default ->
          throw new IllegalArgumentException(
              "kind \"%s\" of %s is none of %s".formatted(kind, name, KINDS));
    };
  }

  /** A Budget; one that is there already goes on with what was spent of it. */
  private static SchedulerEvent budget(ObjectNode node, String name, String what) {
    String version = node.path("apiVersion").asText();
    if (!version.equals(ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION)) {
      throw new IllegalArgumentException(
          "%s: apiVersion \"%s\" must be %s/%s"
              .formatted(what, version, ApiVersions.SLUICE_GROUP, ApiVersions.SLUICE_VERSION));
    }
    BudgetReader.Reading read = BudgetReader.read(name, node.path("spec"));
    return read.budget()
        .map(budget -> new SchedulerEvent.BudgetChanged(budget, Optional.empty()))
        .orElseThrow(() -> new IllegalArgumentException(what + ": " + read.faults().getFirst()));
  }

  private static ObjectNode hub(ObjectNode node, String what) throws IOException {
    String version = node.path("apiVersion").asText();
    if (!version.startsWith(ApiVersions.GROUP + "/")) {
      throw new IllegalArgumentException(
          "%s: apiVersion \"%s\" is none of %s".formatted(what, version, ApiVersions.GROUP));
    }
    if (version.equals(ApiVersions.GROUP + "/" + ApiVersions.V1BETA2)) {
      return node;
    }
    try {
      return new HubConverter().convert(node, ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
    } catch (ConversionException e) {
      throw new IllegalArgumentException(what + ": " + e.getMessage(), e);
    }
  }

  private static <T> T read(ObjectNode node, Class<T> type) throws JsonProcessingException {
    try {
      return JsonMappers.JSON.treeToValue(node, type);
    } catch (JsonMappingException e) {
      StringBuilder field = new StringBuilder();
      for (JsonMappingException.Reference each : e.getPath()) {
        String name = each.getFieldName();
        field.append(name == null ? "[" + each.getIndex() + "]" : "." + name);
      }
      throw new IllegalArgumentException(
          "%s %s: %s: %s"
              .formatted(
                  node.path("kind").asText(),
                  node.path("metadata").path("name").asText(),
                  field.length() == 0 ? field : field.substring(1),
                  firstLine(e.getOriginalMessage())),
          e);
    }
  }

  private static SchedulerEvent clusterQueue(ClusterQueue queue, String what) throws IOException {
    ClusterQueueSpec spec = ClusterQueueMapper.translate(queue, LOOKUP);
    if (!spec.problems().isEmpty()) {
      throw new IllegalArgumentException(what + ": " + spec.problems().getFirst().message());
    }
    return new SchedulerEvent.ClusterQueueChanged(spec);
  }

  private static SchedulerEvent cohort(Cohort cohort, String what) throws IOException {
    MappingResult<CohortSpec> result = CohortMapper.translate(cohort);
    if (!result.faults().isEmpty()) {
      throw new IllegalArgumentException(what + ": " + result.faults().getFirst());
    }
    return new SchedulerEvent.CohortChanged(result.value());
  }

  private static SchedulerEvent node(ObjectNode node) throws IOException {
    byte[] bytes = node.toString().getBytes(StandardCharsets.UTF_8);
    return new SchedulerEvent.NodeChanged(
        new NodeStore(_ -> {}, (_, _) -> {}).parse(bytes, 0, bytes.length).node());
  }

  /** Checks are taken for active: what they take is a part of how long Workloads had quota. */
  private static AdmissionCheck activeCheck(String name) {
    AdmissionCheck check = new AdmissionCheck();
    check.setMetadata(new ObjectMetaBuilder().withName(name).build());
    check.setSpec(new AdmissionCheck.AdmissionCheckSpec("", null));
    check.setStatus(
        new AdmissionCheck.AdmissionCheckStatus(
            List.of(new ConditionBuilder().withType("Active").withStatus("True").build())));
    return check;
  }

  /** What an event is about, for people. */
  private static String text(SchedulerEvent event) {
    return switch (event) {
      case SchedulerEvent.ClusterQueueChanged(var queue) -> "ClusterQueue " + queue.name();
      case SchedulerEvent.ClusterQueueRemoved(var name) -> "ClusterQueue " + name + " removed";
      case SchedulerEvent.CohortChanged(var cohort) -> "Cohort " + cohort.name();
      case SchedulerEvent.CohortRemoved(var name) -> "Cohort " + name + " removed";
      case SchedulerEvent.LocalQueueChanged(var queue) -> "LocalQueue " + queue.id();
      case SchedulerEvent.LocalQueueRemoved(var id) -> "LocalQueue " + id + " removed";
      case SchedulerEvent.FlavorChanged(var flavor) -> "ResourceFlavor " + flavor.name();
      case SchedulerEvent.FlavorRemoved(var name) -> "ResourceFlavor " + name + " removed";
      case SchedulerEvent.TopologyChanged(var topology) -> "Topology " + topology.name();
      case SchedulerEvent.TopologyRemoved(var name) -> "Topology " + name + " removed";
      case SchedulerEvent.NodeChanged(var node) -> "Node " + node.name();
      case SchedulerEvent.NodeRemoved(var name) -> "Node " + name + " removed";
      case SchedulerEvent.BudgetChanged(var budget, var _) -> "Budget " + budget.name();
      case SchedulerEvent.BudgetRemoved(var name) -> "Budget " + name + " removed";
      default -> event.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    };
  }
}
