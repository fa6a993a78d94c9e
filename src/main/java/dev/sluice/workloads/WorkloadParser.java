package dev.sluice.workloads;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import dev.sluice.api.reading.GuardedReading;
import dev.sluice.model.WorkloadId;
import dev.sluice.workloads.Workload.Owner;
import dev.sluice.workloads.Workload.PodSet;
import dev.sluice.workloads.Workload.PriorityClassRef;
import dev.sluice.workloads.Workload.Spec;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads Workload objects of the API server into slim records, off the stream of tokens; what nobody
 * looks at is skipped. Texts, templates and specs alike are shared. Usable from any thread.
 */
public final class WorkloadParser {

  private static final String OUR_KEYS = "kueue.x-k8s.io/";
  private static final String MORE_OF_OUR_KEYS = "sluice.dev/";

  private final JsonFactory json = GuardedReading.json();
  private final Words words = new Words();
  private final TemplateCache templates = new TemplateCache();
  private final Shared<Spec> specs = new Shared<>();

  /**
   * The Workload written in {@code bytes}, as a JSON object.
   *
   * @throws IOException if it is not JSON
   */
  public Workload parse(byte[] bytes, int offset, int length) throws IOException {
    try (JsonParser parser = json.createParser(bytes, offset, length)) {
      parser.nextToken();
      return new Reading(new Tokens(parser, words), bytes, offset).workload();
    }
  }

  /**
   * The Workload written in {@code bytes}.
   *
   * @throws IOException if it is not JSON
   */
  public Workload parse(byte[] bytes) throws IOException {
    return parse(bytes, 0, bytes.length);
  }

  /** The reading of one object. */
  private final class Reading {

    private final Tokens tokens;
    private final byte[] bytes;
    private final int offset;

    private String uid = "";
    private String namespace = "";
    private String name = "";
    private long version;
    private long generation;
    private Instant createdAt = Instant.EPOCH;
    private boolean deleting;
    private List<String> finalizers = List.of();
    private boolean owned;
    private Optional<Owner> owner = Optional.empty();
    private List<Owner> coOwners = List.of();
    private Map<String, String> labels = Map.of();
    private Map<String, String> annotations = Map.of();

    private String queueName = "";
    private List<PodSet> podSets = List.of();
    private int priority;
    private Optional<PriorityClassRef> priorityClass = Optional.empty();
    private boolean active = true;
    private int maximumExecutionTimeSeconds;
    private List<String> preemptionGates = List.of();
    private Workload.Status status = Workload.Status.NEW;

    Reading(Tokens tokens, byte[] bytes, int offset) {
      this.tokens = tokens;
      this.bytes = bytes;
      this.offset = offset;
    }

    Workload workload() throws IOException {
      tokens.object(
          field -> {
            switch (field) {
              case "metadata" -> tokens.object(this::metadata);
              case "spec" -> tokens.object(this::spec);
              case "status" -> status = StatusReading.of(tokens);
              default -> {}
            }
          });
      Spec spec =
          new Spec(
              queueName,
              podSets,
              priority,
              priorityClass,
              active,
              maximumExecutionTimeSeconds,
              preemptionGates);
      return new Workload(
          new WorkloadId(uid, namespace, name),
          version,
          generation,
          createdAt,
          deleting,
          finalizers,
          owned,
          owner,
          coOwners,
          labels,
          annotations,
          specs.of(spec),
          status);
    }

    private void metadata(String field) throws IOException {
      switch (field) {
        case "uid" -> uid = tokens.text();
        case "namespace" -> namespace = tokens.word();
        case "name" -> name = tokens.text();
        case "resourceVersion" -> version = tokens.version();
        case "generation" -> generation = tokens.longNumber();
        case "creationTimestamp" -> createdAt = tokens.instant();
        case "deletionTimestamp" -> deleting = !tokens.text().isEmpty();
        case "finalizers" -> finalizers = tokens.list(tokens::word);
        case "ownerReferences" -> ownerReferences();
        case "labels" -> labels = ours();
        case "annotations" -> annotations = ours();
        default -> {}
      }
    }

    private void ownerReferences() throws IOException {
      List<Optional<Owner>> others = tokens.list(this::ownerReference);
      owned = !others.isEmpty();
      coOwners = others.stream().flatMap(Optional::stream).toList();
    }

    /** One that controls it is noted apart. */
    private Optional<Owner> ownerReference() throws IOException {
      String[] texts = {"", "", "", ""};
      boolean[] controller = {false};
      tokens.object(
          field -> {
            switch (field) {
              case "apiVersion" -> texts[0] = tokens.word();
              case "kind" -> texts[1] = tokens.word();
              case "name" -> texts[2] = tokens.text();
              case "uid" -> texts[3] = tokens.text();
              case "controller" -> controller[0] = tokens.parser().getValueAsBoolean();
              default -> {}
            }
          });
      Owner read = new Owner(texts[0], texts[1], texts[2], texts[3]);
      if (controller[0]) {
        owner = Optional.of(read);
        return Optional.empty();
      }
      return Optional.of(read);
    }

    private Map<String, String> ours() throws IOException {
      Map<String, String> result = new HashMap<>(4);
      tokens.object(
          key -> {
            if (key.contains(OUR_KEYS) || key.startsWith(MORE_OF_OUR_KEYS)) {
              result.put(key, tokens.text());
            }
          });
      return Map.copyOf(result);
    }

    private void spec(String field) throws IOException {
      switch (field) {
        case "queueName" -> queueName = tokens.word();
        case "podSets" -> podSets = tokens.list(this::podSet);
        case "priority" -> priority = tokens.number(0);
        case "priorityClassRef" -> priorityClass = Optional.of(priorityClassRef());
        case "active" -> active = tokens.parser().getValueAsBoolean(true);
        case "preemptionGates" -> preemptionGates = tokens.list(this::named);
        case "maximumExecutionTimeSeconds" -> maximumExecutionTimeSeconds = tokens.number(0);
        default -> {}
      }
    }

    private String named() throws IOException {
      String[] name = {""};
      tokens.object(
          field -> {
            if (field.equals("name")) {
              name[0] = tokens.word();
            }
          });
      return name[0];
    }

    private PriorityClassRef priorityClassRef() throws IOException {
      String[] texts = {"", "", ""};
      tokens.object(
          field -> {
            switch (field) {
              case "group" -> texts[0] = tokens.word();
              case "kind" -> texts[1] = tokens.word();
              case "name" -> texts[2] = tokens.word();
              default -> {}
            }
          });
      return new PriorityClassRef(texts[0], texts[1], texts[2]);
    }

    private PodSet podSet() throws IOException {
      PodSetReading podSet = new PodSetReading(tokens);
      tokens.object(
          field -> {
            if (field.equals("template")) {
              podSet.template(template());
            } else {
              podSet.read(field);
            }
          });
      return podSet.result();
    }

    private PodTemplate template() throws IOException {
      JsonParser parser = tokens.parser();
      int from = offset + (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      int to = offset + (int) parser.currentLocation().getByteOffset();
      return templates.of(bytes, from, to);
    }
  }
}
