package dev.sluice.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.net.URLEncoder;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What the dashboard doesn't hold in memory: events, pods and text of a Workload, and the nodes of
 * a flavor. They are read when a user asks for them, with the token that he has shown, so that the
 * API server decides what he may read. A part that can't be read says why, and the others are
 * shown.
 */
final class ClusterDocument {

  private static final int MOST_EVENTS = 100;
  private static final int MOST_PODS = 50;
  private static final int MOST_LOOKED_AT = 500;
  private static final int MOST_NODES = 200;
  private static final int LONGEST_MESSAGE = 1_024;
  private static final int LONGEST_YAML = 256 * 1_024;
  private static final String ERROR = "error";
  private static final String ITEMS = "items";
  private static final String METADATA = "metadata";
  private static final String NAME = "name";
  private static final String STATUS = "status";
  private static final String MESSAGE = "message";

  /** Writes as kubectl does, with quotes only where a text would be read as something else. */
  private static final ObjectMapper PLAIN =
      new ObjectMapper(
          YAMLFactory.builder()
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
              .build());

  private final BiFunction<String, String, CompletableFuture<ApiOutcome>> reads;
  private final InstantSource clock;

  /**
   * Creates a reader.
   *
   * @param reads reads what is at a path, with a token
   */
  ClusterDocument(
      BiFunction<String, String, CompletableFuture<ApiOutcome>> reads, InstantSource clock) {
    this.reads = reads;
    this.clock = clock;
  }

  /** Which pods of a namespace are those of a Workload. */
  private record Pods(String query, Predicate<JsonNode> filter) {

    static Pods of(CachedWorkload workload) {
      List<Owner> pods = workload.owners().filter(Owner::isPod).toList();
      String job = workload.owner().map(Owner::uid).orElse("");
      if (pods.size() == 1) {
        return new Pods(
            "fieldSelector=" + encoded("metadata.name=" + pods.getFirst().name()), pod -> true);
      }
      if (!pods.isEmpty()) {
        List<String> uids = pods.stream().map(Owner::uid).toList();
        return selected(
            KueueConstants.MANAGED + "=true",
            pod -> uids.contains(JsonFields.text(pod, METADATA, "uid")));
      }
      return selected(
          KueueConstants.PODSET,
          pod ->
              JsonFields.annotations(pod)
                      .getOrDefault(KueueConstants.WORKLOAD, "")
                      .equals(workload.id().name())
                  || pod.at("/metadata/ownerReferences")
                      .valueStream()
                      .anyMatch(owner -> owner.path("uid").asText("").equals(job)));
    }

    private static Pods selected(String labels, Predicate<JsonNode> filter) {
      return new Pods("labelSelector=" + encoded(labels), filter);
    }
  }

  /** Events, pods and text of a Workload; blocks until the API server has answered. */
  ObjectNode ofWorkload(CachedWorkload workload, String token) {
    String namespace = encoded(workload.id().namespace());
    String events = "/apis/events.k8s.io/v1/namespaces/" + namespace + "/events?limit=100";
    Pods pods = Pods.of(workload);
    var object =
        reads.apply(
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/"
                + namespace
                + "/workloads/"
                + encoded(workload.id().name()),
            token);
    var itsEvents = reads.apply(events + "&fieldSelector=" + regarding(workload.id().uid()), token);
    var eventsOfJob =
        workload
            .owner()
            .map(job -> reads.apply(events + "&fieldSelector=" + regarding(job.uid()), token));
    var itsPods =
        reads.apply(
            "/api/v1/namespaces/"
                + namespace
                + "/pods?limit="
                + MOST_LOOKED_AT
                + "&"
                + pods.query(),
            token);
    ObjectNode document = begun();
    List<ApiOutcome> told = new ArrayList<>(List.of(itsEvents.join()));
    eventsOfJob.ifPresent(asked -> told.add(asked.join()));
    events(document.putObject("events"), told);
    pods(document.putObject("pods"), itsPods.join(), pods.filter());
    text(document.putObject("object"), object.join());
    return document;
  }

  /** The nodes with the labels of a flavor; all nodes if it has none. */
  ObjectNode ofNodes(Map<String, String> labels, String token) {
    String selector =
        labels.entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .sorted()
            .collect(Collectors.joining(","));
    ObjectNode document = begun();
    document.put("selector", selector);
    ApiOutcome nodes =
        reads
            .apply(
                "/api/v1/nodes?limit=" + MOST_NODES + "&labelSelector=" + encoded(selector), token)
            .join();
    Optional<JsonNode> list = read(document, nodes, "list nodes");
    list.ifPresent(
        found -> {
          ArrayNode items = document.putArray(ITEMS);
          found.path(ITEMS).forEach(node -> node(items.addObject(), node));
          document.put("more", found.at("/metadata/remainingItemCount").asLong());
        });
    return document;
  }

  private ObjectNode begun() {
    return JsonMappers.JSON.createObjectNode().put("at", clock.instant().toString());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  private static String regarding(String uid) {
    return encoded("regarding.uid=" + uid);
  }

  /** The JSON object of an answer; where there is none, the document says why. */
  static Optional<JsonNode> read(ObjectNode document, ApiOutcome outcome, String verb) {
    String why =
        switch (outcome) {
          case ApiOutcome.Written written -> {
            try {
              yield written.object().isEmpty() ? "the API server answered nothing" : "";
            } catch (IllegalStateException notJson) {
              yield String.valueOf(notJson.getMessage());
            }
          }
          case ApiOutcome.Gone _ -> "it does not exist any more";
          case ApiOutcome.Conflict conflict -> conflict.message();
          case ApiOutcome.Refused refused ->
              refused.code() == 403
                  ? "you may not " + verb + " here"
                  : "the API server refuses: " + refused.message();
          case ApiOutcome.Unreachable unreachable when unreachable.code() == 401 ->
              "the API server does not know your token";
          case ApiOutcome.Unreachable unreachable ->
              "the API server does not answer: " + unreachable.message();
        };
    if (why.isEmpty() && outcome instanceof ApiOutcome.Written written) {
      return Optional.of(written.object());
    }
    document.put(ERROR, TextLimits.shown(why, LONGEST_MESSAGE));
    return Optional.empty();
  }

  private static void events(ObjectNode part, List<ApiOutcome> outcomes) {
    List<JsonNode> events = new ArrayList<>();
    for (ApiOutcome outcome : outcomes) {
      read(part, outcome, "list events").ifPresent(list -> list.path(ITEMS).forEach(events::add));
    }
    if (part.has(ERROR) && events.isEmpty()) {
      return;
    }
    ArrayNode items = part.putArray(ITEMS);
    events.stream()
        .sorted(Comparator.comparing(ClusterDocument::time).reversed())
        .limit(MOST_EVENTS)
        .forEach(
            event ->
                items
                    .addObject()
                    .put("at", time(event))
                    .put("kind", JsonFields.text(event, "regarding", "kind"))
                    .put("type", JsonFields.text(event, "type"))
                    .put("reason", JsonFields.text(event, "reason"))
                    .put("note", shown(JsonFields.text(event, "note")))
                    .put(
                        "count",
                        Math.max(
                            1,
                            Math.max(
                                event.at("/series/count").asInt(),
                                event.path("deprecatedCount").asInt()))));
  }

  /** When an event was seen last, by whichever field its writer has filled. */
  private static String time(JsonNode event) {
    for (String field :
        List.of(
            "/series/lastObservedTime",
            "/deprecatedLastTimestamp",
            "/eventTime",
            "/metadata/creationTimestamp")) {
      String at = event.at(field).asText("");
      if (!at.isEmpty() && !at.equals("null")) {
        return at;
      }
    }
    return "";
  }

  private static void pods(ObjectNode part, ApiOutcome outcome, Predicate<JsonNode> filter) {
    Optional<JsonNode> list = read(part, outcome, "list pods");
    if (list.isEmpty()) {
      return;
    }
    List<JsonNode> pods = list.get().path(ITEMS).valueStream().filter(filter).toList();
    ArrayNode items = part.putArray(ITEMS);
    pods.stream().limit(MOST_PODS).forEach(pod -> pod(items.addObject(), pod));
    part.put("more", Math.max(0, pods.size() - MOST_PODS));
    part.put("unseen", list.get().at("/metadata/remainingItemCount").asLong());
  }

  private static void pod(ObjectNode node, JsonNode pod) {
    List<JsonNode> containers = pod.at("/status/containerStatuses").valueStream().toList();
    JsonNode waiting =
        containers.stream()
            .map(container -> container.at("/state/waiting"))
            .filter(state -> state.has("reason"))
            .findFirst()
            .orElse(pod.at("/status/none"));
    String message =
        List.of(
                JsonFields.text(waiting, MESSAGE),
                JsonFields.text(pod, STATUS, MESSAGE),
                condition(pod, "PodScheduled"))
            .stream()
            .filter(text -> !text.isEmpty())
            .findFirst()
            .orElse("");
    String state =
        pod.at("/metadata/deletionTimestamp").isTextual()
            ? "Terminating"
            : List.of(
                    JsonFields.text(waiting, "reason"),
                    JsonFields.text(pod, STATUS, "reason"),
                    JsonFields.text(pod, STATUS, "phase"))
                .stream()
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse("");
    node.put(NAME, JsonFields.text(pod, METADATA, NAME))
        .put("podSet", JsonFields.labels(pod).getOrDefault(KueueConstants.PODSET, ""))
        .put("state", state)
        .put("node", JsonFields.text(pod, "spec", "nodeName"))
        .put("ready", containers.stream().filter(it -> it.path("ready").asBoolean()).count())
        .put("containers", pod.at("/spec/containers").size())
        .put("restarts", containers.stream().mapToInt(it -> it.path("restartCount").asInt()).sum())
        .put("created", JsonFields.text(pod, METADATA, "creationTimestamp"))
        .put(MESSAGE, shown(message));
  }

  /** The message of a condition that doesn't hold. */
  private static String condition(JsonNode pod, String type) {
    return pod.at("/status/conditions")
        .valueStream()
        .filter(each -> each.path("type").asText().equals(type))
        .filter(each -> each.path(STATUS).asText().equals("False"))
        .map(each -> each.path(MESSAGE).asText(""))
        .findFirst()
        .orElse("");
  }

  private static void node(ObjectNode item, JsonNode node) {
    item.put(NAME, JsonFields.text(node, METADATA, NAME));
    item.put(
        "ready",
        node.at("/status/conditions")
            .valueStream()
            .anyMatch(
                each ->
                    each.path("type").asText().equals("Ready")
                        && each.path(STATUS).asText().equals("True")));
    item.put("cordoned", node.at("/spec/unschedulable").asBoolean());
    item.put("created", JsonFields.text(node, METADATA, "creationTimestamp"));
  }

  private static String shown(String text) {
    return TextLimits.shown(text, LONGEST_MESSAGE);
  }

  private static void text(ObjectNode part, ApiOutcome outcome) {
    read(part, outcome, "get this Workload")
        .ifPresent(
            object -> {
              if (object.path(METADATA) instanceof ObjectNode metadata) {
                metadata.remove("managedFields");
              }
              try {
                part.put("yaml", TextLimits.shown(PLAIN.writeValueAsString(object), LONGEST_YAML));
              } catch (JsonProcessingException e) {
                throw new IllegalStateException("a tree can be written", e);
              }
            });
  }
}
