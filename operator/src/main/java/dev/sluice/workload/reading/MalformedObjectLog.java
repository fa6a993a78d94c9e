package dev.sluice.workload.reading;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;

/** Counts and logs Workloads that could not be parsed; the cache keeps their last valid version. */
final class MalformedObjectLog {

  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final ReflectorCounters counters;
  private final ReadErrorLog errors;

  MalformedObjectLog(ReflectorCounters counters, ReadErrorLog errors) {
    this.counters = counters;
    this.errors = errors;
  }

  void report(byte[] bytes, int offset, int length, Throwable cause) {
    counters.unreadableObject();
    errors.report(ReadErrorLog.Fault.of(tree(bytes, offset, length), cause));
  }

  private JsonNode tree(byte[] bytes, int offset, int length) {
    try {
      return mapper.readTree(bytes, offset, length);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
