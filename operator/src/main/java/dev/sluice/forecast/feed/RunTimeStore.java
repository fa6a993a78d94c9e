package dev.sluice.forecast.feed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.client.ObjectPath;
import java.io.IOException;
import java.time.Duration;
import java.util.Base64;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what was learned of run times in a ConfigMap of the operator's namespace
 * (docs/run-times.md#what-survives-a-restart). Without it, or without the right to use it,
 * everything is learned anew; a line of the log says so. Not thread-safe.
 */
public final class RunTimeStore {

  private static final Logger LOG = LoggerFactory.getLogger(RunTimeStore.class);

  /** The name of the ConfigMap. */
  public static final String NAME = "sluice-run-times";

  /** A ConfigMap may have 1 MiB, encoded; a third of this is added by the encoding. */
  static final int MOST_BYTES = 700 << 10;

  private static final String KEY = "run-times";

  /**
   * How many bytes are written in a second at most, on average: etcd keeps each version for some
   * time.
   */
  private static final int BYTES_PER_SECOND = 1 << 10;

  private static final Duration SHORTEST_REST = Duration.ofSeconds(30);
  private static final Duration LONGEST_REST = Duration.ofMinutes(5);

  private final ApiClient client;
  private final ObjectPath path;
  private final RunTimeRecorder recorder;
  private long saved;
  private boolean refused;
  private volatile Duration rest = SHORTEST_REST;

  /**
   * Nothing is read yet.
   *
   * @param client writes only while this process leads
   * @param namespace of the operator
   * @param recorder what is kept
   */
  public RunTimeStore(ApiClient client, String namespace, RunTimeRecorder recorder) {
    this.client = client;
    this.path = new ObjectPath("v1", namespace, "configmaps", NAME);
    this.recorder = recorder;
  }

  /**
   * Gives the recorder what was saved, if that can be read; returns after a minute at the latest.
   * To be called before Workloads are listed.
   */
  public void load() throws InterruptedException {
    try {
      switch (Futures.forResult(client.send(ApiRequest.get(path.object())))) {
        case ApiOutcome.Written read -> restore(read.object());
        case ApiOutcome.Gone none -> LOG.info("run times saved=none");
        case ApiOutcome other -> unread(other.toString());
      }
    } catch (IOException | IllegalArgumentException | IllegalStateException e) {
      unread(String.valueOf(e.getMessage()));
    }
  }

  private void restore(JsonNode configMap) throws IOException {
    String text = configMap.path("binaryData").path(KEY).asText("");
    SavedRunTimes read = SavedRunTimes.decode(Base64.getDecoder().decode(text));
    recorder.restore(read);
    LOG.info("run times groups={} until={}", read.groups().size(), read.counted().until());
  }

  private static void unread(String reason) {
    LOG.warn("ConfigMap {} read=false, run times are learned anew: {}", NAME, reason);
  }

  /** Saves what was recorded since the last call, if anything was. */
  public void save() throws InterruptedException {
    long changes = recorder.changes();
    if (changes == saved) {
      return;
    }
    ObjectNode content = JsonNodeFactory.instance.objectNode();
    String text = Base64.getEncoder().encodeToString(recorder.saved().encode(MOST_BYTES));
    content.putObject("binaryData").put(KEY, text);
    rest = rest(text.length());
    ApiOutcome outcome = write(content);
    if (outcome instanceof ApiOutcome.Written) {
      saved = changes;
      refused = false;
    } else if (!refused) {
      // told once: the next attempt follows in any case
      refused = true;
      LOG.warn("ConfigMap {} written=false, run times are kept in memory: {}", NAME, outcome);
    }
  }

  /** How long to wait until the next call of {@link #save}: 30 s if little was written last. */
  public Duration rest() {
    return rest;
  }

  /** How long to wait after so many bytes were written. */
  static Duration rest(int bytes) {
    Duration rest = Duration.ofSeconds(bytes / BYTES_PER_SECOND);
    if (rest.compareTo(SHORTEST_REST) < 0) {
      return SHORTEST_REST;
    }
    return rest.compareTo(LONGEST_REST) < 0 ? rest : LONGEST_REST;
  }

  private ApiOutcome write(ObjectNode content) throws InterruptedException {
    ApiOutcome patched = Futures.forResult(client.send(ApiRequest.patch(path.object(), content)));
    if (!(patched instanceof ApiOutcome.Gone)) {
      return patched;
    }
    ObjectNode created = content.deepCopy();
    created
        .put("apiVersion", "v1")
        .put("kind", "ConfigMap")
        .putObject("metadata")
        .put("name", NAME);
    return Futures.forResult(client.send(ApiRequest.create(path.collection(), created)));
  }
}
