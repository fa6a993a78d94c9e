package dev.sluice.workload.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.core.model.MapCopies;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.json.JsonTokenReader;
import dev.sluice.kube.json.JsonTokenReader.StringInterner;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.CachedWorkload.PriorityClassRef;
import dev.sluice.workload.record.CachedWorkload.RankedTopologyRequest;
import dev.sluice.workload.record.CachedWorkload.Spec;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses Workload objects of the API server into compact records, from a stream of tokens; unused
 * fields are skipped. Strings, templates and specs are shared between equal objects. Usable from
 * any thread.
 */
public final class WorkloadParser {

  private static final String OUR_KEYS = "kueue.x-k8s.io/";
  private static final String MORE_OF_OUR_KEYS = "sluice.dev/";

  private final JsonFactory json = TolerantDeserializers.json();
  private final StringInterner stringInterner = new StringInterner();
  private final TemplateCache templates = new TemplateCache();
  private final WeakInterner<Spec> specs = new WeakInterner<>();
  private final Set<String> furtherKeys;
  private final boolean keepsLabels;

  /** A parser that keeps of labels and annotations those of this project's names. */
  public WorkloadParser() {
    this(Set.of(), false);
  }

  /**
   * A parser that keeps labels and annotations with these keys, too.
   *
   * @param keepsLabels whether it keeps all labels, as rules that come later may ask for any
   */
  public WorkloadParser(Set<String> furtherKeys, boolean keepsLabels) {
    this.furtherKeys = Set.copyOf(furtherKeys);
    this.keepsLabels = keepsLabels;
  }

  /**
   * The Workload written in {@code bytes}, as a JSON object.
   *
   * @throws IOException if it is not JSON
   */
  public CachedWorkload parse(byte[] bytes, int offset, int length) throws IOException {
    try (JsonParser parser = json.createParser(bytes, offset, length)) {
      parser.nextToken();
      return new Reading(new JsonTokenReader(parser, stringInterner), bytes, offset).workload();
    }
  }

  /**
   * The Workload written in {@code bytes}.
   *
   * @throws IOException if it is not JSON
   */
  public CachedWorkload parse(byte[] bytes) throws IOException {
    return parse(bytes, 0, bytes.length);
  }

  /** Parses one object. */
  private final class Reading {

    private final JsonTokenReader jsonTokenReader;
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
    private Optional<StatusParser> status = Optional.empty();

    Reading(JsonTokenReader jsonTokenReader, byte[] bytes, int offset) {
      this.jsonTokenReader = jsonTokenReader;
      this.bytes = bytes;
      this.offset = offset;
    }

    CachedWorkload workload() throws IOException {
      jsonTokenReader.object(
          field -> {
            switch (field) {
              case "metadata" -> jsonTokenReader.object(this::metadata);
              case "spec" -> jsonTokenReader.object(this::spec);
              case "status" -> status = Optional.of(StatusParser.of(jsonTokenReader));
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
      return new CachedWorkload(
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
          status.map(read -> read.result(podSets)).orElse(CachedWorkload.Status.NEW));
    }

    private void metadata(String field) throws IOException {
      switch (field) {
        case "uid" -> uid = jsonTokenReader.text();
        case "namespace" -> namespace = jsonTokenReader.word();
        case "name" -> name = jsonTokenReader.text();
        case "resourceVersion" -> version = jsonTokenReader.version();
        case "generation" -> generation = jsonTokenReader.longNumber();
        case "creationTimestamp" -> createdAt = jsonTokenReader.instant();
        case "deletionTimestamp" -> deleting = !jsonTokenReader.text().isEmpty();
        case "finalizers" -> finalizers = jsonTokenReader.list(jsonTokenReader::word);
        case "ownerReferences" -> ownerReferences();
        case "labels" -> labels = kept(keepsLabels);
        case "annotations" -> annotations = kept(false);
        default -> {}
      }
    }

    private void ownerReferences() throws IOException {
      List<Optional<Owner>> others = jsonTokenReader.list(this::ownerReference);
      owned = !others.isEmpty();
      coOwners = others.stream().flatMap(Optional::stream).toList();
    }

    /** The controlling owner is stored separately. */
    private Optional<Owner> ownerReference() throws IOException {
      String[] texts = {"", "", "", ""};
      boolean[] controller = {false};
      jsonTokenReader.object(
          field -> {
            switch (field) {
              case "apiVersion" -> texts[0] = jsonTokenReader.word();
              case "kind" -> texts[1] = jsonTokenReader.word();
              case "name" -> texts[2] = jsonTokenReader.text();
              case "uid" -> texts[3] = jsonTokenReader.text();
              case "controller" -> controller[0] = jsonTokenReader.parser().getValueAsBoolean();
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

    private Map<String, String> kept(boolean all) throws IOException {
      Map<String, String> result = new HashMap<>(4);
      jsonTokenReader.object(
          key -> {
            if (all
                || key.contains(OUR_KEYS)
                || key.startsWith(MORE_OF_OUR_KEYS)
                || furtherKeys.contains(key)
                || PreemptibleLabels.KEYS.contains(key)) {
              result.put(key, jsonTokenReader.text());
            }
          });
      return MapCopies.of(result);
    }

    private void spec(String field) throws IOException {
      switch (field) {
        case "queueName" -> queueName = jsonTokenReader.word();
        case "podSets" -> podSets = jsonTokenReader.list(this::podSet);
        case "priority" -> priority = jsonTokenReader.number(0);
        case "priorityClassRef" -> priorityClass = Optional.of(priorityClassRef());
        case "active" -> active = jsonTokenReader.parser().getValueAsBoolean(true);
        case "preemptionGates" -> preemptionGates = jsonTokenReader.list(this::named);
        case "maximumExecutionTimeSeconds" ->
            maximumExecutionTimeSeconds = jsonTokenReader.number(0);
        default -> {}
      }
    }

    private String named() throws IOException {
      String[] name = {""};
      jsonTokenReader.object(
          field -> {
            if (field.equals("name")) {
              name[0] = jsonTokenReader.word();
            }
          });
      return name[0];
    }

    private PriorityClassRef priorityClassRef() throws IOException {
      String[] texts = {"", "", ""};
      jsonTokenReader.object(
          field -> {
            switch (field) {
              case "group" -> texts[0] = jsonTokenReader.word();
              case "kind" -> texts[1] = jsonTokenReader.word();
              case "name" -> texts[2] = jsonTokenReader.word();
              default -> {}
            }
          });
      return new PriorityClassRef(texts[0], texts[1], texts[2]);
    }

    private PodSet podSet() throws IOException {
      PodSetParser podSet = new PodSetParser(jsonTokenReader);
      jsonTokenReader.object(
          field -> {
            if (field.equals("template")) {
              podSet.read(template());
            } else {
              podSet.read(field);
            }
          });
      return podSet.result();
    }

    private AnnotatedTemplate template() throws IOException {
      JsonParser parser = jsonTokenReader.parser();
      int from = offset + (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      int to = offset + (int) parser.currentLocation().getByteOffset();
      return templates.of(bytes, from, to);
    }
  }

  /** Parses one pod set, except for its template. */
  private static final class PodSetParser {

    private static final PodTemplate EMPTY = PodTemplateParser.of(MissingNode.getInstance());

    private final JsonTokenReader jsonTokenReader;
    private String name = "main";
    private int count = 1;
    private OptionalInt minCount = OptionalInt.empty();
    private String group = "";
    private @Nullable TopologyRequestParser topologyRequest;
    private PodTemplate template = EMPTY;
    private String topologySpreading = "";

    PodSetParser(JsonTokenReader jsonTokenReader) {
      this.jsonTokenReader = jsonTokenReader;
    }

    void read(AnnotatedTemplate annotatedTemplate) {
      template = annotatedTemplate.template();
      topologySpreading = annotatedTemplate.topologySpreading();
    }

    void read(String field) throws IOException {
      switch (field) {
        case "name" -> name = jsonTokenReader.word();
        case "count" -> count = jsonTokenReader.number(1);
        case "minCount" -> minCount = OptionalInt.of(jsonTokenReader.number(0));
        case "topologyRequest" -> readTopologyRequest();
        default -> {}
      }
    }

    private void readTopologyRequest() throws IOException {
      if (jsonTokenReader.parser().currentToken().isStructStart()) {
        topologyRequest = TopologyRequestParser.read(jsonTokenReader);
        group = topologyRequest.group();
      }
    }

    PodSet result() {
      return new PodSet(
          name,
          count,
          minCount,
          template,
          group,
          Optional.ofNullable(topologyRequest).map(TopologyRequestParser::result),
          topologySpreading);
    }
  }

  /** A template, and the one of its annotations that placement depends on. */
  private record AnnotatedTemplate(PodTemplate template, String topologySpreading) {}

  /**
   * Caches pod templates by their serialized bytes: most Workloads have the same template as
   * another one, which is not parsed again. Holds some megabytes at most. Usable from any thread.
   */
  private static final class TemplateCache {

    private static final int MOST_BYTES = 8 << 20;

    private final WeakInterner<PodTemplate> weakInterner = new WeakInterner<>();
    private final Map<Raw, AnnotatedTemplate> byBytes = new LinkedHashMap<>(64, 0.75f, true);
    private long bytes;

    /** The template written in {@code json} from {@code from} to {@code to}. */
    AnnotatedTemplate of(byte[] json, int from, int to) throws IOException {
      Raw raw = Raw.of(json, from, to);
      AnnotatedTemplate known = known(raw);
      if (known != null) {
        return known;
      }
      JsonNode tree = JsonMappers.JSON.readTree(json, from, to - from);
      AnnotatedTemplate template =
          new AnnotatedTemplate(
              weakInterner.of(PodTemplateParser.of(tree)),
              JsonFields.annotations(tree)
                  .getOrDefault(KueueConstants.PODSET_TOPOLOGY_SPREADING, ""));
      remember(raw.copied(), template);
      return template;
    }

    private synchronized @Nullable AnnotatedTemplate known(Raw raw) {
      return byBytes.get(raw);
    }

    private synchronized void remember(Raw raw, AnnotatedTemplate template) {
      if (byBytes.put(raw, template) == null) {
        bytes += raw.length();
      }
      Iterator<Raw> eldest = byBytes.keySet().iterator();
      while (bytes > MOST_BYTES && eldest.hasNext()) {
        bytes -= eldest.next().length();
        eldest.remove();
      }
    }

    /** A range of bytes, equal to ranges with the same content. */
    private static final class Raw {

      private final byte[] json;
      private final int from;
      private final int to;
      private final int hash;

      private Raw(byte[] json, int from, int to, int hash) {
        this.json = json;
        this.from = from;
        this.to = to;
        this.hash = hash;
      }

      static Raw of(byte[] json, int from, int to) {
        int hash = 1;
        for (int i = from; i < to; i++) {
          hash = 31 * hash + json[i];
        }
        return new Raw(json, from, to, hash);
      }

      Raw copied() {
        return new Raw(Arrays.copyOfRange(json, from, to), 0, to - from, hash);
      }

      int length() {
        return to - from;
      }

      @Override
      public boolean equals(Object other) {
        return other instanceof Raw raw
            && raw.hash == hash
            && Arrays.equals(json, from, to, raw.json, raw.from, raw.to);
      }

      @Override
      public int hashCode() {
        return hash;
      }
    }
  }

  /** Parses the request of a pod set for a topology. */
  private static final class TopologyRequestParser {

    private final JsonTokenReader jsonTokenReader;
    private String required = "";
    private String preferred = "";
    private boolean unconstrained;
    private String sliceLevel = "";
    private int sliceSize;
    private List<TopologyRequest.Slice> layers = List.of();
    private String podIndexLabel = "";
    private String subGroupIndexLabel = "";
    private int subGroupCount;
    private String group = "";

    private TopologyRequestParser(JsonTokenReader jsonTokenReader) {
      this.jsonTokenReader = jsonTokenReader;
    }

    /** Parses the request at the current token. */
    static TopologyRequestParser read(JsonTokenReader jsonTokenReader) throws IOException {
      TopologyRequestParser parser = new TopologyRequestParser(jsonTokenReader);
      jsonTokenReader.object(parser::field);
      return parser;
    }

    private void field(String name) throws IOException {
      switch (name) {
        case "required" -> required = jsonTokenReader.word();
        case "preferred" -> preferred = jsonTokenReader.word();
        case "unconstrained" -> unconstrained = jsonTokenReader.word().equals("true");
        case "podSetSliceRequiredTopology" -> sliceLevel = jsonTokenReader.word();
        case "podSetSliceSize" -> sliceSize = jsonTokenReader.number(0);
        case "podsetSliceRequiredTopologyConstraints" -> layers = jsonTokenReader.list(this::layer);
        case "podIndexLabel" -> podIndexLabel = jsonTokenReader.word();
        case "subGroupIndexLabel" -> subGroupIndexLabel = jsonTokenReader.word();
        case "subGroupCount" -> subGroupCount = jsonTokenReader.number(0);
        case "podSetGroupName" -> group = jsonTokenReader.word();
        default -> {}
      }
    }

    private TopologyRequest.Slice layer() throws IOException {
      String[] level = {""};
      int[] size = {0};
      jsonTokenReader.object(
          field -> {
            switch (field) {
              case "topology" -> level[0] = jsonTokenReader.word();
              case "size" -> size[0] = jsonTokenReader.number(0);
              default -> {}
            }
          });
      return new TopologyRequest.Slice(level[0], Math.max(1, size[0]));
    }

    /** The pod-set group; empty without group. */
    String group() {
      return group;
    }

    RankedTopologyRequest result() {
      List<TopologyRequest.Slice> slices =
          layers.isEmpty() && !sliceLevel.isEmpty()
              ? List.of(new TopologyRequest.Slice(sliceLevel, Math.max(1, sliceSize)))
              : layers;
      return new RankedTopologyRequest(
          request(slices), podIndexLabel, subGroupIndexLabel, subGroupCount);
    }

    private TopologyRequest request(List<TopologyRequest.Slice> slices) {
      if (!required.isEmpty()) {
        return new TopologyRequest(TopologyRequest.Mode.REQUIRED, required, slices);
      }
      if (!preferred.isEmpty()) {
        return new TopologyRequest(TopologyRequest.Mode.PREFERRED, preferred, slices);
      }
      if (unconstrained) {
        return new TopologyRequest(TopologyRequest.Mode.UNCONSTRAINED, "", slices);
      }
      return slices.isEmpty()
          ? TopologyRequest.NONE
          : new TopologyRequest(TopologyRequest.Mode.SLICES, "", slices);
    }
  }
}
