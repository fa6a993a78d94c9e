package dev.sluice.workload.reading;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.LineReader;
import dev.sluice.kube.client.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.WatchEventReader;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;

/** Applies the events of one watch to the cache, in order. */
final class WorkloadWatch {

  private final WatchEventReader eventReader = new WatchEventReader(TolerantDeserializers.json());
  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final WorkloadParser parser;
  private final WorkloadCache index;
  private final MalformedObjectLog malformedObjectLog;
  private final Runnable progress;

  /** Calls {@code progress} after each event. */
  WorkloadWatch(
      WorkloadParser parser,
      WorkloadCache index,
      MalformedObjectLog malformedObjectLog,
      Runnable progress) {
    this.parser = parser;
    this.index = index;
    this.malformedObjectLog = malformedObjectLog;
    this.progress = progress;
  }

  /**
   * Follows the watch until the server ends it.
   *
   * @return the number of events
   * @throws ResourceExpiredException if the server can't continue from where the watch began
   */
  int follow(ResponseStream stream) throws IOException {
    LineReader lines = new LineReader(stream);
    int events = 0;
    while (lines.next()) {
      eventReader.read(lines.bytes(), lines.offset(), lines.length(), this::carryOut);
      events++;
      progress.run();
    }
    return events;
  }

  private void carryOut(String type, byte[] bytes, int from, int length) throws IOException {
    switch (type) {
      case "ADDED", "MODIFIED", "DELETED" -> change(type, bytes, from, length);
      case "BOOKMARK" -> index.reached(parser.parse(bytes, from, length).version());
      case "ERROR" -> fail(mapper.readTree(bytes, from, length));
      default -> throw new IOException("unknown event of type \"" + type + "\"");
    }
  }

  private void change(String type, byte[] bytes, int from, int length) {
    try {
      CachedWorkload workload = parser.parse(bytes, from, length);
      if (type.equals("DELETED")) {
        index.deleted(workload);
      } else {
        index.seen(workload);
      }
      index.reached(workload.version());
    } catch (IOException | RuntimeException | StackOverflowError e) {
      malformedObjectLog.report(bytes, from, length, e);
    }
  }

  private static void fail(JsonNode status) throws IOException {
    String message = status.path("message").asText("");
    int code = status.path("code").asInt(0);
    if (code == 410 || status.path("reason").asText("").equals("Expired")) {
      throw new ResourceExpiredException(message);
    }
    throw new IOException("the watch failed: " + code + " " + message);
  }
}
