package dev.sluice.workloads;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.reading.GuardedReading;
import dev.sluice.api.reading.ReadFaults;
import java.io.IOException;

/** Workloads that could not be read: counted, reported, and left as they were known. */
final class Unreadable {

  private final ObjectMapper mapper = new ObjectMapper(GuardedReading.json());
  private final ReaderCounters counters;
  private final ReadFaults faults;

  Unreadable(ReaderCounters counters, ReadFaults faults) {
    this.counters = counters;
    this.faults = faults;
  }

  void report(byte[] bytes, int offset, int length, Throwable cause) {
    counters.unreadableObject();
    faults.report(ReadFaults.Fault.of(tree(bytes, offset, length), cause));
  }

  private JsonNode tree(byte[] bytes, int offset, int length) {
    try {
      return mapper.readTree(bytes, offset, length);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
