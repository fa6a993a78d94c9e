package dev.sluice.lab.audit;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads every write there ever was out of the store behind an API server: what its watches would
 * have told somebody who never lost a connection. The API server must keep its objects as JSON and
 * forget nothing: {@link #AS_JSON}, {@link #KEPT}. That nothing is missing is checked by the count
 * of writes that the store keeps for each object.
 */
public final class StoreHistory {

  /** Objects are stored as JSON. */
  public static final String AS_JSON = "--storage-media-type=application/json";

  /** History is never dropped. */
  public static final String KEPT = "--etcd-compaction-interval=0";

  /** In the range of keys that is read, but of no kind that an API server serves. */
  private static final String MARK = "/registry/oo-end-of-history";

  private static final String FIRST = "/registry/jobs/";
  private static final String RAY_CLUSTERS = "/registry/ray.io/rayclusters/";
  private static final String AFTER_LAST = "/registry/ray.io/rayclusters0";

  private final URI store;
  private final ObjectMapper json = new ObjectMapper();
  private final Map<String, Long> writes = new HashMap<>();

  /** Of a store, by the address of its gateway. */
  public StoreHistory(URI store) {
    this.store = store;
  }

  /** Audits all that was written until now. */
  public AuditReport audit() {
    Auditor auditor = new Auditor();
    writes.clear();
    read(auditor::accept);
    return auditor.report();
  }

  /** All that was written until now, in its order. */
  public List<ObjectChange> changes() {
    List<ObjectChange> changes = new ArrayList<>();
    writes.clear();
    read(changes::add);
    return changes;
  }

  /**
   * The writes to the objects whose name contains one of these, a line each: what one wants to read
   * beside a violation.
   */
  public List<String> lives(List<String> names) {
    List<String> lines = new ArrayList<>();
    writes.clear();
    read(
        objectChange -> {
          String name = ObjectReader.name(objectChange.object());
          if (names.stream().anyMatch((name + "-")::contains)) {
            lines.add(line(objectChange, name));
          }
        });
    return lines;
  }

  private static String line(ObjectChange objectChange, String name) {
    JsonNode object = objectChange.object();
    return "%d %s %s%s created=%s suspend=%s phase=%s node=%s end=%s deletion=%s owner=%s"
        .formatted(
            objectChange.revision(),
            objectChange.kind(),
            name,
            objectChange.deleted() ? " GONE" : "",
            object.at("/metadata/creationTimestamp").asText(),
            object.at("/spec/suspend").asText(),
            object.at("/status/phase").asText(),
            object.at("/spec/nodeName").asText(),
            ObjectReader.end(object),
            object.at("/metadata/deletionTimestamp").asText(),
            object.at("/metadata/managedFields").valueStream().toList().reversed().stream()
                .findFirst()
                .map(field -> field.path("manager").asText() + "@" + field.path("time").asText())
                .orElse(""));
  }

  /** Tells every write until now, in order. */
  private void read(Consumer<ObjectChange> objectChanges) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      long end = mark(http);
      try (InputStream answer = send(http, "/v3/watch", watch());
          JsonParser parser = json.createParser(answer);
          MappingIterator<JsonNode> parts = json.readerFor(JsonNode.class).readValues(parser)) {
        long reached = 0;
        while (reached < end && parts.hasNext()) {
          reached = Math.max(reached, tell(parts.next(), objectChanges));
        }
        if (reached < end) {
          throw new IllegalStateException(
              "the history ended at revision %d, before %d".formatted(reached, end));
        }
      } finally {
        http.shutdownNow();
      }
    } catch (IOException e) {
      throw new IllegalStateException("the store's history can't be read", e);
    }
  }

  private String watch() {
    return """
    {"create_request": {"key": "%s", "range_end": "%s", "start_revision": "1", "prev_kv": true}}
    """
        .formatted(base64(FIRST), base64(AFTER_LAST));
  }

  private long mark(HttpClient http) throws IOException {
    String put = "{\"key\": \"%s\", \"value\": \"\"}".formatted(base64(MARK));
    try (InputStream answer = send(http, "/v3/kv/put", put)) {
      return json.readTree(answer).path("header").path("revision").asLong();
    }
  }

  private InputStream send(HttpClient http, String path, String body) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(store.resolve(path)).POST(BodyPublishers.ofString(body)).build();
    try {
      var answer = http.send(request, BodyHandlers.ofInputStream());
      if (answer.statusCode() != 200) {
        throw new IOException(
            path + ": " + new String(answer.body().readAllBytes(), StandardCharsets.UTF_8));
      }
      return answer.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading history", e);
    }
  }

  /** Tells the writes of one part; returns the last revision in it. */
  private long tell(JsonNode part, Consumer<ObjectChange> objectChanges) throws IOException {
    if (part.has("error") || part.path("result").path("canceled").asBoolean()) {
      throw new IOException("the store's history is not whole: " + part);
    }
    long last = 0;
    for (JsonNode event : part.path("result").path("events")) {
      JsonNode now = event.path("kv");
      last = now.path("mod_revision").asLong();
      String key = text(now.path("key"));
      Optional<AuditedKind> kind = kind(key);
      if (kind.isPresent()) {
        boolean deleted = event.path("type").asText().equals("DELETE");
        count(key, now, deleted);
        JsonNode value = (deleted ? event.path("prev_kv") : now).path("value");
        objectChanges.accept(new ObjectChange(last, kind.get(), deleted, object(key, value)));
      }
    }
    return last;
  }

  /** Every write adds one to the count that the store keeps: a gap would show. */
  private void count(String key, JsonNode now, boolean deleted) throws IOException {
    long before = writes.getOrDefault(key, 0L);
    long version = now.path("version").asLong();
    if (!deleted && version != before + 1) {
      throw new IOException(
          "a write to %s is missing: version %d follows %d".formatted(key, version, before));
    }
    writes.put(key, deleted ? 0L : version);
  }

  private JsonNode object(String key, JsonNode value) throws IOException {
    String text = text(value);
    if (!text.startsWith("{")) {
      throw new IOException(key + " is not kept as JSON; the API server needs " + AS_JSON);
    }
    JsonNode object = json.readTree(text);
    return object == null ? MissingNode.getInstance() : object;
  }

  /** A RayCluster of its own is judged by the rules for Jobs. */
  private static Optional<AuditedKind> kind(String key) {
    if (key.startsWith(RAY_CLUSTERS)) {
      return Optional.of(AuditedKind.JOB);
    }
    for (AuditedKind kind : AuditedKind.JUDGED) {
      String prefix =
          kind == AuditedKind.WORKLOAD || kind == AuditedKind.CLUSTER_QUEUE
              ? "/registry/" + kind.group() + "/" + kind.plural() + "/"
              : "/registry/" + kind.plural() + "/";
      if (key.startsWith(prefix)) {
        return Optional.of(kind);
      }
    }
    return Optional.empty();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(JsonNode base64) {
    return new String(Base64.getDecoder().decode(base64.asText()), StandardCharsets.UTF_8);
  }
}
